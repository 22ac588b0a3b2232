"""Flaky cases in quarantine: they run and are told of everywhere, and they gate nothing until a day that is given."""

from __future__ import annotations

import csv
import json

import pytest

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e
GATE = ("--exit-on-fail", "--min-completion", "0.9")
NEVER, OVER = "9999-12-31", "2026-01-01"
TOLD = f"ase 2 of s is in quarantine and gates nothing before {NEVER}: it wavers"


def quarantine(scripted: Scripted, *entries: str) -> None:
    """Entries of the configuration."""
    lines = "".join(f"  - {entry}\n" for entry in entries)
    (scripted.work / "skillgauge.config.yaml").write_text(f"quarantine:\n{lines}")


@pytest.mark.slow
def test_a_case_in_quarantine_gates_nothing_and_is_told_of(scripted: Scripted) -> None:
    """It runs and counts in the rate; the gate is asked without it, and every report says so."""
    broken = letters("p", case_2="f")
    failed = scripted.evaluate(broken, letters("f"), *GATE, code=1)
    assert "below 90.0%" in failed.verdict
    quarantine(scripted, f"{{case: '2', until: {NEVER}, reason: it wavers}}")
    done = scripted.evaluate(broken, letters("f"), *GATE, "--format", "record", "markdown", "html", "csv")
    assert done.verdict.startswith("gate met: ")
    assert "with_skill: 3 of 4 passed" in done.verdict
    assert f"c{TOLD}" in done.stdout
    assert f"c{TOLD}" in scripted.program("report", "show", "latest").stdout
    reports = scripted.work / "reports"
    assert f"C{TOLD}" in (reports / "eval-result.md").read_text()
    assert f"c{TOLD}" in (reports / "eval-result.html").read_text()
    rows = list(csv.DictReader((reports / "eval-result.csv").read_text().splitlines()))
    assert [row["quarantinedCases"] for row in rows] == ["1", "1"]
    newest = max(reports.glob("run-*.record.json"))
    assert json.loads(newest.read_text())["plan"]["suites"][0]["quarantined"][0]["case"] == "2"
    assert "2 · with_skill: passed 0 of 1" in done.stdout


def test_after_the_day_it_gates_again_and_says_so(scripted: Scripted) -> None:
    """The entry is told with its place until somebody takes it out."""
    quarantine(scripted, f"{{case: '2', until: {OVER}}}")
    done = scripted.evaluate(letters("p", case_2="f"), letters("f"), *GATE, code=1)
    place = f"{scripted.work / 'skillgauge.config.yaml'}:2:5: warning[config.quarantine-over]: "
    assert f"{place}the quarantine of '2' ended on {OVER}: it gates again" in done.stderr
    assert "is in quarantine" not in done.stdout


def test_other_cases_gate_as_ever(scripted: Scripted) -> None:
    """Quarantine of one case is no amnesty for another."""
    quarantine(scripted, f"{{case: '2', until: {NEVER}}}")
    done = scripted.evaluate(letters("p", case_2="f", case_3="f"), letters("f"), *GATE, code=1)
    assert "with_skill 66.7%" in done.verdict


@pytest.mark.slow
def test_a_comparison_leaves_it_out(scripted: Scripted) -> None:
    """`report diff` does not judge it, and names it."""
    scripted.evaluate(letters("ppp"), letters("fff"), "--runs", "3")
    quarantine(scripted, f"{{case: '2', until: {NEVER}}}")
    scripted.evaluate(letters("ppp", case_2="fff"), letters("fff"), "--runs", "3")
    done = scripted.program("report", "diff", "latest~1", "latest", "--fail-on-regression")
    assert done.code == 0
    assert "no loss of the skill's own of more than 5 points is seen" in done.verdict
    assert "not compared, because they are in quarantine: 2" in done.stderr


def test_what_is_wrong_with_entries_is_told_at_once(scripted: Scripted) -> None:
    """All problems with their places, and nothing is run; an entry that fits nothing is a warning."""
    quarantine(scripted, "{case: '2', untl: 2027-03-01, reason: 3}", "{case: '2', until: soon}", "just text")
    done = scripted.run("eval", "s", "--engine", "scripted", code=2)
    assert not scripted.sessions()
    assert "config.wrong-type" in done.stderr
    quarantine(scripted, "{case: '2', untl: 2027-03-01, reason: 3}", "{case: '2', until: soon}")
    done = scripted.run("eval", "s", "--engine", "scripted", code=2)
    for said in (
        ":2:5: error[config.missing-key]: 'until' is missing",
        ":2:35: error[config.wrong-type]: 'reason' must be text",
        ":2:17: error[config.unknown-key]: unknown key 'untl' (did you mean until?)",
        ":3:17: error[config.wrong-type]: 'until' must be a date such as 2027-01-31",
    ):
        assert said in done.stderr
    quarantine(scripted, f"{{case: nine, until: {NEVER}}}")
    assert "quarantine of 'nine' matches no case" in scripted.evaluate(letters("p"), letters("f")).stderr
