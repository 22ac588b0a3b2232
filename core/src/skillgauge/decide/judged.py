"""Gates on rates and lifts of which a judge decided checks."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from skillgauge_documents.phrases import percent, points, signed_points

from ..report.wording import labels
from ..types.arms import GroupKey
from ..types.decided import GateAnswer
from ..types.gate import GateFigure, GateScope
from ..types.judged_gates import CORRECTED, CORRECTED_RATE, JUDGED, JudgedGates, corrected_lift
from ..types.results.runs import RunView
from ..types.results.summaries import Figure
from .gates import GateResult, answer_of

_NAME = 80


def by_judge(
    view: RunView, results: Sequence[GateResult], judged: JudgedGates
) -> tuple[list[GateResult], list[GateResult]]:
    """Part gates that count from those that only advise: a judge decided a check of their group, or of its baseline.

    Args:
        view: the run.
        results: the answers of its gates.
        judged: the decisions that the user leaves to a judge. With `corrected` all gates count, and those that rest on
            a judge are asked of corrected figures.
    """
    if judged is JudgedGates.ALWAYS:
        return list(results), []
    groups = _groups_of_judges(view, any_judge=judged is not JudgedGates.CALIBRATED)
    resting = [result for result in results if _arms_of(view, result) & groups]
    if judged is JudgedGates.CORRECTED:
        return [_corrected(view, result) if result in resting else result for result in results], []
    return [result for result in results if result not in resting], resting


def why_uncalibrated(view: RunView, results: Sequence[GateResult]) -> str:
    """Return what some gates rest on, with the shortcomings of the judge."""
    return f"rests on a judge that is not calibrated (judgedGates: calibrated): {_doubts(view, results)}"


def _doubts(view: RunView, results: Sequence[GateResult]) -> str:
    groups = {key for result in results for key in _arms_of(view, result)}
    notes = [figure.note for figure in _figures_of(view, groups) if figure.name == JUDGED]
    return "; ".join(dict.fromkeys(filter(None, notes)))


def _figures_of(view: RunView, groups: Container[GroupKey]) -> Iterator[Figure]:
    return (figure for group in view.summary.groups if group.key in groups for figure in group.figures)


def _arms_of(view: RunView, result: GateResult) -> set[GroupKey]:
    """The groups that a gate is about: its own, and those that it is compared with."""
    return {result.group, *(pair.baseline for pair in view.summary.pairs if pair.candidate == result.group)}


def _groups_of_judges(view: RunView, *, any_judge: bool) -> set[GroupKey]:
    """Return the groups with checks that a judge decided; only those with a doubted one unless `any_judge`."""
    return {
        group.key
        for group in view.summary.groups
        if any(figure.name == JUDGED and (figure.note or any_judge) for figure in group.figures)
    }


def _corrected(view: RunView, result: GateResult) -> GateResult:
    """Ask a gate of the figure that people would have found."""
    scope = result.gate.scope, result.gate.figure
    if scope == (GateScope.PAIR, GateFigure.LIFT):
        return _of_lift(view, result)
    if scope == (GateScope.GROUP, GateFigure.PASS_RATE):
        return _of_rate(view, result)
    return _open(view, result, "only pass rates and lifts can be corrected for the errors of a judge")


def _of_rate(view: RunView, result: GateResult) -> GateResult:
    figure = _figure(view, result.group, CORRECTED_RATE)
    if figure is None or figure.value is None:
        return _missing(view, result)
    bounds = _shifted((figure.value, figure.value), result.figure)
    value, limit = f"pass rate {_WITHOUT_ERRORS}, {percent(figure.value)}", f"at least {percent(result.gate.threshold)}"
    return _asked_again(view, result, figure, bounds, value, limit)


def _of_lift(view: RunView, result: GateResult) -> GateResult:
    """Ask for a least lift of the estimate, and every other gate of the interval, as if no judge had decided."""
    pairs = [pair for pair in view.summary.pairs if (pair.candidate, pair.lift) == (result.group, result.figure.value)]
    if len(pairs) != 1:
        return _missing(view, result)
    figure = _figure(view, result.group, corrected_lift(pairs[0].baseline.arm))
    if figure is None or figure.value is None:
        return _missing(view, result)
    judged = result.figure.model_copy(update={"bounds": pairs[0].lift_bounds})
    value, limit = f"lift {_WITHOUT_ERRORS}, {points(figure.value)}", points(result.gate.threshold)
    if not result.told:
        bounds = _shifted((figure.value, figure.value), judged)
        return _asked_again(view, result, figure, bounds, value, f"at least {limit}")
    ends = _interval_of(figure)
    if ends is None:
        return _open(view, result, "too few cases for an interval of the lift that people would have found")
    lower, upper = _shifted(ends, judged)
    value += f" ({signed_points(lower)} to {signed_points(upper)})"
    return _asked_again(view, result, figure, (lower, upper), value, f"above {limit}")


def _asked_again(
    view: RunView, result: GateResult, figure: Figure, bounds: tuple[float, float], value: str, limit: str
) -> GateResult:
    """Ask a gate of a corrected figure, given its value and its limit in words."""
    answer = answer_of(result.gate.threshold, figure.model_copy(update={"bounds": bounds}))
    return _answered(view, result, figure, answer, f"{value}, {_WORDS[answer]} {limit}")


def _interval_of(figure: Figure) -> tuple[float, float] | None:
    interval = figure.interval
    if interval is None or interval.lower is None or interval.upper is None:
        return None
    return interval.lower, interval.upper


_WITHOUT_ERRORS = "corrected for the judge's errors"
_WORDS = {GateAnswer.MET: "is", GateAnswer.MISSED: "is not", GateAnswer.INCONCLUSIVE: "may or may not be"}


def _shifted(ends: tuple[float, float], judged: Figure) -> tuple[float, float]:
    """Move both ends as far as the trials that ended in an error could have moved the judged figure."""
    if judged.bounds is None or judged.value is None:
        return ends
    return ends[0] + judged.bounds[0] - judged.value, ends[1] + judged.bounds[1] - judged.value


def _figure(view: RunView, key: GroupKey, name: str) -> Figure | None:
    return next((figure for figure in _figures_of(view, {key}) if figure.name == name), None)


def _missing(view: RunView, result: GateResult) -> GateResult:
    """Leave a gate open whose figure could not be corrected, and say why."""
    figures = _figures_of(view, _arms_of(view, result))
    notes = [figure.note for figure in figures if figure.name.startswith(CORRECTED)]
    reasons = dict.fromkeys(filter(None, notes))
    reason = "; ".join(reasons) or _doubts(view, [result]) or "nothing says how the judge errs"
    return _open(view, result, reason)


def _open(view: RunView, result: GateResult, reason: str) -> GateResult:
    text = f"rests on a judge (judgedGates: corrected): {reason}"
    return _answered(view, result, result.figure, GateAnswer.INCONCLUSIVE, text)


def _answered(view: RunView, result: GateResult, figure: Figure, answer: GateAnswer, text: str) -> GateResult:
    (name,) = labels([result.group], _NAME)
    return GateResult(result.gate, result.group, figure, answer, f"{name}: {text}")
