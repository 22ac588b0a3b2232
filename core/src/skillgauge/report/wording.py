"""Results in words, the same in every report and on the terminal; their numbers: `skillgauge_documents.phrases`.

What comes from outside (ids, reasons, outputs) passes `plain` or `plain_lines` before it is shown. Escaping for a page
comes after that and is the reporter's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from typing import TYPE_CHECKING

from skillgauge_documents.characters import LINE, plain
from skillgauge_documents.phrases import UNKNOWN, counted, duration, percent, points, signed_points

from ..types.arms import DIRECT, GroupKey
from ..types.gate import Quarantined
from ..types.results.trials import TrialResult, Verdict
from ..types.score import Score, ScoreStatus

if TYPE_CHECKING:
    from ..stats import RateInterval
    from ..types.comparison import CaseCounts, Counts
    from ..types.results.summaries import Figure, GroupSummary, Table

PASS_RATE = "pass_rate"
"""Name of the figure that stands for a group whose format has none of its own."""
FEW_CLUSTERS = 10
FEW_CASES = 20
"""Below as many cases a perfect rate proves so little that it is said."""


def figure_text(value: Figure | None) -> str:
    """A number of a format's own arithmetic, with its unit, and with its trials if they are not all of the group."""
    if value is None or value.value is None:
        return UNKNOWN
    counts = _figure_counts(value)
    match value.unit:
        case "ratio":
            return f"{percent(value.value)}{counts}"
        case "lift":
            return f"{points(value.value)}{_lift_counts(value)}"
        case "ms":
            return f"{duration(value.value / 1000)}{counts}"
        case "score":
            return f"{value.value:.3f}{counts}"
        case unit:
            return f"{value.value:g} {plain(unit)}".strip() + counts


def span_text(fewest: int, most: int) -> str:
    """Two numbers as a range, or the number that they both are."""
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def of_number(number: int, singular: str, plural: str) -> str:
    """Return the word that goes with so many things."""
    return singular if number == 1 else plural


def prefixed(prefix: str, text: str) -> str:
    """Return a text behind its prefix; empty if there is no text."""
    return f"{prefix}{text}" if text else ""


def noted(prefix: str, note: str) -> str:
    """Return a note from outside behind its prefix, as `plain` text; empty if there is no note."""
    return f"{prefix}{plain(note)}" if note else ""


def rest_text(prefix: str, items: Sized, limit: int) -> str:
    """Return the end of a list of which only the first are named: `and 3 more`; empty if all are."""
    return f"{prefix}and {len(items) - limit} more" if len(items) > limit else ""


def moved_text(own: float, lift: float | None) -> str:
    """Say how far a pass rate moved, and the lift where that is known."""
    moved = f"pass rate {points(own)}"
    return moved if lift is None else f"{moved}, lift {points(lift)}"


def _figure_counts(figure: Figure) -> str:
    if figure.interval:
        return f" (n = {counted(figure.interval.n, 'case')}, {interval_text(figure.interval)})"
    return "" if figure.n is None else f" (n = {figure.n})"


def _lift_counts(figure: Figure) -> str:
    interval = figure.interval
    if interval is None:
        return ""
    cases = f"n = {counted(interval.n, 'case')}"
    if interval.lower is None or interval.upper is None:
        return f" ({cases})"
    return f" ({cases}, {signed_points(interval.lower)} to {signed_points(interval.upper)})"


def table_texts(table: Table) -> tuple[tuple[str, ...], ...]:
    """The cells of a table, its heads first."""
    return tuple(tuple(plain(str(cell)) for cell in row) for row in (table.heads, *table.rows))


def headline(group: GroupSummary) -> Figure:
    """The number that stands for a group: its pass rate, unless its format has one that says more."""
    from ..types.results.summaries import Figure  # noqa: PLC0415 - with all evidence, which no plan needs

    rate = group.pass_rate
    return next(
        (figure for figure in group.figures if figure.is_headline),
        Figure(name=PASS_RATE, label="Pass rate", value=rate.rate, unit="ratio", interval=rate, is_headline=True),
    )


def rated_figures(group: GroupSummary) -> tuple[Figure, ...]:
    """The figures to show in place of a pass rate, the one that stands for the group first; none if it has a rate."""
    figures = [figure for figure in group.figures if figure.is_headline or figure.interval or figure.value is None]
    figures.sort(key=lambda figure: not figure.is_headline)
    return tuple(figures) if figures and figures[0].is_headline else ()


def headline_text(group: GroupSummary) -> str:
    """The number that stands for a group, in words: `pass rate 75.0%`."""
    shown = headline(group)
    if shown.value is None:
        return "no result"
    return f"{plain(shown.label).lower()} {percent(shown.value)}"


def interval_text(rate: RateInterval) -> str:
    """The bounds of a rate."""
    if rate.lower is None or rate.upper is None:
        return UNKNOWN
    return f"{percent(rate.lower)} to {percent(rate.upper)}"


def reason_of(result: TrialResult) -> str:
    """Return the reason why a trial did not pass, as the run gives it, not yet `plain`; empty if it did."""
    return "; ".join(reasons_of(result))


def reasons_of(result: TrialResult) -> Sequence[str]:
    """Return the same in its parts: one of each check that did not pass, if that is what failed."""
    if result.verdict is Verdict.SKIPPED:
        return result.execution.notes
    failure = result.execution.failure
    if failure:
        return [f"{failure.failure_class}: {failure.message}"]
    return [_why(score) for score in result.scores if score.status is not ScoreStatus.PASSED and not score.beside]


