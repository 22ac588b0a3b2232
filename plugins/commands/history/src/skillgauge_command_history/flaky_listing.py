"""Flaky cases and proposals for their quarantine, for people. Ids of a run cannot change what the terminal shows."""

from __future__ import annotations

from collections.abc import Sequence

from skillgauge.api import DIRECT, plain
from skillgauge.api.report import counted, interval_text, percent
from skillgauge.api.run import Output
from skillgauge_run_views.quarantine import configuration

from .documents import FlakyCase, FlakyDocument
from .quarantine import entry_of

_WIDTH = 40
_NEWEST = 12
"""Verdicts of a case that are shown."""


def print_flaky(document: FlakyDocument, output: Output) -> None:
    """Print flaky cases as a table, the entries that would put them into quarantine, and what they come to."""
    if document.cases:
        _print_cases(document.cases, output)
    for case in document.turned:
        output.line(_turned_text(case))
    if document.proposals:
        output.line()
        output.line("To keep these from failing a build until that day, while they are mended, add to")
        output.line("skillgauge.config.yaml (under a `quarantine:` that is there already, the entries alone):")
        output.line()
        for line in configuration(map(entry_of, document.proposals)).splitlines():
            output.line(f"    {line}")
        output.line()
    output.verdict(flaky_verdict(document))


def _print_cases(cases: Sequence[FlakyCase], output: Output) -> None:
    rows = [
        [
            plain(case.case, _WIDTH),
            _place(case),
            f"{case.passed} of {case.graded}",
            percent(case.pass_rate.rate),
            interval_text(case.pass_rate),
            _verdicts(case),
            percent(case.flip_rate),
            percent(case.pass_hat),
            str(case.runs),
            str(case.errors),
            plain(case.last_run),
        ]
        for case in cases
    ]
    heads = [
        "Case",
        "Of",
        "Passed",
        "Rate",
        "95% interval",
        "Oldest to newest",
        "Flip rate",
        "pass^3",
        "Runs",
        "Errors",
    ]
    output.table([*heads, "Last run"], rows)
    output.line()
    output.line("Flip rate: how often two repeats disagree; pass^3: how often three all pass. Repeats of several runs")
    output.line("count together where case, checks, skill, engine, model, limits and judges are the same.")


def _verdicts(case: FlakyCase) -> str:
    """Return the newest verdicts of a case, marked where older ones are left out."""
    newest = case.verdicts[-_NEWEST:]
    return newest if newest == case.verdicts else f"..{newest}"


def _turned_text(case: FlakyCase) -> str:
    kinds = ("passed", "fails") if case.verdicts[0] == "p" else ("failed", "passes")
    before = len(case.verdicts) - len(case.verdicts.lstrip(case.verdicts[0]))
    after = case.graded - before
    subject = f"{plain(case.case, _WIDTH)} ({_place(case)})"
    return (
        f"{subject} {kinds[0]} {before} times and {kinds[1]} ever since, {after} times, though nothing changed that a "
        "run knows of: look at services and at the model behind its name. It is not counted as flaky."
    )


def _place(case: FlakyCase) -> str:
    arm = case.arm if case.arm != DIRECT.name else None
    suite = case.suite if case.suite != case.target else None
    return " · ".join(plain(part, _WIDTH) for part in (case.target, suite, arm, case.model) if part)


def flaky_verdict(document: FlakyDocument) -> str:
    """The list in one sentence."""
    repeated = len(document.cases) + len(document.turned) + document.steady
    anew = ""
    if document.restarted:
        anew = f"; {document.restarted} counted anew after a change of case, skill, engine, limits or judge"
    if not repeated:
        hint = "run again unchanged, or evaluate with --runs 3"
        return f"no case was repeated in {counted(document.runs, 'run')}{anew}; {hint}"
    turned = f", {len(document.turned)} changed once and for good" if document.turned else ""
    flaky = f"{len(document.cases)} of {counted(repeated, 'repeated case')} flaky"
    return f"{flaky} in {counted(document.runs, 'run')}{turned}{anew}"
