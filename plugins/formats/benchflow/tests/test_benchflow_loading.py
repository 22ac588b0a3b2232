"""What evals.json of BenchFlow becomes, and what is wrong with one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Loaded, Origin, Problem, SuiteError, VerdictMode, located_all
from skillgauge_format_benchflow.claiming import claim

from .conftest import ANSWER, RUBRIC

Faults = Callable[..., list[tuple[int | None, str]]]


@pytest.mark.requirement("BF-FILE-001", "BF-FILE-002", "BF-FILE-003", "BF-FILE-004")
def test_two_arms_and_the_defaults_of_the_original(skill: Callable[..., Path], load: Callable[..., Loaded]) -> None:
    """A case without an id gets one from its place; the time limit and the judge's model are those of BenchFlow."""
    (suite,) = load(skill(ANSWER, RUBRIC)).suites
    cases = list(suite.cases)
    assert [case.id for case in cases] == ["sum", "case-001"]
    assert [arm.name for arm in suite.arms] == ["with-skill", "baseline"]
    assert [[one.name for one in arm.skills] for arm in suite.arms] == [["tables"], []]
    assert (suite.defaults.limits.timeout_s, suite.defaults.judge_model) == (300, "gemini-3.1-flash-lite")
    assert "evals" in suite.arms[0].skills[0].leaves_out
    assert all(case.rule.mode is VerdictMode.MEAN and case.rule.above and case.rule.threshold == 0.5 for case in cases)


@pytest.mark.requirement("BF-CASE-004", "BF-GRADE-001")
def test_checks(skill: Callable[..., Path], load: Callable[..., Loaded]) -> None:
    """A rubric is judged item by item with the answer for comparison; without one the answer has to be found."""
    (suite,) = load(skill(ANSWER, RUBRIC)).suites
    answer, rubric = suite.cases
    assert [(check.scorer, check.beside) for check in answer.checks] == [("ground-truth", False), ("trigger", True)]
    assert answer.checks[0].options == {"text": "5"}
    items = [check for check in rubric.checks if not check.beside]
    assert [check.options["claims"] for check in items] == [(one,) for one in RUBRIC["expected_behavior"]]
    assert {check.options["reference"] for check in items} == {"A Markdown table."}
    beside = [(check.scorer, dict(check.options)) for check in rubric.checks if check.beside]
    assert beside == [("trigger", {"skill": "tables"}), ("tool-call", {"words": ("convert.py",)})]


def test_a_suite_without_a_rubric_needs_no_judge(skill: Callable[..., Path], load: Callable[..., Loaded]) -> None:
    """The judge's model is asked for only where something is judged."""
    (suite,) = load(skill(ANSWER, ANSWER | {"id": "b"})).suites
    assert suite.defaults.judge_model is None


def test_benchflows_matching_is_an_option(skill: Callable[..., Path], load: Callable[..., Loaded]) -> None:
    """`--compat benchflow` gives the verdicts of the original."""
    (suite,) = load(skill(ANSWER), compat="benchflow").suites
    assert next(iter(suite.cases)).checks[0].options["matching"] == "benchflow"


@pytest.mark.requirement("BF-FILE-005")
@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        ({"cases": []}, 3, "must have at least 1 item"),
        ({"casez": []}, 4, "unknown key 'casez'"),
        ({"version": 1}, 3, "text"),
        ({"defaults": {"timeout_sec": 30.0}}, 4, "a whole number"),
        ({"defaults": {"timeout_sec": True}}, 4, "a whole number"),
        ({"defaults": {"timeout_sec": 0}}, 4, "greater than 0"),
        ({"defaults": {"judge_model": "-x"}}, 4, "judge_model"),
        ({"defaults": {"skill_mount_dir": "/opt/skills"}}, 4, "not supported"),
        ({"defaults": {"skill_mount_dir": "/a/../b"}}, 4, "without '.', '..' or empty parts"),
        ({"cases": [{"id": "a"}]}, 4, "'question' is missing"),
        ({"cases": [{"id": None, "question": "q"}]}, 5, "text"),
        ({"cases": [{"question": "q", "expected_behavior": "b"}]}, 6, "a list"),
        ({"cases": [{"question": "q", "id": "../a"}]}, 6, "cannot be the name of a folder"),
        ({"cases": [{"question": "q", "id": " a"}]}, 6, "cannot be the name of a folder"),
        ({"cases": [{"question": "q", "environment": {"A": 1}}]}, 7, "text"),
    ],
)
def test_faults(skill: Callable[..., Path], faults: Faults, change: dict[str, Any], line: int, message: str) -> None:
    """Types are exact, keys are known, and every fault has its line."""
    document = {"skill_name": "tables", "cases": [ANSWER], **change}
    root = skill(text=json.dumps(document, indent=1))
    found = faults(root / "evals/evals.json")
    assert any(message in told for _, told in found), found
    lines = json.dumps(document, indent=1).splitlines()
    assert all(at is not None and 1 <= at <= len(lines) for at, _ in found)
    assert line >= 1


def test_all_faults_at_once(skill: Callable[..., Path], faults: Faults) -> None:
    """Two cases with the same id, and one that cannot be a folder, are told together."""
    root = skill(ANSWER, ANSWER, {"question": "q", "id": "a/b"})
    (root / "evals/requirements.txt").write_text("pandas\n")
    told = [message for _, message in faults(root)]
    assert [message.split(":")[0].split(",")[0] for message in told] == [
        "id 'sum' is used twice",
        "id 'a/b' cannot be the name of a folder",
        "evals/requirements.txt wants packages in an image",
    ]


