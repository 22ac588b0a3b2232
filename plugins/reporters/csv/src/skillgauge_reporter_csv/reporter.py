"""One row per group, or records of another kind.

The columns of groups are those of eval-skills, then what it takes to trust a rate.

Tags have a table of their own. As further rows they would be counted again by whoever sums a column; as further
columns every benchmark would have another header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from skillgauge.api import Artifact
from skillgauge.api.report import (
    CaseCounts,
    Changes,
    Decided,
    Figure,
    GateAnswer,
    GroupChange,
    GroupKey,
    GroupSummary,
    PairSummary,
    RunView,
    TagSummary,
    compared,
    headline,
    rate_notes,
    rated_figures,
)
from skillgauge.stats import Evidence, Finding, RateInterval, Reliability

from .cells import line, milliseconds, share, text
from .options import CsvOptions, Rows
from .records import records

_RATE = (
    "passRate",
    "passRateLower",
    "passRateUpper",
    "passRateLevel",
    "passRateMethod",
    "cases",
    "passed",
    "failed",
    "errors",
    "skipped",
)

_LIFT = (
    "baseline",
    "lift",
    # if these cases were run very often
    "liftLowerTheseCases",
    "liftUpperTheseCases",
    "liftChanceTheseCases",
    # for new cases of this kind
    "liftLowerNewCases",
    "liftUpperNewCases",
    "liftChanceNewCases",
    # confidence of both intervals, and what was found of which cases
    "liftLevel",
    "liftFinding",
    "liftFindingCases",
    "liftCases",
    "liftDropped",
)

_CASES = ("passedCases", "failedCases", "ungradedCases", "skippedCases", "quarantinedCases")

COLUMNS = (
    # as eval-skills writes them
    "skillId",
    "benchmarkId",
    "completionRate",
    "partialScore",
    "errorRate",
    "p50Ms",
    "p95Ms",
    "compositeScore",
    # ours
    "arm",
    "runner",
    "model",
    *_RATE,
    # the figure that stands for the group: its pass rate, unless its format has one that says more
    "headline",
    "headlineRate",
    "headlineLower",
    "headlineUpper",
    "headlineMethod",
    # of the run, so that a row alone tells whether it proves anything
    "state",
    "valid",
    # of the repeats; empty if there is one of each case
    "flakyCases",
    "flipRate",
    "passHatK",
    "passHatKRuns",
    "passHatKCases",
    # its cases by outcome, all repeats of each together; empty in documents that do not tell
    *_CASES,
    # of the comparison whose candidate the group is; empty for every other group
    *_LIFT,
    # what must be known beside the rate, as Markdown says it
    "notes",
)

TAG_COLUMNS = ("skillId", "benchmarkId", "arm", "runner", "model", "tag", *_RATE)
TAG_FILE = "tags.csv"
"""In the reporter's own folder of the run; only there if the run has tags."""

FIGURE_COLUMNS = (
    "skillId",
    "benchmarkId",
    "arm",
    "runner",
    "model",
    "figure",
    "value",
    "lower",
    "upper",
    "level",
    "method",
    "cases",
)
FIGURE_FILE = "figures.csv"
"""The same of the figures that stand in place of a pass rate, as those of trigger sets do."""

_KEY = ("skillId", "benchmarkId", "arm", "runner", "model")
GATE_COLUMNS = ("answer", "figure", "threshold", "value", "reason", *_KEY)
GATE_FILE = "gates.csv"
"""The gates that were asked, the missed ones first; only there if any was."""
CHANGE_COLUMNS = (
    "since",
    "direction",
    "passRateChange",
    "liftChange",
    "cases",
    "chance",
    "newlyFailing",
    "newlyPassing",
    *_KEY,
)
CHANGE_FILE = "changes.csv"
"""The changes of each group since the run that this one was compared with; only there if there is one."""


