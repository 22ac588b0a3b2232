"""A reporter in one file, written with `skillgauge.api` alone, tells cases, pairs and transcripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

from .conftest import ROOT

EXAMPLE = ROOT / "examples/agent/release-notes"
DATA = Path(__file__).parent / "data"
REPORTER = DATA / "pairs_reporter.py"


@pytest.mark.slow
def test_a_reporter_of_sixty_lines_prints_pairs(program: Program, work: Path) -> None:
    """Each case once with its prompt, both arms, outcome, difference and what the agent did; then the lift."""
    plugins = ("--plugin", DATA / "scripted_engine.py", "--plugin", REPORTER)
    reports = ("--format", "pairs", "--output-dir", "reports")
    done = program.process(*plugins, "eval", EXAMPLE, "--engine", "scripted", *reports)
    assert done.code == 0, done.stderr
    lines = (work / "reports/eval-result.pairs.txt").read_text().splitlines()
    cases = [line for line in lines if line.startswith("case ")]
    assert len(cases) == len(set(cases)) == 8
    assert any(re.fullmatch(r"case \S+: .*HRB-17.*", line) for line in cases)
    (kept,) = [n for n, line in enumerate(lines) if line == "  pass_kept, difference +0.00"]
    assert [line for line in lines[kept + 1 : kept + 7] if " run " in line] == [
        "  with_skill run 1: pass",
        "  without_skill run 1: pass",
    ]
    assert lines.count("  flip_to_pass, difference +1.00") == 3
    assert sum(line.startswith("    answer: ") for line in lines) == 8, "what the agent said in both arms of four cases"
    assert "with_skill against without_skill: lift +75.0 points over 4 cases" in lines
    assert 'outcomes: {"flip_to_pass":3,"pass_kept":1,"fail_kept":0,"flip_to_fail":0,"error":0}' in "\n".join(lines)


def test_it_knows_the_public_names_only() -> None:
    """At most 60 lines, and nothing is imported but the public names and the standard library."""
    text = REPORTER.read_text()
    assert len(text.splitlines()) <= 60
    imported = set(re.findall(r"^(?:from|import) ([\w.]+)", text, re.M))
    assert imported == {"collections.abc", "pathlib", "skillgauge.api", "skillgauge.api.report"}


@pytest.mark.slow
def test_a_stored_run_tells_the_same(program: Program, work: Path) -> None:
    """Made again from the record, the report has the same bytes: prompts are kept with the run."""
    plugins = ("--plugin", DATA / "scripted_engine.py", "--plugin", REPORTER)
    reports = ("--format", "pairs", "record", "--output-dir", "reports")
    assert program.process(*plugins, "eval", EXAMPLE, "--engine", "scripted", *reports).code == 0
    (record,) = (work / "reports").glob("run-*.record.json")
    again = program.process(
        *plugins, "report", "convert", "--input", record, "--format", "pairs", "--output", "again.txt"
    )
    assert again.code == 0, again.stderr
    assert (work / "again.txt").read_text() == (work / "reports/eval-result.pairs.txt").read_text()
