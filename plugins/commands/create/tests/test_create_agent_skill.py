"""A new skill for agents passes its evals at once, and no lint has anything against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge_testkit.program import Program


@pytest.mark.slow
@pytest.mark.parametrize("name", ["status-notes", "Ann's Notes (2)"])
def test_a_new_skill_passes_with_the_script(program: Program, work: Path, name: str) -> None:
    """Four cases and a trigger set: all pass with the skill, one without, and the run ends with a sentence and 0."""
    done = program("create", "--name", name, "--from-template", "agent_skill", "--output-dir", ".", "--json")
    assert done.code == 0, done.stderr
    script = work / name / "evals/files/mock.yaml"
    assert f"{name}/evals/files/mock.yaml" in done.document["next"][0]["command"].replace("'\"'\"'", "'")
    ran = program("eval", work / name, "--engine", "mock", "--set", f"engines.mock.script={script}")
    assert ran.code == 0, ran.stderr
    assert "with_skill: 4 of 4 passed, balanced accuracy 100.0%" in ran.stderr
    assert "+75.0 points against without_skill" in ran.stderr


def test_nothing_is_to_be_said_of_a_new_skill(program: Program, work: Path) -> None:
    """`validate --strict`: neither a lint nor a rule of the specification."""
    made = program("create", "--name", "status-notes", "--from-template", "agent_skill", "--output-dir", ".")
    assert made.code == 0, made.stderr
    done = program("validate", work / "status-notes", "--strict", "--json")
    assert done.code == 0, done.stderr
    assert {one["code"] for one in done.document["problems"]} <= {"engine.none"}


def test_the_description_is_that_of_the_user(program: Program, work: Path) -> None:
    """Whatever characters are in it."""
    told = 'Says: "hello", $always. Use when asked.'
    made = program(
        *("create", "--name", "hello", "--from-template", "agent_skill", "--output-dir", ".", "--description", told)
    )
    assert made.code == 0, made.stderr
    done = program("validate", work / "hello", "--json")
    assert "suite.skill-description" not in {one["code"] for one in done.document["problems"]}
    assert '"Says: \\"hello\\", $always. Use when asked."' in (work / "hello/SKILL.md").read_text()
