"""Documents with `scenarios` through the whole program: verdicts by the rules of that dialect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Program

SKILL = "---\nname: paper\ndescription: Fold paper. Use when paper is to be folded.\n---\n\nFold it.\n"
PASSING = (
    {"type": "output_contains", "value": "Paper"},
    {"type": "output_matches", "pattern": "two (sheets|leaves)"},
    {"type": "output_not_contains", "value": "Scissors"},
    {"type": "output_not_matches", "pattern": "GLUE|TAPE"},
    {"type": "file_contains", "path": "plan.txt", "value": "Boat"},
    {"type": "file_not_contains", "path": "plan.txt", "value": "boat"},
    {"type": "exit_success"},
)
FAILING = (
    {"type": "output_not_contains", "value": "SORRY"},
    {"type": "output_not_matches", "pattern": "too LATE"},
    {"type": "file_contains", "path": "plan.txt", "value": "boat"},
    {"type": "file_not_contains", "path": "plan.txt", "value": "Boat"},
    {"type": "output_contains", "value": "Paper", "case_sensitive": True},
)
REPLY = {"text": "paper. Two Sheets. Sorry, too late.", "files": {"plan.txt": "A Boat"}}


def written(work: Path, *assertions: dict[str, Any]) -> Path:
    """A skill with one scenario."""
    skill = work / "paper"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    scenario = {"name": "fold", "prompt": "Fold a boat.", "assertions": assertions}
    (skill / "evals/eval.yaml").write_text(json.dumps({"scenarios": [scenario]}))
    return skill


def statuses(program: Program, work: Path, suite: Path, reply: dict[str, Any]) -> list[str]:
    """Status of each check of the only trial, with an agent that gives this reply."""
    reports = work / f"reports-{suite.name}"
    done = program(
        *("eval", suite, "--engine", "mock", "--set", f"engines.mock.replies={json.dumps([reply])}", "--no-baseline"),
        *("--format", "record", "--output-dir", reports, "--store", "none"),
    )
    assert done.code == 0, done.stderr
    (record,) = reports.glob("run-*.record.json")
    (result,) = json.loads(record.read_text())["results"]
    return [score["status"] for score in result["scores"]]


@pytest.mark.slow
@pytest.mark.parametrize("converted", [False, True], ids=["as written", "converted"])
def test_verdicts_are_those_of_the_dialect(converted: bool, program: Program, work: Path) -> None:
    """Case does not matter in the answer and matters in files; what is converted is decided in the same way."""
    suite = written(work, *PASSING, *FAILING)
    if converted:
        done = program("convert", suite, "--to", "agent-skills", "--output", "again")
        assert done.code == 0, done.stderr
        assert "nothing is lost" in done.stdout + done.stderr
        suite = work / "again"
    expected = ["passed"] * len(PASSING) + ["failed"] * len(FAILING)
    assert statuses(program, work, suite, REPLY) == expected


def test_an_empty_answer_is_no_success(program: Program, work: Path) -> None:
    """`exit_success` of a scenario fails where the agent answers nothing."""
    suite = written(work, {"type": "exit_success"})
    assert statuses(program, work, suite, {"text": ""}) == ["failed"]
