"""The view of a run on hosts of code, the same on each: a summary in Markdown, and figures for later steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from skillgauge.api import plain
from skillgauge.api.report import (
    BAR_HEAD,
    CaseCounts,
    CaseOutcome,
    Catalogue,
    Figure,
    GroupSummary,
    Opening,
    RunState,
    RunView,
    cases_text,
    compared,
    figure_text,
    groups_under_test,
    headline,
    interval_text,
    labels,
    opening,
    rated_figures,
    show_command,
    table_of,
    verdict_for,
)

from .markdown import gate_mark, in_markdown
from .tested import TestedCase, quarantined, tested

MARKER = "<!-- skillgauge:report -->"
"""First line of a comment, by which the next run finds it."""
_BALANCED = "balanced_accuracy"
"""The figure that stands for a set of trigger queries."""
_MARKS = {CaseOutcome.FAILED: "❌", CaseOutcome.ERROR: "⚠️"}


def tally_of(view: RunView) -> CaseCounts:
    """Count the cases under test by outcome; the results are read only where the summary does not tell."""
    return CaseCounts.sum(group.cases or _counted(view, group) for group in groups_under_test(view))


def _counted(view: RunView, group: GroupSummary) -> CaseCounts:
    outcomes = Counter(case.outcome.value for case in tested(view, group))
    return CaseCounts(**outcomes)


def told(view: RunView, tally: CaseCounts, cases: Sequence[TestedCase], most: int, page: str = "") -> Iterator[str]:
    """Yield lines of Markdown: gates, answers, changes, the cases that did not pass and why, and the rates.

    Args:
        view: the run.
        tally: what became of its cases.
        cases: the worst of those that did not pass.
        most: rows that a table may have.
        page: address of the page with every session; empty if nobody knows it.
    """
    yield "## skillgauge"
    begins = opening(view)
    for line in begins.gates:
        yield ""
        yield f"**{gate_mark(line)} {in_markdown(line)}**"
    for sentence in begins.answers:
        yield ""
        yield f"**{in_markdown(sentence)}**"
    yield from skill_lines(begins.skills, most)
    yield from _changes(begins)
    yield ""
    yield f"{cases_text(tally)}."
    reasons = dict.fromkeys(reason for group in groups_under_test(view) for reason in group.skip_reasons)
    for reason in reasons:
        yield ""
        yield f"Skipped: {_shown(reason)}."
    if view.run.state is not RunState.FINISHED:
        yield ""
        yield f"**This run is {view.run.state}: the figures cover only what was finished.**"
    for validity in view.summary.validity:
        if not validity.valid:
            yield ""
            yield f"**{_shown(validity.suite_id)} is invalid: {_shown(validity.reason)}.**"
    yield from _cases(cases, most, tally.failed + tally.error)
    yield from _deeper(view, cases, page)
    yield from _apart(quarantined(view, most), tally.quarantined)
    yield from _rates(groups_under_test(view), most)


def _cases(cases: Sequence[TestedCase], most: int, total: int) -> Iterator[str]:
    if not cases:
        return
    names = labels([case.group for case in cases[:most]])
    yield ""
    yield "### Cases that did not pass"
    yield ""
    yield "| | Case | Of | Passed | Reason |"
    yield "| --- | --- | --- | --- | --- |"
    for case, name in zip(cases, names, strict=False):
        passed = f"{case.passed_text}{' (flaky)' if case.is_flaky else ''}"
        cells = (_shown(case.title), in_markdown(name), passed, _shown("; ".join(case.reasons)))
        yield f"| {_MARKS[case.outcome]} | {' | '.join(cells)} |"
    if total > len(names):
        yield ""
        yield f"{total - len(names)} more did not pass."


def skill_lines(skills: Catalogue | None, most: int | None = None) -> Iterator[str]:
    """Yield the skills of a run side by side as a table, the worst first, all but the first ones folded.

    Args:
        skills: the skills; `None` if there is one only.
        most: rows that a table may have; `None` for as many as there are.
    """
    if skills is None:
        return
    heads, rows = table_of(skills, most)
    yield ""
    yield from _skill_table(heads, rows[:_OPEN])
    if len(rows) > _OPEN:
        yield ""
        yield f"<details><summary>{len(rows) - _OPEN} more skills</summary>"
        yield ""
        yield from _skill_table(heads, rows[_OPEN:])
        yield ""
        yield "</details>"
    if len(skills.rows) > len(rows):
        yield ""
        yield f"{len(skills.rows) - len(rows)} more are in the full report."


_OPEN = 10
"""Skills that stand open in a table."""


def _skill_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join(['---'] * len(heads))} |"
    for row in rows:
        cells = (_bar(cell) if head == BAR_HEAD else in_markdown(cell) for head, cell in zip(heads, row, strict=True))
        yield f"| {' | '.join(cells)} |"


def _bar(drawn: str) -> str:
    """Return a bar in type of one width; blanks that stand alone would be left out, and a line would end the cell."""
    return f"`{drawn.replace(' ', chr(0xA0)).replace('|', chr(0xA6))}`" if drawn else ""


def _changes(begins: Opening) -> Iterator[str]:
    """Yield what changed since an earlier run."""
    if begins.changes:
        yield ""
        yield "### Changed"
        yield ""
        yield from (f"- {in_markdown(line)}" for line in begins.changes)


def _deeper(view: RunView, cases: Sequence[TestedCase], page: str) -> Iterator[str]:
    """Yield where the sessions can be read: the page, and the command that shows the first of the cases."""
    if page:
        yield ""
        yield f"[The page with every session]({page})"
    command = show_command(view, cases[0].group.key, cases[0].results[0].case_id) if cases else ""
    if command:
        yield ""
        yield f"The first of these cases: `{command.replace('`', 'ˋ')}`"


def _apart(cases: Sequence[TestedCase], total: int) -> Iterator[str]:
    """Yield the cases that gate nothing, with the reason why."""
    if not cases:
        return
    yield ""
    yield "### In quarantine"
    yield ""
    yield "| Case | Of | Passed | Why |"
    yield "| --- | --- | --- | --- |"
    for case, name in zip(cases, labels([case.group for case in cases]), strict=True):
        why = case.quarantine[0].upper() + case.quarantine[1:]
        cells = (_shown(case.title), in_markdown(name), case.passed_text, in_markdown(why))
        yield f"| {' | '.join(cells)} |"
    if total > len(cases):
        yield ""
        yield f"{total - len(cases)} more are in quarantine."


def _rates(groups: Sequence[GroupSummary], most: int) -> Iterator[str]:
    if not groups:
        return
    yield ""
    yield "### Under test"
    yield ""
    yield "| Target | Figure | Value | Interval | n (cases) |"
    yield "| --- | --- | --- | --- | --- |"
    for name, group in zip(labels(groups)[:most], groups, strict=False):
        for figure in rated_figures(group) or (headline(group),):
            yield f"| {in_markdown(name)} | {' | '.join(_figure_cells(figure, group))} |"
    if len(groups) > most:
        yield ""
        yield f"{len(groups) - most} more are in the full report."


def _figure_cells(figure: Figure, group: GroupSummary) -> tuple[str, ...]:
    rate = figure.interval
    bounds = interval_text(rate) if rate else "–"
    cases = rate.n if rate else group.pass_rate.n
    value = _shown(figure_text(figure.model_copy(update={"interval": None})))
    return _shown(figure.label), value, bounds, str(cases)


def figures(view: RunView, tally: CaseCounts) -> dict[str, str]:
    """For later steps: numbers and words of ours only, as a text of a case could set another value."""
    rates = [group.pass_rate for group in groups_under_test(view) if group.pass_rate.rate is not None]
    graded = sum(rate.n for rate in rates)
    share = sum((rate.rate or 0.0) * rate.n for rate in rates) / graded if graded else None
    lifts = [pair.evidence.estimate for pair in compared(view) if pair.evidence]
    return {
        "verdict": verdict_for(view).value,
        "pass-rate": "" if share is None else f"{share:.4f}",
        "balanced-accuracy": _lowest_accuracy(view),
        "lift-points": f"{min(lifts) * 100 + 0.0:.1f}" if lifts else "",
        "failed": str(tally.failed),
        "errors": str(tally.error),
        "quarantined": str(tally.quarantined),
    }


def _lowest_accuracy(view: RunView) -> str:
    """Return the lowest balanced accuracy of all trigger sets; empty if there is none."""
    shown = [figure for figure in map(headline, groups_under_test(view)) if figure.name == _BALANCED]
    accuracies = [figure.value for figure in shown if figure.value is not None]
    return f"{min(accuracies):.4f}" if accuracies else ""


def _shown(value: str) -> str:
    return in_markdown(plain(value))