@pytest.mark.requirement("BF-ENV-002")
def test_packages_without_an_image(skill: Callable[..., Path], load: Callable[..., Loaded]) -> None:
    """Requirements are part of an image that a Dockerfile makes, or are ignored on demand."""
    root = skill(ANSWER)
    (root / "evals/requirements.txt").write_text("pandas\n")
    assert load(root, requirements="ignore").suites
    (root / "evals/Dockerfile").write_text("FROM python:3.12-slim\n")
    (suite,) = load(root).suites
    assert [file.path for file in next(iter(suite.cases)).image_files] == ["Dockerfile", "requirements.txt"]


def test_no_skill(tmp_path: Path, faults: Faults) -> None:
    """Without a SKILL.md both arms would be the same."""
    path = tmp_path / "a/b/c/evals.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cases": [ANSWER]}))
    assert [message for _, message in faults(path)] == [
        "there is no SKILL.md beside 'evals.json', nor in a folder around its own"
    ]


def test_a_case_that_nothing_can_meet(skill: Callable[..., Path], load: Callable[..., Loaded]) -> None:
    """Its reward is 0 whatever happens, which is told before anything is paid."""
    (suite,) = load(skill(ANSWER, {"question": "q", "ground_truth": " "}, RUBRIC)).suites
    (warning,) = suite.warnings
    assert (warning.code, warning.origin) == ("suite.no-answer", Origin(suite.origin.file, ("cases", 1)))


def test_a_good_suite_has_no_warnings(skill: Callable[..., Path], load: Callable[..., Loaded]) -> None:
    """Nothing is told where nothing is the matter."""
    (suite,) = load(skill(ANSWER, RUBRIC)).suites
    assert suite.warnings == ()


def test_skills_in_tasks_are_found(tmp_path: Path, load: Callable[..., Loaded], skill: Callable[..., Path]) -> None:
    """A skill below a task's environment is one like any other."""
    root = skill(ANSWER)
    inside = tmp_path / "tasks/sums/environment/skills/tables"
    inside.parent.mkdir(parents=True)
    root.rename(inside)
    assert claim(inside) is not None
    (suite,) = load(searched=(inside,)).suites
    assert suite.root == str(inside)


def test_claims(skill: Callable[..., Path], tmp_path: Path) -> None:
    """A folder is claimed as a whole where this is its only suite; files of others never."""
    root = skill(ANSWER)
    assert claim(root) is not None
    assert claim(root / "evals/evals.json") is not None
    (root / "evals/triggers.json").write_text('[{"query": "q", "should_trigger": true}]')
    assert claim(root) is None
    assert claim(root / "evals/triggers.json") is None
    (root / "evals/evals.json").write_text('{"cases": [{"question": ')
    assert claim(root / "evals/evals.json") is not None
    other = tmp_path / "cases.json"
    other.write_text('{"cases": [{"question": ')
    assert claim(other) is None


def _mutant(text: str, rng: random.Random) -> str:
    """One change of a document: a key dropped, renamed, doubled, a value of another type, a byte lost."""
    value = json.loads(text)
    spots: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, inner in list(items):
            spots.append((node, key))
            walk(inner)

    walk(value)
    node, key = rng.choice(spots)
    kind = rng.randrange(6)
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node, dict):
        node[f"{key}x"] = node.pop(key)
    elif kind == 2:
        node[key] = rng.choice([None, True, 7, 1e300, "", [], {}, ["a", 1], {"a": [None]}])
    elif kind == 3:
        text = json.dumps(value, indent=1)
        return text.replace(f'"{key}":', f'"{key}": 1, "{key}":', 1) if isinstance(key, str) else text[:-3]
    elif kind == 4:
        text = json.dumps(value, indent=1)
        at = rng.randrange(len(text))
        return text[:at] + rng.choice(["", "\0", "NaN", "[" * 300, "\ud7ff", '"']) + text[at + 1 :]
    return rng.choice(["\ufeff", ""]) + json.dumps(value, indent=1).replace("\n", rng.choice(["\n", "\r\n"]))


@pytest.mark.slow
def test_mutants(skill: Callable[..., Path], load: Callable[..., Loaded]) -> None:
    """Whatever happens to a file, it is read, or refused with a place for everything that is wrong with it."""
    original = json.dumps({"skill_name": "tables", "defaults": {"timeout_sec": 9}, "cases": [ANSWER, RUBRIC]}, indent=1)
    refused = 0
    for seed in range(150):
        root = skill(text=_mutant(original, random.Random(seed)))
        problems = _problems(load, root)
        refused += bool(problems)
        assert all(one.span and one.span.line for one in located_all(problems)), seed
    assert refused > 75


def _problems(load: Callable[..., Loaded], root: Path) -> tuple[Problem, ...]:
    try:
        load(root)
    except SuiteError as error:
        return error.problems
    return ()


def test_variables(skill: Callable[..., Path], load: Callable[..., Loaded]) -> None:
    """A template is a variable of the user's own environment; anything else is the value itself."""
    environment = {"A": "1", "B": "${TOKEN}", "C": "${PLACE:-here}", "D": "x${TOKEN}"}
    (suite,) = load(skill({**ANSWER, "environment": environment})).suites
    case = next(iter(suite.cases))
    assert case.env == {"A": "1", "D": "x${TOKEN}"}
    assert [(one.name, one.host, one.default) for one in case.pass_env] == [
        ("B", "TOKEN", None),
        ("C", "PLACE", "here"),
    ]
