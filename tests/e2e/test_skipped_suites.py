"""Suites that the user leaves out as a whole: they spoil nothing, and each report says why they were skipped."""

from __future__ import annotations

import json

import pytest

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e
WHY = "needs a judge (--without-judged)"
GATE = ("--exit-on-fail", "--min-completion", "0.9")


@pytest.fixture
def two(scripted: Scripted) -> Scripted:
    """A skill with checks that need no judge, and one all of whose checks are claims."""
    scripted.write(name="judged")
    file = scripted.work / "judged/evals/evals.json"
    evals = [{"id": one, "prompt": f"number {one}", "assertions": ["It is polite"]} for one in (1, 2)]
    file.write_text(json.dumps({"skill_name": "judged", "evals": evals}))
    return scripted


def run(scripted: Scripted, *paths: str, code: int = 0) -> str:
    """Evaluate without the judged cases; the verdict."""
    scripted.script(letters("p"), letters("f"))
    formats = ("--format", "markdown", "csv", "github", "gitlab", "record")
    return scripted.run("eval", *paths, "--engine", "scripted", "--without-judged", *formats, code=code).verdict


def test_the_other_suites_decide(two: Scripted) -> None:
    """The run is valid, its gate is about what was run, and the table says what was skipped."""
    verdict = run(two, "s", "judged", *GATE)
    assert verdict.startswith("gate met: 2 skills: 1 cannot be told, 1 was skipped")
    assert "invalid" not in verdict


@pytest.mark.slow
def test_reports_say_why_cases_were_skipped(two: Scripted) -> None:
    """Markdown beside each case, the others with their number."""
    run(two, "s", "judged")
    reports = two.work / "reports"
    markdown = (reports / "eval-result.md").read_text()
    assert "| 2 | 1 | ⏭️ SKIPPED | – | – | needs a judge (--without-judged) |" in markdown
    assert "**Invalid" not in markdown
    rows = [row for row in (reports / "eval-result.csv").read_text().splitlines() if row.startswith("judged,")]
    assert len(rows) == 2
    assert all(row.endswith(f"2 trials skipped: {WHY}") for row in rows)
    for name in ("github", "gitlab"):
        text = (reports / f"eval-result.{name}.md").read_text().replace("\\", "")
        assert f"Skipped: {WHY}." in text
    assert f"skipped  {WHY}" in two.program("report", "show", "latest", "--target", "judged").stdout


def test_a_run_of_nothing_meets_no_gate(two: Scripted) -> None:
    """Without a gate it ends well and is called empty; a gate stays open."""
    assert run(two, "judged") == "done: with_skill: 0 of 0 passed, 2 skipped"
    newest = max((two.work / "reports").glob("run-*.record.json"))
    assert json.loads(newest.read_text())["verdict"] == "empty"
    open_gate = "gate inconclusive: every case was skipped"
    assert run(two, "judged", *GATE, code=3).startswith(open_gate)
    assert run(two, "judged", "--gate", "better", code=3).startswith("gate inconclusive: nothing was compared")