class CsvReporter:
    """Writes tables for spreadsheets.

    Args:
        options: which rows.
    """

    suffix = "csv"

    def __init__(self, options: CsvOptions | None = None) -> None:
        self._rows = options.rows if options else Rows.GROUPS

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The groups, then their tags if there are any; or records of another kind, for which results are read."""
        if self._rows is Rows.GROUPS:
            return _groups(view)
        return [Artifact(chunks=map(line, records(view, self._rows.value)))]

    def read(self, path: Path) -> RunView | None:
        """A table of groups is too little to make a run of."""
        return None


def _groups(view: RunView) -> Iterator[Artifact]:
    """Yield the table of groups and those beside it; results are not read, because the summary tells all of it."""
    groups = view.summary.groups
    pairs: dict[GroupKey, PairSummary] = {}
    for pair in compared(view):
        pairs.setdefault(pair.candidate, pair)
    proofs = ((group, _proof(view, group, pairs.get(group.key))) for group in groups)
    rows = ((*_row(group), *proof, text("; ".join(rate_notes(group)))) for group, proof in proofs)
    yield Artifact(chunks=(line(cells) for cells in (COLUMNS, *rows)))
    yield from _decided(view.decided)
    if any(group.tags for group in groups):
        rows = (_tag_row(group, tag) for group in groups for tag in group.tags)
        yield Artifact(chunks=map(line, chain((TAG_COLUMNS,), rows)), path=TAG_FILE)
    figures = [_figure_row(group, figure) for group in groups for figure in rated_figures(group)]
    if figures:
        yield Artifact(chunks=map(line, (FIGURE_COLUMNS, *figures)), path=FIGURE_FILE)


def _decided(decided: Decided | None) -> Iterator[Artifact]:
    """Yield the tables of gates and of changes, as far as there are any."""
    if decided is None:
        return
    if decided.lines:
        yield Artifact(chunks=map(line, (GATE_COLUMNS, *_gate_rows(decided))), path=GATE_FILE)
    if decided.changes:
        yield Artifact(chunks=map(line, (CHANGE_COLUMNS, *_change_rows(decided.changes))), path=CHANGE_FILE)


def _gate_rows(decided: Decided) -> Iterator[tuple[str, ...]]:
    """Yield the gates, or the lines on those of a run that was stopped or proves nothing."""
    ordered = sorted(decided.gates, key=lambda gate: _ANSWERS.index(gate.answer))
    for gate in ordered:
        figures = (gate.answer.value, text(gate.figure), f"{gate.threshold:g}", share(gate.value), text(gate.reason))
        yield (*figures, *_key(gate.group))
    if not ordered:
        answer = GateAnswer.INCONCLUSIVE.value
        yield from ((answer, "", "", "", text(line), *[""] * len(_KEY)) for line in decided.lines)


_ANSWERS = (GateAnswer.MISSED, GateAnswer.INCONCLUSIVE, GateAnswer.MET)


def _key(group: GroupKey) -> tuple[str, ...]:
    """Return the names that tell a group from others, in the order of `_KEY`."""
    return tuple(map(text, (group.target_id, group.suite_id, group.arm, group.runner, group.model)))


def _change_rows(changes: Changes) -> Iterator[tuple[str, ...]]:
    return ((text(changes.since), *_change_row(change)) for change in changes.groups)


def _change_row(change: GroupChange) -> tuple[str, ...]:
    """Return the change of a group, in the order of `CHANGE_COLUMNS` after the first."""
    chance = "" if change.chance is None else f"{change.chance:.4g}"
    flips = (str(len(change.newly_failing)), str(len(change.newly_passing)))
    figures = (share(change.own), share(change.lift), str(change.n), chance, *flips)
    return (change.direction.value, *figures, *_key(change.group))


def _row(group: GroupSummary) -> tuple[str, ...]:
    figures = {figure.name: figure.value for figure in group.figures}
    latency = group.latency
    return (
        text(group.target_id),
        text(group.suite_id),
        share(figures.get("completionRate")),
        share(figures.get("partialScore")),
        share(figures.get("errorRate")),
        milliseconds(figures.get("p50Ms"), latency.p50_s),
        milliseconds(figures.get("p95Ms"), latency.p95_s),
        share(figures.get("compositeScore")),
        text(group.arm),
        text(group.runner),
        text(group.model),
        *_rate(group),
        *_headline(group),
    )


def _headline(group: GroupSummary) -> tuple[str, ...]:
    """Return the figure that stands for a group, with its interval."""
    shown = headline(group)
    rate = shown.interval or RateInterval(rate=shown.value, n=0)
    return text(shown.name), share(shown.value), share(rate.lower), share(rate.upper), text(rate.method)


def _figure_row(group: GroupSummary, figure: Figure) -> tuple[str, ...]:
    """Return one of the figures in place of a pass rate, in the order of `FIGURE_COLUMNS`."""
    rate = figure.interval or RateInterval(rate=figure.value, n=group.pass_rate.n)
    names = (group.target_id, group.suite_id, group.arm, group.runner, group.model, figure.name)
    level = f"{rate.level:g}" if rate.method else ""
    bounds = (share(rate.lower), share(rate.upper), level)
    return (*map(text, names), share(figure.value), *bounds, text(rate.method), str(rate.n))


def _proof(view: RunView, group: GroupSummary, pair: PairSummary | None) -> tuple[str, ...]:
    """Return the findings of the run and of the group's comparison with a baseline; of several, the first."""
    return (*_validity(view, group), *_comparison(pair))


