"""Gates on rates and lifts of which a judge decided checks."""

from __future__ import annotations

from collections.abc import Sequence

from skillgauge_documents.phrases import percent, points, signed_points

from ..report.wording import labels
from ..types.arms import GroupKey
from ..types.decided import GateAnswer
from ..types.gate import GateFigure, GateScope
from ..types.judged_gates import CORRECTED, CORRECTED_RATE, JUDGED, JudgedGates, corrected_lift
from ..types.result import Figure, GroupSummary, RunView
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
    figures = [figure for group in view.summary.groups if group.key in groups for figure in group.figures]
    return "; ".join(dict.fromkeys(figure.note for figure in figures if figure.name == JUDGED and figure.note))


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
        return _open(view, result, _why_missing(view, result))
    bounds = _shifted((figure.value, figure.value), result.figure)
    answer = answer_of(result.gate.threshold, figure.model_copy(update={"bounds": bounds}))
    text = f"pass rate corrected for the judge's errors, {percent(figure.value)}, {_WORDS[answer]}"
    return _answered(view, result, figure, answer, f"{text} at least {percent(result.gate.threshold)}")


def _of_lift(view: RunView, result: GateResult) -> GateResult:
    """Ask for a least lift of the estimate, and every other gate of the interval, as if no judge had decided."""
    pairs = [pair for pair in view.summary.pairs if (pair.candidate, pair.lift) == (result.group, result.figure.value)]
    figures = [_figure(view, pair.candidate, corrected_lift(pair.baseline.arm)) for pair in pairs]
    figure = figures[0] if len(figures) == 1 else None
    if figure is None or figure.value is None:
        return _open(view, result, _why_missing(view, result))
    asks_interval = bool(result.told)
    ends = _interval_of(figure) if asks_interval else (figure.value, figure.value)
    if ends is None:
        return _open(view, result, "too few cases for an interval of the lift that people would have found")
    bounds = _shifted(ends, result.figure.model_copy(update={"bounds": pairs[0].lift_bounds}))
    answer = answer_of(result.gate.threshold, figure.model_copy(update={"bounds": bounds}))
    span = f" ({signed_points(bounds[0])} to {signed_points(bounds[1])})" if asks_interval else ""
    relation = "above" if asks_interval else "at least"
    text = f"lift corrected for the judge's errors, {points(figure.value)}{span}, {_WORDS[answer]} {relation}"
    return _answered(view, result, figure, answer, f"{text} {points(result.gate.threshold)}")


def _interval_of(figure: Figure) -> tuple[float, float] | None:
    interval = figure.interval
    if interval is None or interval.lower is None or interval.upper is None:
        return None
    return interval.lower, interval.upper


_WORDS = {GateAnswer.MET: "is", GateAnswer.MISSED: "is not", GateAnswer.INCONCLUSIVE: "may or may not be"}


def _shifted(ends: tuple[float, float], judged: Figure) -> tuple[float, float]:
    """Move both ends as far as the trials that ended in an error could have moved the judged figure."""
    if judged.bounds is None or judged.value is None:
        return ends
    return ends[0] + judged.bounds[0] - judged.value, ends[1] + judged.bounds[1] - judged.value


def _figure(view: RunView, key: GroupKey, name: str) -> Figure | None:
    groups: list[GroupSummary] = [group for group in view.summary.groups if group.key == key]
    return next((figure for group in groups for figure in group.figures if figure.name == name), None)


def _why_missing(view: RunView, result: GateResult) -> str:
    groups = [group for group in view.summary.groups if group.key in _arms_of(view, result)]
    notes = [figure.note for group in groups for figure in group.figures if figure.name.startswith(CORRECTED)]
    reasons = dict.fromkeys(filter(None, notes))
    return "; ".join(reasons) or _doubts(view, [result]) or "nothing says how the judge errs"


def _open(view: RunView, result: GateResult, reason: str) -> GateResult:
    text = f"rests on a judge (judgedGates: corrected): {reason}"
    return _answered(view, result, result.figure, GateAnswer.INCONCLUSIVE, text)


def _answered(view: RunView, result: GateResult, figure: Figure, answer: GateAnswer, text: str) -> GateResult:
    (name,) = labels([result.group], _NAME)
    return GateResult(result.gate, result.group, figure, answer, f"{name}: {text}")