def _why(score: Score) -> str:
    """Return the reason why a check did not pass, after its name if its author gave it one of its own."""
    if not score.reason:
        return f"check {score.check_id} {score.status}"
    named_after_scorer = score.check_id.casefold().startswith(score.scorer.casefold())
    if named_after_scorer or score.reason.startswith(score.check_id):
        return score.reason
    return f"{score.check_id}: {score.reason}"


def passed_text(counts: Counts) -> str:
    """Say how many of the graded repeats of a case passed, and what became of the rest: `1 of 2, 1 error`."""
    parts = []
    if graded := counts.passed + counts.failed:
        parts.append(f"{counts.passed} of {graded}")
    if counts.errors:
        parts.append(counted(counts.errors, "error"))
    return ", ".join(parts) or "skipped"


def repeats_text(counts: Counts) -> str:
    """The same as a part of a sentence: `passed 1 of 2, 1 error`, or `no result, 2 errors`."""
    if counts.pass_share is None:
        return f"no result, {passed_text(counts)}"
    return f"passed {passed_text(counts)}"


def cases_text(cases: CaseCounts) -> str:
    """Say how many of the graded cases passed, and what became of the rest: `2 of 3 cases passed, 1 failed`."""
    others = {
        "failed": cases.failed,
        "could not be graded": cases.error,
        "skipped": cases.skipped,
        "in quarantine": cases.quarantined,
    }
    parts = [f"{count} {word}" for word, count in others.items() if count]
    return ", ".join([f"{cases.passed} of {counted(cases.graded, 'case')} passed", *parts])


def quarantine_text(entry: Quarantined) -> str:
    """Say until when a case gates nothing, and why."""
    text = f"in quarantine and gates nothing before {entry.until}"
    return f"{text}{noted(': ', entry.reason)}"


def group_notes(group: GroupSummary) -> Iterator[str]:
    """Yield the outcomes of a group's cases, unless a note begins with the same, and the notes beside its rate."""
    notes = rate_notes(group)
    if group.cases:
        cases = cases_text(group.cases)
        if not any(note.startswith(f"{cases};") for note in notes):
            yield cases
    yield from notes


def rate_notes(group: GroupSummary) -> tuple[str, ...]:
    """Notes beside a pass rate: how little a perfect one proves, what errors leave open, what is flaky."""
    return (
        *_interval_notes(headline(group)),
        *_count_notes(group),
        *filter(None, (figure.note for figure in group.figures)),
        *_flaky_notes(group),
    )


def _interval_notes(shown: Figure) -> Iterator[str]:
    rate = shown.interval
    if rate is None:
        return
    if rate.rate == 1.0 and rate.lower is not None and rate.n < FEW_CASES:
        cases = counted(rate.n, "case")
        perfect = f"{rate.n} of {cases} passed" if shown.name == PASS_RATE else f"{percent(1.0)} over {cases}"
        yield f"{perfect}; that proves no more than {percent(rate.lower)}"
    if rate.clusters:
        few = ", too few to tell much" if rate.clusters < FEW_CLUSTERS else ""
        yield f"the interval is over {counted(rate.clusters, 'cluster')} of its {counted(rate.n, 'case')}{few}"


def _count_notes(group: GroupSummary) -> Iterator[str]:
    shown = headline(group)
    if bounds := group.pass_bounds or shown.bounds:
        low, high = bounds
        errors = counted(group.counts.errors, "error")
        name = "rate" if shown.name == PASS_RATE else plain(shown.label).lower()
        yield f"with {errors} the {name} lies between {percent(low)} (all failed) and {percent(high)} (all passed)"
    if group.skip_reasons:
        reasons = "; ".join(plain(reason) for reason in group.skip_reasons)
        yield f"{counted(group.counts.skipped, 'trial')} skipped: {reasons}"
    if group.counts.retried:
        yield f"{group.counts.retried} of {group.counts.passed} passed only after further attempts"


def _flaky_notes(group: GroupSummary) -> Iterator[str]:
    reliability = group.reliability
    if reliability is None or not reliability.flaky:
        return
    are = of_number(reliability.flaky, "is", "are")
    cases = counted(reliability.cases, "case")
    note = f"{reliability.flaky} of {cases} {are} flaky: two runs disagree in {percent(reliability.flip_rate)}"
    if reliability.pass_hat_k is not None:
        note += f", all of {reliability.k} pass in {percent(reliability.pass_hat_k)} (n = {cases})"
    yield note


def labels(groups: Sequence[GroupSummary | GroupKey], limit: int = LINE) -> tuple[str, ...]:
    """Names of groups that are shown together: target, arm and model of each, suite and runner where they differ.

    Args:
        groups: all that are shown.
        limit: most characters of each part.
    """
    several_suites = len({group.suite_id for group in groups}) > 1
    several_runners = len({group.runner for group in groups}) > 1
    parts = (_label_parts(group, several_suites, several_runners) for group in groups)
    return tuple(" · ".join(plain(part, limit) for part in parts_of_group) for parts_of_group in parts)


def _label_parts(group: GroupSummary | GroupKey, several_suites: bool, several_runners: bool) -> Iterator[str]:
    yield group.target_id or group.suite_id
    if several_suites and group.suite_id != group.target_id:
        yield group.suite_id
    if group.arm != DIRECT.name:
        yield group.arm
    if several_runners:
        yield group.runner
    if group.model:
        yield group.model