def _validity(view: RunView, group: GroupSummary) -> tuple[str, ...]:
    """Return how far the run came, whether the suite is valid, how steady the group is, and its cases by outcome."""
    invalid = {validity.suite_id for validity in view.summary.validity if not validity.valid}
    is_valid = "false" if group.suite_id in invalid else "true"
    return (view.run.state.value, is_valid, *_reliability(group.reliability), *_outcomes(group.cases))


def _reliability(steady: Reliability | None) -> tuple[str, ...]:
    """Return how many cases are flaky, how often two runs disagree, and pass^k with its k and its number of cases."""
    if steady is None:
        return ("",) * 5
    hat = ("",) * 3
    if steady.pass_hat_k is not None:
        hat = (share(steady.pass_hat_k), str(steady.k), str(steady.cases))
    return (str(steady.flaky), share(steady.flip_rate), *hat)


def _outcomes(cases: CaseCounts | None) -> tuple[str, ...]:
    """Return how many cases came to what, in the order of `_CASES`."""
    if cases is None:
        return ("",) * len(_CASES)
    return tuple(map(str, (cases.passed, cases.failed, cases.error, cases.skipped, cases.quarantined)))


def _comparison(pair: PairSummary | None) -> tuple[str, ...]:
    if pair is None or pair.evidence is None:
        return ("",) * len(_LIFT)
    evidence, here, new = pair.evidence, pair.evidence.interval_here, pair.evidence.interval
    return (
        text(pair.baseline.arm),
        share(evidence.estimate),
        share(here.lower),
        share(here.upper),
        f"{evidence.chance:.4g}",
        share(new.lower if new else None),
        share(new.upper if new else None),
        "" if evidence.chance_new is None else f"{evidence.chance_new:.4g}",
        f"{here.level:g}",
        evidence.finding.value,
        _finding_scope(evidence),
        str(evidence.n),
        str(sum(count for _, count in pair.dropped)),
    )


def _finding_scope(evidence: Evidence) -> str:
    """Return the cases that a finding is about; empty if nothing was found."""
    if evidence.finding is Finding.UNDECIDED:
        return ""
    return "new" if evidence.is_general else "these"


def _tag_row(group: GroupSummary, tag: TagSummary) -> tuple[str, ...]:
    names = (group.target_id, group.suite_id, group.arm, group.runner, group.model, tag.tag)
    return (*map(text, names), *_rate(tag))


def _rate(measured: GroupSummary | TagSummary) -> tuple[str, ...]:
    """A pass rate with all that it takes to trust it, in the order of `_RATE`."""
    rate, counts = measured.pass_rate, measured.counts
    return (
        share(rate.rate),
        share(rate.lower),
        share(rate.upper),
        f"{rate.level:g}" if rate.method else "",
        text(rate.method),
        str(rate.n),
        str(counts.passed),
        str(counts.failed),
        str(counts.errors),
        str(counts.skipped),
    )
