"""From an eval.yaml to a suite."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.api import LimitOutcome, Suite
from skillgauge_format_skillevaluation.claiming import claim

from .conftest import Load, Write

MakeSkill = Callable[..., Path]
CASES = """
cases:
  - name: one
    prompt: p
    setup: [python3 scripts/seed.py]
    validators:
      - {cmd: python3 scripts/grade.py out.json}
      - {cmd: "jq -e .a out.json > log.txt"}
      - {cmd: "test -f b.txt && grep -q x b.txt"}
    expectations: [It is good., It is good.]
    max_turns: 3
    should_trigger: true
  - {name: two, prompt: q, should_trigger: false}
"""
FILES = {"scripts__seed_dot_py": "1", "scripts__grade_dot_py": "2", "scripts__key_dot_json": "{}"}


def only(load: Load, path: Path, **options: bool) -> Suite:
    """The one suite of a path."""
    (suite,) = load(path, **options).suites
    return suite


def test_what_commands_need_is_there_for_them_alone(skill: MakeSkill, load: Load) -> None:
    """Scripts for the set-up are gone before the agent starts, those of graders come after it, none is installed."""
    suite = only(load, skill(CASES, **FILES))
    one = next(iter(suite.cases))
    scripts = {"scripts/seed.py", "scripts/grade.py", "scripts/key.json"}
    assert {file.path for file in one.setup_files} == scripts
    assert {file.path for file in one.grader_files} == scripts
    assert one.files == ()
    candidate, baseline = suite.arms
    assert "scripts/grade.py" in candidate.skills[0].leaves_out
    assert "eval.yaml" in candidate.skills[0].leaves_out
    assert baseline.skills == ()
    assert (suite.on_agent_limit, suite.defaults.cache_baseline) == (LimitOutcome.ERROR, True)


def test_files_that_only_the_agent_can_have_made(skill: MakeSkill, load: Load) -> None:
    """What a validator reads is needed, but for what it writes, asks for, or what is there before."""
    suite = only(load, skill(CASES, **FILES))
    checks = {check.options["command"]: check.options.get("needs") for case in suite.cases for check in case.checks[:3]}
    assert list(checks.values()) == [("out.json",), ("out.json",), None]
    told = [one.message for one in suite.warnings if one.code == "suite.missing-file-code"]
    assert ["validator #0" in told[0], "validator #1" in told[1], len(told)] == [True, True, 2]


def test_cases(skill: MakeSkill, load: Load) -> None:
    """Doubled expectations are two checks, a limit of turns is the case's, a case without graders is not run."""
    one, two = only(load, skill(CASES, **FILES)).cases
    assert [check.id for check in one.checks[3:]] == ["It is good.", "It is good. (2)"]
    assert (one.limits.max_turns, one.extras, one.skip) == (3, {"should_trigger": True}, "")
    assert "nothing grades it" in two.skip
    assert two.checks == ()


@pytest.mark.parametrize("last", [False, True])
def test_the_judge_can_come_last(skill: MakeSkill, load: Load, last: bool) -> None:
    """Then it is not asked, so not paid, where a validator failed."""
    one = next(iter(only(load, skill(CASES, **FILES), judge_last=last).cases))
    assert [check.stage for check in one.checks] == [0, 0, 0, int(last), int(last)]


def test_editing_the_skill_leaves_the_baseline_alone(skill: MakeSkill, load: Load) -> None:
    """Only the arm with the skill is another one then."""
    root = skill(CASES, **FILES)
    before = only(load, root)
    (root / "SKILL.md").write_text((root / "SKILL.md").read_text() + "More.\n")
    after = only(load, root)
    assert [one.digest == two.digest for one, two in zip(before.arms, after.arms, strict=True)] == [False, True]
    assert before.targets[0].digest == after.targets[0].digest
    assert before.parameters == after.parameters


def test_problems_of_skill_and_suite_at_once(skill: MakeSkill, faults: Callable[..., list[tuple[object, ...]]]) -> None:
    """Both files are told in one go."""
    root = skill("cases: [{name: a}]")
    (root / "SKILL.md").write_text("---\nname: tables\ndescription: d\n---\n")
    messages = [str(one[2]) for one in faults(root)]
    assert any("nothing beside its front matter" in one for one in messages)
    assert any("'prompt' is missing" in one for one in messages)


def test_a_suite_without_a_skill(write: Write, faults: Callable[..., list[tuple[object, ...]]]) -> None:
    """It says where the skill should be."""
    path = write("alone/eval.yaml", "cases: [{name: a, prompt: p, expectations: [x]}]")
    ((line, column, message),) = faults(path)
    assert (line, column) == (1, 1)
    assert "there is no SKILL.md" in str(message)


def test_claims(skill: MakeSkill, write: Write) -> None:
    """A skill's folder with this suite alone, a suite that is broken, and no file of another tool."""
    root = skill(CASES)
    assert claim(root) is not None
    (root / "evals").mkdir()
    assert claim(root) is None
    assert claim(root / "eval.yaml") is not None
    own = ("cases: [{name: a, prompt: p, should_trigger: true}]", "cases: [{prompt: p, validators: [{cmd: x}]}]")
    for text in ("cases: [", "nothing: 1", "5", "", *own):
        write("tables/eval.yaml", text)
        assert claim(root / "eval.yaml") is not None, text
    others = ("cases: [{prompt: p, should_trigger: true}]", "cases: [{id: 1, name: a, prompt: p, expectations: [e]}]")
    for text in ("tasks: []", "stimuli: []", "evals: []", "cases: [{question: q, id: 1}]", "- {query: q}", *others):
        write("tables/eval.yaml", text)
        assert claim(root / "eval.yaml") is None, text
    assert claim(write("other/suite.yaml", "a: 1")) is None
    assert claim(write("other/suite.yaml", CASES)) is not None


@pytest.mark.slow
def test_a_case_takes_little_memory(skill: MakeSkill, load: Load) -> None:
    """R3-V8: 50,000 cases are held at once, so each must come to a few KB."""
    number = 500
    cases = "".join(f"  - {{name: case {n}, prompt: label {n}, expectations: [It says {n}.]}}\n" for n in range(number))
    folder = skill(f"cases:\n{cases}")
    load(folder)  # what is imported and built does not count
    gc.collect()
    tracemalloc.start()
    try:
        suite = only(load, folder)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(suite.cases) == number
    assert held < 3_000 * number
