"""Answer the gates of a run: figures of the kernel's own summary, or of the suite's format, against thresholds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from skillgauge_documents.immutables import immutable

from ..report.catalogue import groups_under_test
from ..types.arms import GroupKey
from ..types.comparison import PairSummary
from ..types.decided import GateAnswer
from ..types.gate import Gate, GateFigure, GateScope
from ..types.results.runs import RunView
from ..types.results.summaries import Figure, GroupSummary


@immutable
class GateResult:
    """A gate's answer for one group, or for one comparison by the group of its candidate arm."""

    gate: Gate
    group: GroupKey
    figure: Figure
    answer: GateAnswer
    told: str = ""
    """What to say of it, where figure and threshold do not say it."""


def gated(view: RunView) -> tuple[GroupSummary, ...]:
    """The groups that gates are about: all but those that others are only compared with."""
    return groups_under_test(view)


def gated_pairs(view: RunView) -> list[PairSummary]:
    """The comparisons that gates are about: a candidate of which every trial was skipped gates nothing."""
    skipped = {group.key for group in view.summary.groups if group.counts.are_skipped}
    return [pair for pair in view.summary.pairs if pair.candidate not in skipped]


def answers(view: RunView, gates: Mapping[str, Sequence[Gate]]) -> Iterator[GateResult]:
    """The answers of gates, which are given by the suite that they are about."""
    groups: dict[str, list[GroupSummary]] = defaultdict(list)
    for group in gated(view):
        if not group.counts.are_skipped:
            groups[group.suite_id].append(group)
    pairs: dict[str, list[PairSummary]] = defaultdict(list)
    for pair in gated_pairs(view):
        pairs[pair.candidate.suite_id].append(pair)
    for suite_id, of_suite in gates.items():
        for gate in of_suite:
            for key, figure in _figures(gate, groups[suite_id], pairs[suite_id]):
                yield GateResult(gate, key, figure, answer_of(gate.threshold, figure))


def _figures(gate: Gate, groups: list[GroupSummary], pairs: list[PairSummary]) -> Iterator[tuple[GroupKey, Figure]]:
    """Yield the figure that a gate is about of each group, or of each comparison."""
    if gate.scope is GateScope.PAIR:
        yield from ((pair.candidate, figure_of_pair(pair, gate.figure)) for pair in pairs)
    else:
        yield from ((group.key, figure_of(group, gate.figure)) for group in groups)


def of_each_group(
    view: RunView, threshold: float, figure_of_group: Callable[[GroupSummary], Figure]
) -> list[GateResult]:
    """Answer a gate on a figure of every group; it is left open if every case was skipped."""
    asked = [(group, figure_of_group(group)) for group in gated(view)]
    measured = [
        GateResult(Gate(figure=figure.name, threshold=threshold), group.key, figure, answer_of(threshold, figure))
        for group, figure in asked
        if not group.counts.are_skipped
    ]
    if measured or not asked:
        return measured
    _, figure = asked[0]
    return left_open(view, Gate(figure=figure.name, threshold=threshold), figure, "every case was skipped")


def left_open(view: RunView, gate: Gate, figure: Figure, reason: str) -> list[GateResult]:
    """Leave a gate open for which nothing was measured: a run of nothing meets none."""
    return [GateResult(gate, group.key, figure, GateAnswer.INCONCLUSIVE, reason) for group in gated(view)[:1]]


def figure_of(group: GroupSummary, name: str) -> Figure:
    """A figure of a group by name; its value is unknown if neither the kernel nor the format gives it."""
    counts = group.counts
    match name:
        case GateFigure.PASS_RATE:
            rate, bounds = group.pass_rate.rate, group.pass_bounds
            return Figure(name=name, label="Pass rate", value=rate, unit="ratio", bounds=bounds)
        case GateFigure.FAILED:
            bounds = (counts.failed + counts.errors, counts.failed)
            return Figure(name=name, label="Failed trials", value=counts.failed, higher_is_better=False, bounds=bounds)
        case _:
            unknown = Figure(name=name, label=name, value=None)
            return next((figure for figure in group.figures if figure.name == name), unknown)


def figure_of_pair(pair: PairSummary, name: str) -> Figure:
    """A figure of a comparison by name; its value is unknown if the kernel does not give it."""
    if name == GateFigure.LIFT:
        return Figure(name=name, label="Lift", value=pair.lift, unit="ratio", bounds=pair.lift_bounds)
    return Figure(name=name, label=name, value=None, unit="ratio")


def answer_of(threshold: float, figure: Figure) -> GateAnswer:
    """Tell whether a figure reaches a threshold, at both of its ends."""
    ends = figure.bounds or (figure.value, figure.value)
    return agreed(_answer_of_end(threshold, end, figure) for end in ends)


def agreed(single_answers: Iterable[GateAnswer]) -> GateAnswer:
    """Return the answer that all of these are; inconclusive if they differ."""
    distinct = set(single_answers)
    return distinct.pop() if len(distinct) == 1 else GateAnswer.INCONCLUSIVE


def _answer_of_end(threshold: float, end: float | None, figure: Figure) -> GateAnswer:
    if end is None:
        return GateAnswer.INCONCLUSIVE
    if merit(end, figure) >= merit(threshold, figure):
        return GateAnswer.MET
    return GateAnswer.MISSED


def merit(value: float, figure: Figure) -> float:
    """Return a value of a figure so that more is better."""
    return value if figure.higher_is_better else -value
