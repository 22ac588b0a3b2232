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
    folder = work / done.document["folder"]
    script = folder / "evals/files/mock.yaml"
    assert f"{folder.name}/evals/files/mock.yaml" in done.document["next"][0]["command"]
    ran = program("eval", folder, "--engine", "mock", "--set", f"engines.mock.script={script}")
    assert ran.code == 0, ran.stderr
    assert "with_skill: 4 of 4 passed, balanced accuracy 100.0%" in ran.stderr
    assert "+75.0 points against without_skill" in ran.stderr


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("status-notes", "status-notes"),
        ("Ann's Notes (2)", "ann-s-notes-2"),
        ("Naïve_Bayes", "naïve-bayes"),
        ("報告", "報告"),
        ("___", "skill"),
        ("a" * 70, "a" * 64),
    ],
)
def test_nothing_is_to_be_said_of_a_new_skill(program: Program, work: Path, name: str, folder: str) -> None:
    """`validate --strict`: neither a lint nor a rule of the specification, which wants the name of its folder."""
    made = program("create", "--name", name, "--from-template", "agent_skill", "--output-dir", ".")
    assert made.code == 0, made.stderr
    done = program("validate", work / folder, "--strict", "--json")
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
