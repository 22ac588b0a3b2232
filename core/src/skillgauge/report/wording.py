"""Results in words, the same in every report and on the terminal; their numbers: `skillgauge_documents.phrases`.

What comes from outside (ids, reasons, outputs) passes `plain` or `plain_lines` before it is shown. Escaping for a page
comes after that and is the reporter's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillgauge_documents.characters import LINE, plain
from skillgauge_documents.phrases import UNKNOWN, counted, duration, percent

from ..stats import RateInterval
from ..types.comparison import GroupKey
from ..types.result import Figure, GroupSummary, Table, TrialResult
from ..types.score import ScoreStatus
from ..types.suite import DIRECT

FEW_CLUSTERS = 10
FEW_CASES = 20
"""Below as many cases a perfect rate proves so little that it is said."""


def figure_text(value: Figure | None) -> str:
    """A number of a format's own arithmetic, with its unit, and with its trials if they are not all of the group."""
    if value is None or value.value is None:
        return UNKNOWN
    counts = f" (n = {value.n})" if value.n is not None else ""
    if value.interval:
        counts = f" (n = {counted(value.interval.n, 'case')}, {interval_text(value.interval)})"
    match value.unit:
        case "ratio":
            return f"{percent(value.value)}{counts}"
        case "ms":
            return f"{duration(value.value / 1000)}{counts}"
        case "score":
            return f"{value.value:.3f}{counts}"
        case unit:
            return f"{value.value:g} {plain(unit)}".strip() + counts


def table_texts(table: Table) -> tuple[tuple[str, ...], ...]:
    """The cells of a table, its heads first."""
    return tuple(tuple(plain(str(cell)) for cell in row) for row in (table.heads, *table.rows))


def headline(group: GroupSummary) -> Figure:
    """The number that stands for a group: its pass rate, unless its format has one that says more."""
    rate = group.pass_rate
    return next(
        (figure for figure in group.figures if figure.is_headline),
        Figure(name="pass_rate", label="Pass rate", value=rate.rate, unit="ratio", interval=rate, is_headline=True),
    )


def interval_text(rate: RateInterval) -> str:
    """The bounds of a rate."""
    if rate.lower is None or rate.upper is None:
        return UNKNOWN
    return f"{percent(rate.lower)} to {percent(rate.upper)}"


def reason_of(result: TrialResult) -> str:
    """Why a trial did not pass, as the run tells it, not yet `plain`; empty if it did."""
    failure = result.execution.failure
    if failure:
        return f"{failure.failure_class}: {failure.message}"
    return "; ".join(
        score.reason or f"check {score.check_id} {score.status}"
        for score in result.scores
        if score.status is not ScoreStatus.PASSED and not score.beside
    )


def rate_notes(group: GroupSummary) -> tuple[str, ...]:
    """What must be known beside a pass rate: how little a perfect one proves, what errors leave open, what is flaky."""
    rate, notes = group.pass_rate, []
    if rate.rate == 1.0 and rate.lower is not None and rate.n < FEW_CASES:
        notes.append(f"{rate.n} of {counted(rate.n, 'case')} passed; that proves no more than {percent(rate.lower)}")
    if rate.clusters:
        few = ", too few to tell much" if rate.clusters < FEW_CLUSTERS else ""
        notes.append(f"the interval is over {counted(rate.clusters, 'cluster')} of its {counted(rate.n, 'case')}{few}")
    if group.pass_bounds:
        low, high = group.pass_bounds
        errors = counted(group.counts.errors, "error")
        notes.append(
            f"with {errors} the rate lies between {percent(low)} (all failed) and {percent(high)} (all passed)"
        )
    if group.counts.retried:
        notes.append(f"{group.counts.retried} of {group.counts.passed} passed only after further attempts")
    notes += [figure.note for figure in group.figures if figure.note]
    steady = group.reliability
    if steady and steady.flaky:
        notes.append(
            f"{steady.flaky} of {counted(steady.cases, 'case')} {'is' if steady.flaky == 1 else 'are'} flaky: "
            f"two runs disagree in {percent(steady.flip_rate)}, all of {steady.k} pass in {percent(steady.pass_hat_k)}"
        )
    return tuple(notes)


def labels(groups: Sequence[GroupSummary | GroupKey], limit: int = LINE) -> tuple[str, ...]:
    """What to call groups that are shown together: target, arm and model of each, suite and runner where they differ.

    Args:
        groups: all that are shown.
        limit: most characters of each part.
    """
    suites, runners = ({getattr(one, name) for one in groups} for name in ("suite_id", "runner"))

    def parts(group: GroupSummary | GroupKey) -> Iterator[str | None]:
        yield group.target_id or group.suite_id
        yield group.suite_id if len(suites) > 1 and group.suite_id != group.target_id else None
        yield group.arm if group.arm != DIRECT.name else None
        yield group.runner if len(runners) > 1 else None
        yield group.model

    return tuple(" · ".join(plain(part, limit) for part in parts(group) if part) for group in groups)
