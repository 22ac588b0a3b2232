"""Compare a judge with people, and correct what it says of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from skillgauge.api.report import GroupKey, counted, decimal, interval_text, labels, percent
from skillgauge.api.run import Output
from skillgauge.stats import (
    MIN_KAPPA,
    MIN_LABELS,
    Interval,
    Labelled,
    RateInterval,
    agreement,
    cohens_kappa,
    corrected_interval,
    corrected_rate,
    gwets_ac1,
    sensitivity,
    specificity,
)

from .documents import Calibration, JudgedRate
from .grading import Judged, JudgedRun

_Key = tuple[str, str, str]


def calibrate(run: JudgedRun, opinions: Mapping[_Key, bool], *, run_id: str, seed: int) -> Calibration:
    """Compare the judge of a run with labels.

    Args:
        run: what was judged in it.
        opinions: whether each labelled check passes, as people say: at least one, all of them judged in the run.
        run_id: its id.
        seed: of the resampling.
    """
    labelled_checks = {one.key: one for one in reversed(run.judged) if one.key in opinions}
    labelled = _counted([(one.passes, opinions[key]) for key, one in labelled_checks.items()])
    kappa = cohens_kappa(labelled)
    return Calibration(
        run_id=run_id,
        labels=labelled.n,
        cases=len({(one.group.suite_id, one.case_id) for one in labelled_checks.values()}),
        both_pass=labelled.both_pass,
        only_judge_passes=labelled.only_judge_passes,
        only_people_pass=labelled.only_people_pass,
        neither_passes=labelled.neither_passes,
        agreement=agreement(labelled) or 0.0,
        kappa=kappa,
        ac1=gwets_ac1(labelled) or 0.0,
        sensitivity=_rate(sensitivity(labelled), labelled.people_pass),
        specificity=_rate(specificity(labelled), labelled.people_fail),
        advisory=tuple(_doubts(labelled, kappa)),
        seed=seed,
        rates=_rates(run.judged, labelled, seed),
        graders=run.graders,
    )


def verdict(calibration: Calibration) -> str:
    """The calibration in one sentence, for the last line on stderr."""
    kappa = "undefined" if calibration.kappa is None else decimal(calibration.kappa)
    labels = counted(calibration.labels, "label")
    text = f"judge and people agree in {percent(calibration.agreement)} of {labels} (kappa {kappa})"
    return (
        f"{text}: the judge is advisory, since {'; '.join(calibration.advisory)}"
        if calibration.advisory
        else f"calibrated: {text}"
    )


def print_calibration(calibration: Calibration, output: Output) -> None:
    """The figures for people."""
    output.line(f"Labels: {calibration.labels} over {counted(calibration.cases, 'case')}")
    output.line(f"Agreement: {percent(calibration.agreement)}")
    output.line(f"Cohen's kappa: {decimal(calibration.kappa)}, Gwet's AC1: {decimal(calibration.ac1)}")
    for name, rate in (("Sensitivity", calibration.sensitivity), ("Specificity", calibration.specificity)):
        output.line(f"{name}: {_rate_text(rate)}")
    output.line()
    rows = [[one.name, _rate_text(one.raw, "case"), _corrected_text(one)] for one in calibration.rates]
    output.table(["Judged", "Passes, as judged", "Corrected"], rows)


def _doubts(labelled: Labelled, kappa: float | None) -> list[str]:
    doubts = []
    if labelled.n < MIN_LABELS:
        doubts.append(f"{counted(labelled.n, 'label')} are fewer than {MIN_LABELS}")
    if kappa is None:
        doubts.append("kappa is undefined where all labels are alike")
    elif kappa < MIN_KAPPA:
        doubts.append(f"kappa {decimal(kappa)} is below {decimal(MIN_KAPPA)}")
    return doubts


def _counted(pairs: Sequence[tuple[bool, bool]]) -> Labelled:
    return Labelled(
        both_pass=pairs.count((True, True)),
        only_judge_passes=pairs.count((True, False)),
        only_people_pass=pairs.count((False, True)),
        neither_passes=pairs.count((False, False)),
    )


def _rate(rate: tuple[float, Interval] | None, n: int) -> RateInterval:
    if rate is None:
        return RateInterval(rate=None, n=n)
    share, interval = rate
    return RateInterval(share, n, interval.lower, interval.upper, interval.level, str(interval.method))


def _rates(judged: Sequence[Judged], labelled: Labelled, seed: int) -> tuple[JudgedRate, ...]:
    cases: dict[GroupKey, dict[str, list[bool]]] = {}
    for decision in judged:
        cases.setdefault(decision.group, {}).setdefault(decision.case_id, []).append(decision.passes)
    names = labels(list(cases))
    return tuple(
        _group_rate(group, name, list(by_case.values()), labelled, seed)
        for (group, by_case), name in zip(cases.items(), names, strict=True)
    )


def _group_rate(
    group: GroupKey, name: str, by_case: Sequence[Sequence[bool]], labelled: Labelled, seed: int
) -> JudgedRate:
    means = [sum(passes) / len(passes) for passes in by_case]
    sensitive, specific = sensitivity(labelled), specificity(labelled)
    mean = math.fsum(means) / len(means)
    corrected = corrected_rate(mean, sensitive[0], specific[0]) if sensitive and specific else None
    bounds = corrected_interval(means, labelled, seed=seed)
    return JudgedRate(
        suite=group.suite_id,
        target=group.target_id,
        arm=group.arm,
        runner=group.runner,
        model=group.model,
        name=name,
        raw=RateInterval.of(means, repeats=max(map(len, by_case)), seed=seed),
        corrected=corrected,
        lower=bounds.lower if bounds else None,
        upper=bounds.upper if bounds else None,
    )


def _rate_text(rate: RateInterval, unit: str = "label") -> str:
    if rate.rate is None:
        return f"{percent(None)} (n = {rate.n})"
    return f"{percent(rate.rate)} (n = {counted(rate.n, unit)}, {interval_text(rate)})"


def _corrected_text(rate: JudgedRate) -> str:
    if rate.corrected is None:
        return "unknown: these labels do not tell good from bad"
    if rate.lower is None or rate.upper is None:
        return f"{percent(rate.corrected)} (too few cases for an interval)"
    return f"{percent(rate.corrected)} ({percent(rate.lower)} to {percent(rate.upper)})"
