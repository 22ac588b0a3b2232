"""The view of a run on hosts of code, the same on each: a summary in Markdown, and figures for later steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from skillgauge.api import plain
from skillgauge.api.report import (
    GroupSummary,
    RunState,
    RunView,
    compared,
    counted,
    figure_text,
    headline,
    interval_text,
    labels,
    sentences,
)

from .markdown import in_markdown
from .tested import CaseKind, CaseOutcome, groups_under_test, outcomes

MARKER = "<!-- skillgauge:report -->"
"""First line of a comment, by which the next run finds it."""
_MARKS = {CaseKind.FAILED: "❌", CaseKind.ERROR: "⚠️"}

Tally = Counter[CaseKind]
"""How many cases under test came to what."""


def tally_of(view: RunView) -> Tally:
    """Count the cases under test."""
    return Counter(case.kind for group in groups_under_test(view) for case in outcomes(view, group))


def told(view: RunView, tally: Tally, cases: Sequence[CaseOutcome], most: int) -> Iterator[str]:
    """Lines of Markdown: the answers, the cases that did not pass with their reasons, and the rates.

    Args:
        view: the run.
        tally: what became of its cases.
        cases: the worst of those that did not pass.
        most: rows that a table may have.
    """
    yield "## skillgauge"
    for sentence in sentences(view):
        yield ""
        yield f"**{in_markdown(sentence)}**"
    yield ""
    counts = [f"{tally[CaseKind.PASSED]} of {counted(tally.total(), 'case')} passed"]
    if tally[CaseKind.FAILED]:
        counts.append(f"{tally[CaseKind.FAILED]} failed")
    if tally[CaseKind.ERROR]:
        counts.append(f"{tally[CaseKind.ERROR]} could not be graded")
    if tally[CaseKind.SKIPPED]:
        counts.append(f"{tally[CaseKind.SKIPPED]} skipped")
    yield f"{', '.join(counts)}."
    if view.run.state is not RunState.FINISHED:
        yield ""
        yield f"**This run is {view.run.state}: the figures cover only what was finished.**"
    for validity in view.summary.validity:
        if not validity.valid:
            yield ""
            yield f"**{_shown(validity.suite_id)} is invalid: {_shown(validity.reason)}.**"
    yield from _cases(cases, most, tally[CaseKind.FAILED] + tally[CaseKind.ERROR])
    yield from _rates(groups_under_test(view), most)


def _cases(cases: Sequence[CaseOutcome], most: int, total: int) -> Iterator[str]:
    if not cases:
        return
    names = labels([case.group for case in cases[:most]])
    yield ""
    yield "### Cases that did not pass"
    yield ""
    yield "| | Case | Of | Passed | Reason |"
    yield "| --- | --- | --- | --- | --- |"
    for case, name in zip(cases, names, strict=False):
        passed = f"{case.passed} of {len(case.results)}{' (flaky)' if case.is_flaky else ''}"
        cells = (_shown(case.results[0].case_id), in_markdown(name), passed, _shown("; ".join(case.reasons)))
        yield f"| {_MARKS[case.kind]} | {' | '.join(cells)} |"
    if total > len(names):
        yield ""
        yield f"{total - len(names)} more did not pass."


def _rates(groups: Sequence[GroupSummary], most: int) -> Iterator[str]:
    if not groups:
        return
    yield ""
    yield "### Under test"
    yield ""
    yield "| Target | Figure | Value | Interval | n (cases) |"
    yield "| --- | --- | --- | --- | --- |"
    for name, group in zip(labels(groups)[:most], groups, strict=False):
        figure = headline(group)
        bounds = interval_text(figure.interval) if figure.interval else "–"
        value = _shown(figure_text(figure))
        yield f"| {in_markdown(name)} | {_shown(figure.label)} | {value} | {bounds} | {group.pass_rate.n} |"
    if len(groups) > most:
        yield ""
        yield f"{len(groups) - most} more are in the full report."


def figures(view: RunView, tally: Tally) -> dict[str, str]:
    """For later steps: numbers and words of ours only, as a text of a case could set another value."""
    rates = [group.pass_rate for group in groups_under_test(view)]
    graded = sum(rate.n for rate in rates)
    share = sum((rate.rate or 0.0) * rate.n for rate in rates) / graded if graded else None
    lifts = [pair.evidence.estimate for pair in compared(view) if pair.evidence]
    return {
        "verdict": _verdict(view, tally),
        "pass-rate": "" if share is None else f"{share:.4f}",
        "lift-points": f"{min(lifts) * 100 + 0.0:.1f}" if lifts else "",
        "failed": str(tally[CaseKind.FAILED]),
        "errors": str(tally[CaseKind.ERROR]),
    }


def _verdict(view: RunView, tally: Tally) -> str:
    for kind in (CaseKind.FAILED, CaseKind.ERROR):
        if tally[kind]:
            return kind.value
    if view.run.state is not RunState.FINISHED:
        return "incomplete"
    return "passed" if tally[CaseKind.PASSED] else "empty"


def _shown(value: str) -> str:
    return in_markdown(plain(value))
