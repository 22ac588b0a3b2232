"""Answer the gates of a run: figures of the kernel's own summary, or of the suite's format, against thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..types.comparison import GroupKey, PairSummary
from ..types.gate import Gate, GateFigure, GateScope
from ..types.result import Figure, GroupSummary, RunView


class GateAnswer(StrEnum):
    """What a gate says. Trials that ended in an error count both ways."""

    MET = "met"
    """Whatever the trials had given that ended in an error."""
    MISSED = "missed"
    """The same."""
    INCONCLUSIVE = "inconclusive"
    """The errors leave it open, or nothing was measured."""


@dataclass(frozen=True)
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
    suites = {suite.id: suite for suite in view.head.suites}
    return tuple(
        group
        for group in view.summary.groups
        if group.suite_id not in suites or not suites[group.suite_id].is_baseline(group.arm)
    )


def answers(view: RunView, suite_id: str, gates: Sequence[Gate]) -> Iterator[GateResult]:
    """The answers of gates about one suite."""
    groups = [group for group in gated(view) if group.suite_id == suite_id]
    pairs = [pair for pair in view.summary.pairs if pair.candidate.suite_id == suite_id]
    for gate in gates:
        if gate.scope is GateScope.PAIR:
            found = [(pair.candidate, _of_pair(pair, gate.figure)) for pair in pairs]
        else:
            found = [(group.key, figure_of(group, gate.figure)) for group in groups]
        for key, figure in found:
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


def _of_pair(pair: PairSummary, name: str) -> Figure:
    known = name == GateFigure.LIFT
    value, bounds = (pair.lift, pair.lift_bounds) if known else (None, None)
    return Figure(name=name, label="Lift" if known else name, value=value, unit="ratio", bounds=bounds)


def answer_of(threshold: float, figure: Figure) -> GateAnswer:
    """Whether a figure reaches a threshold, at both of its ends."""
    if figure.bounds is None and figure.value is None:
        return GateAnswer.INCONCLUSIVE
    worst, best = figure.bounds or (figure.value or 0.0, figure.value or 0.0)
    meets = [end >= threshold if figure.higher_is_better else end <= threshold for end in (worst, best)]
    if meets[0] == meets[1]:
        return GateAnswer.MET if meets[0] else GateAnswer.MISSED
    return GateAnswer.INCONCLUSIVE
