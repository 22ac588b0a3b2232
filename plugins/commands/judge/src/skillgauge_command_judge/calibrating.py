"""Compare a judge with people, arm by arm, and correct what it says of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from skillgauge.api.report import (
    PairSummary,
    chance_text,
    counted,
    decimal,
    interval_text,
    listed,
    percent,
    points,
    signed_points,
)
from skillgauge.api.run import Output
from skillgauge.stats import (
    MIN_KAPPA,
    MIN_LABELS,
    Interval,
    Labelled,
    RateInterval,
    agreement,
    cohens_kappa,
    gwets_ac1,
    sensitivity,
    specificity,
)
from skillgauge_judge_labels import Judged, JudgedRun

from .arm_errors import MIN_ARM_LABELS, ErrorComparison, ErrorKind, compare_errors
from .correcting import judged_lifts, judged_rates
from .documents import ArmLabels, Calibration, JudgedLift, JudgedRate

_Key = tuple[str, str, str]


def calibrate(
    run: JudgedRun, opinions: Mapping[_Key, bool], *, run_id: str, seed: int, pairs: Sequence[PairSummary] = ()
) -> Calibration:
    """Compare the judge of a run with labels.

    Args:
        run: what was judged in it.
        opinions: whether each labelled check passes, as people say: at least one, all of them judged in the run.
        run_id: its id.
        seed: of the resampling.
        pairs: the comparisons of the run.
    """
    labelled_checks = {one.key: one for one in reversed(run.judged) if one.key in opinions}
    labelled = _counted(labelled_checks.values(), opinions)
    kappa = cohens_kappa(labelled)
    by_arm = {
        arm: _counted([one for one in labelled_checks.values() if one.group.arm == arm], opinions)
        for arm in dict.fromkeys(one.group.arm for one in run.judged)
    }
    comparisons = compare_errors(by_arm)
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
        arms=tuple(_arm(name, counts) for name, counts in by_arm.items()),
        comparisons=comparisons,
        advisory=(*_doubts(labelled, kappa), *_doubts_of_arms(by_arm), *differences(comparisons)),
        seed=seed,
        rates=judged_rates(run.judged, opinions, by_arm, seed),
        lifts=judged_lifts(run.judged, opinions, by_arm, pairs, seed),
        graders=run.graders,
    )


def differences(comparisons: Sequence[ErrorComparison]) -> tuple[str, ...]:
    """Return the errors that differ between arms, each in words with its counts."""
    return tuple(_difference(one) for one in comparisons if one.differs)


def _difference(pair: ErrorComparison) -> str:
    if pair.kind is ErrorKind.FALSE_PASS:
        error = "of what people fail it passes"
    else:
        error = "of what people pass it fails"
    shares = (
        f"{wrong} of {n} in {arm}"
        for wrong, n, arm in (
            (pair.first_wrong, pair.first_labels, pair.first_arm),
            (pair.second_wrong, pair.second_labels, pair.second_arm),
        )
    )
    return f"its errors differ between arms: {error} {' and '.join(shares)} ({chance_text(pair.chance)})"


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
    if len(calibration.arms) > 1:
        output.line()
        rows = [[one.arm, _rate_text(one.sensitivity), _rate_text(one.specificity)] for one in calibration.arms]
        output.table(["Arm", "Sensitivity", "Specificity"], rows)
    output.line()
    rows = [[one.name, _rate_text(one.raw, "case"), _corrected_text(one)] for one in calibration.rates]
    output.table(["Judged", "Passes, as judged", "Corrected"], rows)
    if calibration.lifts:
        output.line()
        rows = [
            [f"{one.name} against {one.baseline}", _lift_text(one), _corrected_lift_text(one)]
            for one in calibration.lifts
        ]
        output.table(["Lift of judged checks", "As judged", "Corrected"], rows)


def _doubts(labelled: Labelled, kappa: float | None) -> list[str]:
    doubts = []
    if labelled.n < MIN_LABELS:
        doubts.append(f"{counted(labelled.n, 'label')} are fewer than {MIN_LABELS}")
    if kappa is None:
        doubts.append("kappa is undefined where all labels are alike")
    elif kappa < MIN_KAPPA:
        doubts.append(f"kappa {decimal(kappa)} is below {decimal(MIN_KAPPA)}")
    return doubts


def _doubts_of_arms(by_arm: Mapping[str, Labelled]) -> list[str]:
    """Return the doubts of a run with several arms: too few labels of one leave open whether the judge favours it."""
    few = {arm: labelled.n for arm, labelled in by_arm.items() if labelled.n < MIN_ARM_LABELS}
    if len(by_arm) < 2 or not few:
        return []
    counts = listed(f"{counted(n, 'label')} of {arm}" for arm, n in few.items())
    return [f"whether it favours an arm is unknown: {counts}, {MIN_ARM_LABELS} are needed"]


def _counted(judged: Iterable[Judged], opinions: Mapping[_Key, bool]) -> Labelled:
    pairs = [(one.passes, opinions[one.key]) for one in judged]
    return Labelled(
        both_pass=pairs.count((True, True)),
        only_judge_passes=pairs.count((True, False)),
        only_people_pass=pairs.count((False, True)),
        neither_passes=pairs.count((False, False)),
    )


def _arm(name: str, labelled: Labelled) -> ArmLabels:
    return ArmLabels(
        arm=name,
        both_pass=labelled.both_pass,
        only_judge_passes=labelled.only_judge_passes,
        only_people_pass=labelled.only_people_pass,
        neither_passes=labelled.neither_passes,
        sensitivity=_rate(sensitivity(labelled), labelled.people_pass),
        specificity=_rate(specificity(labelled), labelled.people_fail),
    )


def _rate(rate: tuple[float, Interval] | None, n: int) -> RateInterval:
    if rate is None:
        return RateInterval(rate=None, n=n)
    share, interval = rate
    return RateInterval(share, n, interval.lower, interval.upper, interval.level, str(interval.method))


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


def _lift_text(lift: JudgedLift) -> str:
    cases = f"n = {counted(lift.n, 'case')}"
    return f"{points(lift.raw)} ({cases}, {_span_text(lift.raw_lower, lift.raw_upper)})"


def _corrected_lift_text(lift: JudgedLift) -> str:
    if lift.corrected is None:
        return f"unknown: {lift.reason}"
    return f"{points(lift.corrected)} ({_span_text(lift.lower, lift.upper)})"


def _span_text(lower: float | None, upper: float | None) -> str:
    if lower is None or upper is None:
        return "too few cases for an interval"
    return f"{signed_points(lower)} to {signed_points(upper)}"
