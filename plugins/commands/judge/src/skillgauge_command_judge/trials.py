"""Pass rates and lifts of trials as people would have found them, where one judged check decides a trial.

A label is of a check, and a rate is of trials. The errors of a judge on checks say how often it is wrong about a trial
only if the verdict of a trial rests on a single word of it: with several, their errors may come together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skillgauge.api import ScoreStatus, TrialResult, Verdict
from skillgauge.api.report import (
    CORRECTED_RATE,
    Figure,
    GroupKey,
    PairSummary,
    RunView,
    abridged_results,
    corrected_lift,
)
from skillgauge.stats import DISPLAY_RESAMPLES, Labelled, RateInterval
from skillgauge_judge_labels import judged_evidence

from .arm_errors import errors_in
from .correcting import UNINFORMED, why_uncorrected
from .correction import Corrected, JudgedCase, correct_lift, correct_rate

_Cases = Mapping[str, JudgedCase]
_SEVERAL = "the verdict of a trial rests on more than one judged check, or on a share of its checks"
_LEVEL = 0.95


def corrected_figures(view: RunView, arms: Mapping[str, Labelled]) -> Iterator[tuple[GroupKey, Figure]]:
    """Yield the corrected pass rate of each group that a judge graded, and the corrected lift of each comparison.

    Args:
        view: a run.
        arms: the labels of each arm, of a calibration that holds for the run.
    """
    trials = _Trials(view)
    compared = {key for pair in view.summary.pairs for key in (pair.candidate, pair.baseline)}
    for group in view.summary.groups:
        if group.key not in trials.judged:
            continue
        rate = _rate(view, group.key, trials, arms)
        if rate.value is not None or group.key not in compared:  # else the lift tells the reason once for both arms
            yield group.key, rate
    for pair in view.summary.pairs:
        if {pair.candidate, pair.baseline} & trials.judged:
            yield pair.candidate, _lift(view, pair, trials, arms)


def _rate(view: RunView, group: GroupKey, trials: _Trials, arms: Mapping[str, Labelled]) -> Figure:
    cases = trials.cases.get(group, {})
    reason = trials.why_uncorrectable(group) or why_uncorrected(arms, group.arm)
    corrected = None
    if not reason:
        corrected = correct_rate(list(cases.values()), errors_in(group.arm, arms), seed=view.head.seed)
    figure = Figure(name=CORRECTED_RATE, label="Pass rate, corrected for the judge's errors", value=None, unit="ratio")
    return _with(figure, corrected, len(cases), reason)


def _lift(view: RunView, pair: PairSummary, trials: _Trials, arms: Mapping[str, Labelled]) -> Figure:
    ours, theirs = trials.cases.get(pair.candidate, {}), trials.cases.get(pair.baseline, {})
    rows = [(ours[case], theirs[case]) for case in ours if case in theirs]
    compared = [key for key in (pair.candidate, pair.baseline) if key in trials.judged]
    reason = next(filter(None, map(trials.why_uncorrectable, compared)), "")
    reason = reason or why_uncorrected(arms, *(key.arm for key in compared))
    corrected = None
    if not reason:
        errors = errors_in(pair.candidate.arm, arms), errors_in(pair.baseline.arm, arms)
        level = 1.0 - pair.evidence.level if pair.evidence else _LEVEL
        resamples = max(DISPLAY_RESAMPLES, round(4 / (1.0 - level)))
        corrected = correct_lift(rows, errors, seed=view.head.seed, resamples=resamples, level=level)
    if corrected and pair.evidence and pair.evidence.clusters:
        corrected = Corrected(corrected.estimate, None)  # cases that come in clusters are fewer than they seem
    name, label = corrected_lift(pair.baseline.arm), f"Lift over {pair.baseline.arm}, corrected for the judge's errors"
    return _with(Figure(name=name, label=label, value=None, unit="lift"), corrected, len(rows), reason)


def _with(figure: Figure, corrected: Corrected | None, cases: int, reason: str) -> Figure:
    """The figure with its value, or with the reason why it has none."""
    if corrected is None:
        return figure.model_copy(update={"note": f"no {figure.label.lower()}: {reason or UNINFORMED}"})
    bounds = corrected.interval
    interval = RateInterval(corrected.estimate, cases)
    if bounds:
        interval = RateInterval(corrected.estimate, cases, bounds.lower, bounds.upper, bounds.level, str(bounds.method))
    return figure.model_copy(update={"value": corrected.estimate, "interval": interval})


class _Trials:
    """The graded trials of a run, case by case: those that are decided for certain, and those that a judge decided."""

    def __init__(self, view: RunView) -> None:
        self.cases: dict[GroupKey, dict[str, JudgedCase]] = {}
        self.judged: set[GroupKey] = set()
        self._uncorrectable: set[GroupKey] = set()
        for result in abridged_results(view.source):
            if result.verdict in (Verdict.PASS, Verdict.FAIL):
                self._add(result)

    def why_uncorrectable(self, group: GroupKey) -> str:
        """Return the reason why the judge's errors say nothing of the trials of a group; empty if there is none."""
        return _SEVERAL if group in self._uncorrectable else ""

    def _add(self, result: TrialResult) -> None:
        scores = [score for score in result.scores if not score.beside]
        judged = [score for score in scores if judged_evidence(score) is not None]
        passes = result.verdict is Verdict.PASS
        holds = [score.status is ScoreStatus.PASSED for score in scores]
        others_hold = all(score.status is ScoreStatus.PASSED for score in scores if score not in judged)
        if judged:
            self.judged.add(result.group)
        if judged and (passes is not all(holds) or (len(judged) > 1 and others_hold)):
            self._uncorrectable.add(result.group)
        elif judged and others_hold:
            self._count(result, JudgedCase(judge_passes=int(passes), judge_fails=int(not passes)))
        else:
            self._count(result, JudgedCase(known_pass=int(passes), known_fail=int(not passes)))

    def _count(self, result: TrialResult, trial: JudgedCase) -> None:
        cases = self.cases.setdefault(result.group, {})
        before = cases.get(result.case_id)
        cases[result.case_id] = before + trial if before else trial
