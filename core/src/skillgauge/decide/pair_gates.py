"""Gates on comparisons: how much a skill has to help, whether it may not harm, and which verdicts fail the run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum

from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import chance_text, points

from ..report.answer import span_text
from ..report.wording import labels
from ..stats import Evidence
from ..types.comparison import OutcomeCounts, PairSummary
from ..types.decided import GateAnswer
from ..types.gate import CaseScope, Gate, GateFigure, GateScope
from ..types.results.runs import RunView
from ..types.results.summaries import Figure
from .gates import GateResult, agreed, answer_of, figure_of_pair, gated_pairs, left_open

_NAME = 80
_POINTS = 100.0


class LiftGate(StrEnum):
    """A demand on the whole interval of a lift."""

    BETTER = "better"
    NOT_WORSE = "not-worse"
    NO_REGRESSION = "no-regression"
    """Not worse beyond chance than an earlier run; what cannot be told meets it."""

    def threshold(self, margin: float) -> float:
        """Return the least difference that meets the gate."""
        return math.nextafter(margin, 1.0) if self is LiftGate.BETTER else -margin


class PairVerdict(StrEnum):
    """The verdict over the outcomes of all cases, errors left aside."""

    PASS = "pass"
    FAIL = "fail"
    MIXED = "mixed"
    ERROR = "error"


class PairDemands(Frozen):
    """The demands of the user on the comparisons of a run."""

    min_delta_pts: float | None = None
    """Least lift, in points."""
    fail_on_verdict: tuple[PairVerdict, ...] = ()
    gates: tuple[LiftGate, ...] = ()
    """What every lift has to show."""
    margin_pts: float = 0.0
    """Points that a lift may be below zero and is not worse, or has to be above zero to be better."""
    scope: CaseScope = CaseScope.THESE
    """The cases that all these demands ask about."""
    against_earlier: bool = False
    """Whether `gates` are asked of the change since an earlier run, and not of the lift."""

    @property
    def is_given(self) -> bool:
        """True if anything is demanded."""
        return self.are_about_pairs or bool(self.gates)

    @property
    def lift_gates(self) -> tuple[LiftGate, ...]:
        """The gates on the lift; none if `gates` are asked of the change since an earlier run."""
        return () if self.against_earlier else self.gates

    @property
    def are_about_pairs(self) -> bool:
        """Whether anything is demanded of the comparisons of the run itself."""
        return self.min_delta_pts is not None or bool(self.fail_on_verdict) or bool(self.lift_gates)


def pair_answers(view: RunView, demands: PairDemands) -> Iterator[GateResult]:
    """The answers of the gates on every comparison; where nothing was compared they are open."""
    pairs = gated_pairs(view)
    if demands.are_about_pairs and not pairs:
        gate = Gate(figure=GateFigure.LIFT, threshold=0.0, scope=GateScope.PAIR)
        yield from left_open(view, gate, Figure(name=gate.figure, label="Lift", value=None), "nothing was compared")
    if demands.min_delta_pts is not None:
        for pair in pairs:
            yield of_least_lift(pair, demands.min_delta_pts, demands.scope)
    for pair in pairs:
        for wanted in demands.lift_gates:
            yield of_interval(pair, wanted, demands.margin_pts, demands.scope)
        if demands.fail_on_verdict:
            yield _of_verdict(pair, demands.fail_on_verdict)


def of_least_lift(pair: PairSummary, points_wanted: float, scope: CaseScope) -> GateResult:
    """Met if the lift is large enough, whatever the errors would have been, and no work of chance.

    Args:
        pair: the comparison.
        points_wanted: least lift, in points.
        scope: the cases for which chance has to be excluded, where a lift above zero is wanted.
    """
    gate = Gate(figure=GateFigure.LIFT, threshold=points_wanted / _POINTS, scope=GateScope.PAIR)
    figure = figure_of_pair(pair, GateFigure.LIFT)
    answer = answer_of(gate.threshold, figure)
    evidence = pair.evidence
    if answer is not GateAnswer.MET or evidence is None or points_wanted <= 0 or _is_shown(evidence, scope):
        return GateResult(gate, pair.candidate, figure, answer)
    message = f"{_name(pair)}: {points(evidence.estimate)} may be chance {scope.text} ({_chance_text(evidence, scope)})"
    return GateResult(gate, pair.candidate, figure, GateAnswer.INCONCLUSIVE, message)


def _is_shown(evidence: Evidence, scope: CaseScope) -> bool:
    return evidence.is_found and (scope is CaseScope.THESE or evidence.is_general)


def _chance_text(evidence: Evidence, scope: CaseScope) -> str:
    chance = {CaseScope.THESE: evidence.chance, CaseScope.NEW: evidence.chance_new}[scope]
    if chance is None:
        return "too few cases to tell"
    return chance_text(chance)


def of_interval(pair: PairSummary, wanted: LiftGate, margin_pts: float, scope: CaseScope) -> GateResult:
    """Met or missed if the whole interval says so, errors counted both ways; else open.

    Args:
        pair: the comparison.
        wanted: the demand.
        margin_pts: its margin, in points.
        scope: the cases that the interval is for.
    """
    threshold = wanted.threshold(margin_pts / _POINTS)
    gate = Gate(figure=GateFigure.LIFT, threshold=threshold, scope=GateScope.PAIR)
    figure = Figure(name=GateFigure.LIFT, label="Lift", value=pair.lift, unit="ratio")
    bounds = interval_bounds(pair.evidence, pair.lift_bounds, scope)
    if bounds is None:
        message = f"{_name(pair)}: too few cases to tell whether it is {_NOUNS[wanted]} {scope.text}"
        return GateResult(gate, pair.candidate, figure, GateAnswer.INCONCLUSIVE, message)
    answer = answer_of(threshold, figure.model_copy(update={"bounds": bounds}))
    predicate = f"{WORDS[wanted, answer]}{beyond_text(margin_pts)} {scope.text}"
    message = f"{_name(pair)} {predicate} ({span_text(bounds)})"
    return GateResult(gate, pair.candidate, figure, answer, message)


def beyond_text(margin_pts: float) -> str:
    """Name the margin of a gate within its sentence; empty without one."""
    return f" by more than {margin_pts:g} points" if margin_pts else ""


_NOUNS = {LiftGate.BETTER: "better", LiftGate.NOT_WORSE: "worse"}
WORDS = {
    (LiftGate.NOT_WORSE, GateAnswer.MET): "is not worse",
    (LiftGate.NOT_WORSE, GateAnswer.MISSED): "is worse",
    (LiftGate.NOT_WORSE, GateAnswer.INCONCLUSIVE): "may or may not be worse",
    (LiftGate.BETTER, GateAnswer.MET): "is better",
    (LiftGate.BETTER, GateAnswer.MISSED): "is not better",
    (LiftGate.BETTER, GateAnswer.INCONCLUSIVE): "may or may not be better",
}
"""The predicate of each gate with each answer."""


def interval_bounds(
    evidence: Evidence | None, error_bounds: tuple[float, float] | None, scope: CaseScope
) -> tuple[float, float] | None:
    """Return the bounds of a difference, errors counted both ways; `None` if there are too few cases for any.

    Args:
        evidence: the difference over all cases.
        error_bounds: the difference if all errors had gone against the candidate, and if all had gone for it.
        scope: the cases that they are for.
    """
    if evidence is None:
        return None
    interval = {CaseScope.THESE: evidence.strict_here, CaseScope.NEW: evidence.strict}[scope]
    if interval is None:
        return None
    worst, best = error_bounds or (evidence.estimate, evidence.estimate)
    return interval.lower + worst - evidence.estimate, interval.upper + best - evidence.estimate


def verdict_of_pair(outcomes: OutcomeCounts) -> PairVerdict:
    """The verdict over all cases; errors are left aside, and alone make it an error."""
    good = outcomes.flip_to_pass + outcomes.pass_kept
    bad = outcomes.flip_to_fail + outcomes.fail_kept
    return _VERDICTS[good > 0, bad > 0]


_VERDICTS = {
    (True, True): PairVerdict.MIXED,
    (True, False): PairVerdict.PASS,
    (False, True): PairVerdict.FAIL,
    (False, False): PairVerdict.ERROR,
}
"""By whether any case went well, and whether any went badly."""


def _of_verdict(pair: PairSummary, failing: tuple[PairVerdict, ...]) -> GateResult:
    """Tell whether the verdict fails the run, whatever the errors would have been."""
    possible = _possible_verdicts(pair.outcomes)
    answer = agreed(GateAnswer.MISSED if verdict in failing else GateAnswer.MET for verdict in possible)
    gate = Gate(figure="verdict", threshold=0.0, scope=GateScope.PAIR)
    figure = Figure(name="verdict", label="Verdict", value=None)
    message = f"{_name(pair)}: verdict {' or '.join(sorted(possible))}"
    return GateResult(gate, pair.candidate, figure, answer, message)


def _possible_verdicts(outcomes: OutcomeCounts) -> set[PairVerdict]:
    """Return the verdicts that are possible, since each error could have gone well or badly.

    Beside a case that was graded, one error shows all that several could: the verdict stays or becomes mixed.
    """
    verdict = verdict_of_pair(outcomes)
    if verdict is PairVerdict.ERROR or not outcomes.error:
        return {verdict}
    return {verdict_of_pair(_with_outcomes(outcomes, good, 1 - good)) for good in (0, 1)}


def _with_outcomes(outcomes: OutcomeCounts, good: int, bad: int) -> OutcomeCounts:
    return outcomes.model_copy(update={"pass_kept": outcomes.pass_kept + good, "fail_kept": outcomes.fail_kept + bad})


def _name(pair: PairSummary) -> str:
    return labels([pair.candidate], _NAME)[0]
