"""Gates on comparisons: how much a skill has to help, whether it may not harm, and which verdicts fail the run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from itertools import product

from skillgauge_documents.frozen import Frozen

from ..report.wording import labels
from ..types.comparison import OutcomeCounts, PairSummary
from ..types.gate import Gate, GateFigure, GateScope
from ..types.result import Figure, RunView
from .gates import GateAnswer, GateResult, answer_of, answers, gated

_NAME = 80
_POINTS = 100.0


class LiftGate(StrEnum):
    """What the whole interval of a lift has to show."""

    BETTER = "better"
    NOT_WORSE = "not-worse"


class PairVerdict(StrEnum):
    """What the outcomes of all cases come to, errors left aside."""

    PASS = "pass"
    FAIL = "fail"
    MIXED = "mixed"
    ERROR = "error"


class PairDemands(Frozen):
    """What the user demands of the comparisons of a run."""

    min_delta_pts: float | None = None
    """Least lift, in points."""
    fail_on_verdict: tuple[PairVerdict, ...] = ()
    gate: LiftGate | None = None
    margin_pts: float = 0.0
    """Points that a lift may be below zero and is not worse, or has to be above zero to be better."""
    against_earlier: bool = False
    """Whether `gate` is asked of the change since an earlier run, and not of the lift."""

    @property
    def is_given(self) -> bool:
        """Whether anything is demanded."""
        return self.min_delta_pts is not None or bool(self.fail_on_verdict) or self.gate is not None


def pair_answers(view: RunView, demands: PairDemands) -> Iterator[GateResult]:
    """The answers of the gates on every comparison; where nothing was compared they are open."""
    of_lift = demands.gate if not demands.against_earlier else None
    if (demands.min_delta_pts is not None or demands.fail_on_verdict or of_lift) and not view.summary.pairs:
        for group in gated(view)[:1]:
            figure = Figure(name=GateFigure.LIFT, label="Lift", value=None)
            gate = Gate(figure=GateFigure.LIFT, threshold=0.0, scope=GateScope.PAIR)
            yield GateResult(gate, group.key, figure, GateAnswer.INCONCLUSIVE, "nothing was compared")
    if demands.min_delta_pts is not None:
        threshold = demands.min_delta_pts / _POINTS
        gate = Gate(figure=GateFigure.LIFT, threshold=threshold, scope=GateScope.PAIR)
        for suite in view.head.suites:
            yield from answers(view, suite.id, [gate])
    for pair in view.summary.pairs:
        if of_lift:
            yield _of_interval(pair, of_lift, demands.margin_pts)
        if demands.fail_on_verdict:
            yield _of_verdict(pair, demands.fail_on_verdict)


def _of_interval(pair: PairSummary, wanted: LiftGate, margin_pts: float) -> GateResult:
    """Met or missed if the whole interval for new cases says so, errors counted both ways; else open."""
    margin = margin_pts / _POINTS
    threshold = -margin if wanted is LiftGate.NOT_WORSE else math.nextafter(margin, 1.0)
    interval, lift = pair.evidence.interval if pair.evidence else None, pair.lift
    gate = Gate(figure=GateFigure.LIFT, threshold=threshold, scope=GateScope.PAIR)
    figure = Figure(name=GateFigure.LIFT, label="Lift", value=lift, unit="ratio")
    name = _name(pair)
    if interval is None or lift is None:
        told = f"{name}: too few cases to tell whether it is {wanted}"
        return GateResult(gate, pair.candidate, figure, GateAnswer.INCONCLUSIVE, told)
    worst, best = pair.lift_bounds or (lift, lift)
    bounds = (interval.lower + worst - lift, interval.upper + best - lift)
    found = answer_of(threshold, figure.model_copy(update={"bounds": bounds}))
    words = {GateAnswer.MET: "is", GateAnswer.MISSED: "is not", GateAnswer.INCONCLUSIVE: "may or may not be"}
    span = f"{bounds[0] * _POINTS:+.1f} to {bounds[1] * _POINTS:+.1f} points"
    beyond = f" by more than {margin_pts:g} points" if margin_pts else ""
    return GateResult(gate, pair.candidate, figure, found, f"{name} {words[found]} {wanted}{beyond} ({span})")


def verdict_of_pair(outcomes: OutcomeCounts) -> PairVerdict:
    """The verdict over all cases; errors are left aside, and alone make it an error."""
    good = outcomes.flip_to_pass + outcomes.pass_kept
    bad = outcomes.flip_to_fail + outcomes.fail_kept
    if good and bad:
        return PairVerdict.MIXED
    return PairVerdict.PASS if good else PairVerdict.FAIL if bad else PairVerdict.ERROR


def _of_verdict(pair: PairSummary, failing: tuple[PairVerdict, ...]) -> GateResult:
    """Whether the verdict fails the run, whatever the errors would have been."""
    outcomes = pair.outcomes
    verdict = verdict_of_pair(outcomes)
    possible = {verdict}
    if verdict is not PairVerdict.ERROR and outcomes.error:
        # One error can be good or bad; two or more can be both.
        ends = product((0, 1), repeat=2) if outcomes.error > 1 else ((0, 1), (1, 0))
        possible = {
            verdict_of_pair(
                outcomes.model_copy(
                    update={"pass_kept": outcomes.pass_kept + good, "fail_kept": outcomes.fail_kept + bad}
                )
            )
            for good, bad in ends
            if good or bad
        }
    fails = {one in failing for one in possible}
    answer = GateAnswer.INCONCLUSIVE if len(fails) > 1 else GateAnswer.MISSED if fails == {True} else GateAnswer.MET
    gate = Gate(figure="verdict", threshold=0.0, scope=GateScope.PAIR)
    figure = Figure(name="verdict", label="Verdict", value=None)
    told = f"{_name(pair)}: verdict {' or '.join(sorted(possible))}"
    return GateResult(gate, pair.candidate, figure, answer, told)


def _name(pair: PairSummary) -> str:
    return labels([pair.candidate], _NAME)[0]
