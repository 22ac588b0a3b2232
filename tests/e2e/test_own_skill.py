"""`skills/evaluate-a-skill`: its suite tells good from bad, and what it says of skillgauge is so."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_testkit.program import Program

from .conftest import ROOT

SKILL = ROOT / "skills/evaluate-a-skill"
CHECKER = SKILL / "scripts/check_evals.py"
RECORDINGS = ROOT / "skills/recordings"
OWN_SKILL = "---\nname: invoice-total\ndescription: Write a total. Use when an invoice is booked.\n---\nWrite it.\n"

pytestmark = pytest.mark.e2e


@pytest.mark.slow
def test_recorded_sessions_are_told_apart_by_its_checks(program: Program) -> None:
    """With the skill every eval passes, without it those pass that need none of its rules; all says it is scripted."""
    done = program("eval", SKILL, "--replay", RECORDINGS, "--runs", "3", "--store", "none", "--json")
    assert done.code == 0, done.stderr
    cases: dict[tuple[str, str], set[str]] = {}
    for result in done.document["results"]:
        if result["suite_id"] == "evaluate-a-skill":
            cases.setdefault((result["arm"], result["case_id"]), set()).add(result["verdict"])
    assert set(map(frozenset, cases.values())) == {frozenset({"pass"}), frozenset({"fail"})}
    failed = {key for key, verdicts in cases.items() if verdicts == {"fail"}}
    assert failed == {("without_skill", case) for case in ("1", "2", "3")}
    queries = [result for result in done.document["results"] if result["suite_id"] != "evaluate-a-skill"]
    assert {result["verdict"] for result in queries} == {"pass"}
    assert len(queries) == 18
    assert {result["model"] for result in done.document["results"]} == {"claude-sonnet-4-5-scripted"}
    assert "-scripted helps on these cases" in done.document["verdict"]


def test_its_suite_is_valid(program: Program) -> None:
    """Nothing is wrong with it but what cannot be otherwise: its subject is evals, so it names their file."""
    done = program("validate", SKILL, "--json")
    assert done.code == 0, done.stderr
    assert {problem["code"] for problem in done.document["problems"]} <= {"lint.skill-names-evals", "engine.none"}


def test_every_command_that_it_names_exists(program: Program) -> None:
    """Commands and options of its text are those of the program."""
    lines = re.findall(r"`?(skillgauge [a-z][^`\n]*)", (SKILL / "SKILL.md").read_text())
    assert len(lines) >= 6
    for line in lines:
        words = line.split()[1:]
        names = [word for word in words[:2] if re.fullmatch(r"[a-z]+", word) and word not in ("latest", "use")]
        help_text = program(*names, "--help").stdout
        options = [word for word in words if word.startswith("--")]
        assert all(option in help_text for option in options), line
    config = program("eval", "--help").stdout + program("--help").stdout + program("eval", "--help-all").stdout
    assert "--trust-config" in config or "--trust-config" in program("config", "--help").stdout


def test_what_its_sessions_write_is_read_by_the_format(program: Program, work: Path) -> None:
    """Evals and queries of the recorded sessions please both the checker and `validate`."""
    script = runpy.run_path(str(ROOT / "skills/record.py"))
    evals = work / "invoice-total/evals"
    evals.mkdir(parents=True)
    evals.parent.joinpath("SKILL.md").write_text(OWN_SKILL)
    (evals / "evals.json").write_text(script["EVALS"])
    (evals / "trigger_evals.json").write_text(script["QUERIES"])
    assert check(evals.parent) == (0, "the evals can decide something\n")
    done = program("validate", evals.parent, "--json")
    assert done.code == 0, done.stderr
    assert {problem["code"] for problem in done.document["problems"]} <= {"engine.none"}


def test_types_that_it_names_are_decided_by_programs(program: Program, work: Path) -> None:
    """None of the types in its text is a claim that would need a judge."""
    text = (SKILL / "SKILL.md").read_text()
    (listing,) = re.findall(r"Types: (.*?)\. Leave", text, re.DOTALL)
    types = re.findall(r"`([a-z-]+)`", listing)
    assert tuple(types) == runpy.run_path(str(CHECKER))["DECIDED"]
    values: dict[str, Any] = {"json-schema": {"type": "object"}, "command": "true"}
    assertions = [{"text": kind, "type": kind, "value": values.get(kind, "x")} for kind in types]
    folder = work / "own/evals"
    folder.mkdir(parents=True)
    folder.parent.joinpath("SKILL.md").write_text("---\nname: own\ndescription: x\n---\n")
    evals = [{"id": 1, "prompt": "p", "assertions": assertions}]
    (folder / "evals.json").write_text(json.dumps({"skill_name": "own", "evals": evals}))
    done = program("eval", folder.parent, "--engine", "mock", "--store", "none", "--json")
    scorers = {score["scorer"] for result in done.document["results"] for score in result["scores"]}
    assert done.code == 0, done.stderr
    assert "rubric" not in scorers
    assert len(scorers) >= 4


def check(folder: Path, *more: str) -> tuple[int, str]:
    """The checker's exit code and words."""
    command = [sys.executable, CHECKER, folder, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (None, "evals.json is not there"),
        ("{", "no JSON"),
        ([], "expected an object with a list 'evals'"),
        ({"skill_name": "other", "evals": []}, "skill_name is 'other' instead of 'mine'"),
        ({"skill_name": "mine", "evals": [{"id": 1, "prompt": "Use mine."}]}, "names the skill 'mine'"),
        ({"skill_name": "mine", "evals": [{"id": 1, "prompt": "x", "assertions": ["good"]}]}, "no program decides it"),
        ({"skill_name": "mine", "evals": [{"id": 1}, {"id": "1"}]}, "an id is used twice"),
    ],
)
def test_the_checker_says_what_is_wrong(tmp_path: Path, document: object, words: str) -> None:
    """Each fault in words, and exit code 1."""
    path = tmp_path / "mine/evals/evals.json"
    path.parent.mkdir(parents=True)
    if document is not None:
        path.write_text(document if isinstance(document, str) else json.dumps(document))
    code, told = check(path.parent.parent, "--evals")
    assert code == 1
    assert words in told


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["evals", "skill_name", "id", "prompt", "assertions", "type", "value", "query", "should_trigger"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(anything)
def test_the_checker_never_breaks(tmp_path_factory: pytest.TempPathFactory, document: object) -> None:
    """Whatever an agent writes, the answer is a list of faults."""
    path = tmp_path_factory.mktemp("any") / "evals.json"
    path.write_text(json.dumps(document))
    checker = runpy.run_path(str(CHECKER))
    assert all(isinstance(fault, str) for fault in checker["faults_of_evals"](path, "mine"))
    assert all(isinstance(fault, str) for fault in checker["faults_of_queries"](path))
