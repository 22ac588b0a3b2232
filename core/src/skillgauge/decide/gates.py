"""Answer the gates of a run: figures of the kernel's own summary, or of the suite's format, against thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from skillgauge_documents.immutables import immutable

from ..types.arms import GroupKey
from ..types.comparison import PairSummary
from ..types.decided import GateAnswer
from ..types.gate import Gate, GateFigure, GateScope
from ..types.result import Figure, GroupSummary, RunView


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
    suites = view.head.suites_by_id
    return tuple(
        group
        for group in view.summary.groups
        if group.suite_id not in suites or not suites[group.suite_id].is_baseline(group.arm)
    )


def skipped_groups(view: RunView) -> set[GroupKey]:
    """The groups of which every trial was skipped: they gate nothing."""
    return {group.key for group in view.summary.groups if group.counts.are_skipped}


def answers(view: RunView, gates: Mapping[str, Sequence[Gate]]) -> Iterator[GateResult]:
    """The answers of gates, which are given by the suite that they are about."""
    skipped = skipped_groups(view)
    groups: dict[str, list[GroupSummary]] = {}
    for group in gated(view):
        if group.key not in skipped:
            groups.setdefault(group.suite_id, []).append(group)
    pairs: dict[str, list[PairSummary]] = {}
    for pair in view.summary.pairs:
        if pair.candidate not in skipped:
            pairs.setdefault(pair.candidate.suite_id, []).append(pair)
    for suite_id, of_suite in gates.items():
        for gate in of_suite:
            if gate.scope is GateScope.PAIR:
                figures = [(pair.candidate, figure_of_pair(pair, gate.figure)) for pair in pairs.get(suite_id, ())]
            else:
                figures = [(group.key, figure_of(group, gate.figure)) for group in groups.get(suite_id, ())]
            for key, figure in figures:
                yield GateResult(gate, key, figure, answer_of(gate.threshold, figure))


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
    answers_of_ends = {_answer_of_end(threshold, end, figure) for end in ends}
    return answers_of_ends.pop() if len(answers_of_ends) == 1 else GateAnswer.INCONCLUSIVE


def _answer_of_end(threshold: float, end: float | None, figure: Figure) -> GateAnswer:
    if end is None:
        return GateAnswer.INCONCLUSIVE
    meets = end >= threshold if figure.higher_is_better else end <= threshold
    return GateAnswer.MET if meets else GateAnswer.MISSED
