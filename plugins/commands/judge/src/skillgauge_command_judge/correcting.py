"""Rates and lifts of judged checks as people would have found them, from labels of part of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from skillgauge.api.report import GroupKey, PairSummary, labels
from skillgauge.stats import (
    MIN_NEW_CASES,
    Labelled,
    RateInterval,
    Repeats,
    lift_interval,
)
from skillgauge_judge_labels import Judged

from .arm_errors import errors_in
from .correction import JudgedCase, correct_lift, correct_rate
from .documents import JudgedLift, JudgedRate

_Key = tuple[str, str, str]
UNINFORMED = "these labels do not tell good from bad"


def judged_rates(
    judged: Sequence[Judged], opinions: Mapping[_Key, bool], arms: Mapping[str, Labelled], seed: int
) -> tuple[JudgedRate, ...]:
    """Return the rate of each group, as judged and as people would have found it.

    Args:
        judged: the judged checks of a run.
        opinions: what people say of those that have a label.
        arms: the labels of each arm.
        seed: of the resampling.
    """
    groups = _by_group(judged)
    names = labels(list(groups))
    return tuple(
        _rate(group, name, groups[group], opinions, arms, seed) for group, name in zip(groups, names, strict=True)
    )


def _rate(
    group: GroupKey,
    name: str,
    by_case: Mapping[str, Sequence[Judged]],
    opinions: Mapping[_Key, bool],
    arms: Mapping[str, Labelled],
    seed: int,
) -> JudgedRate:
    means = [_share(checks) for checks in by_case.values()]
    errors = errors_in(group.arm, arms)
    cases = [judged_case(checks, opinions) for checks in by_case.values()]
    corrected = correct_rate(cases, errors, seed=seed)
    bounds = corrected.interval if corrected else None
    return JudgedRate(
        suite=group.suite_id,
        target=group.target_id,
        arm=group.arm,
        runner=group.runner,
        model=group.model,
        name=name,
        raw=RateInterval.of(means, repeats=max(map(len, by_case.values())), seed=seed),
        corrected=corrected.estimate if corrected else None,
        lower=bounds.lower if bounds else None,
        upper=bounds.upper if bounds else None,
    )


def judged_lifts(
    judged: Sequence[Judged],
    opinions: Mapping[_Key, bool],
    arms: Mapping[str, Labelled],
    pairs: Sequence[PairSummary],
    seed: int,
) -> tuple[JudgedLift, ...]:
    """Return the lift of each comparison, as judged and as people would have found it.

    Args:
        judged: the judged checks of a run.
        opinions: what people say of those that have a label.
        arms: the labels of each arm.
        pairs: the comparisons; one without a case that is judged in both arms has no lift.
        seed: of the resampling.
    """
    groups = _by_group(judged)
    names = labels([pair.candidate for pair in pairs])
    lifts = []
    for pair, name in zip(pairs, names, strict=True):
        ours, theirs = groups.get(pair.candidate, {}), groups.get(pair.baseline, {})
        rows = [(ours[case], theirs[case]) for case in ours if case in theirs]
        if rows:
            lifts.append(_lift(pair, name, rows, opinions, arms, seed))
    return tuple(lifts)


def _lift(
    pair: PairSummary,
    name: str,
    rows: Sequence[tuple[Sequence[Judged], Sequence[Judged]]],
    opinions: Mapping[_Key, bool],
    arms: Mapping[str, Labelled],
    seed: int,
) -> JudgedLift:
    group = pair.candidate
    raw = math.fsum(_share(ours) - _share(theirs) for ours, theirs in rows) / len(rows)
    raw_bounds = None
    if len(rows) >= MIN_NEW_CASES:
        raw_bounds = lift_interval(Counter((_repeats(ours), _repeats(theirs)) for ours, theirs in rows))
    cases = [(judged_case(ours, opinions), judged_case(theirs, opinions)) for ours, theirs in rows]
    reason = why_uncorrected(arms, group.arm, pair.baseline.arm)
    errors = errors_in(group.arm, arms), errors_in(pair.baseline.arm, arms)
    corrected = None if reason else correct_lift(cases, errors, seed=seed)
    bounds = corrected.interval if corrected else None
    return JudgedLift(
        suite=group.suite_id,
        target=group.target_id,
        runner=group.runner,
        model=group.model,
        arm=group.arm,
        baseline=pair.baseline.arm,
        name=name,
        n=len(rows),
        raw=raw,
        raw_lower=raw_bounds.lower if raw_bounds else None,
        raw_upper=raw_bounds.upper if raw_bounds else None,
        corrected=corrected.estimate if corrected else None,
        lower=bounds.lower if bounds else None,
        upper=bounds.upper if bounds else None,
        reason="" if corrected else reason or UNINFORMED,
    )


def why_uncorrected(arms: Mapping[str, Labelled], *compared: str) -> str:
    """Return the reason why no labels vouch for both arms of a comparison; empty if there is none."""
    missing = [arm for arm in compared if arm not in arms or not arms[arm].n]
    return f"there is no label of {' and '.join(missing)}" if missing else ""


def judged_case(checks: Sequence[Judged], opinions: Mapping[_Key, bool]) -> JudgedCase:
    """Count the judged checks of a case: as people say where there is a label, else as the judge does."""
    people = [opinions[one.key] for one in checks if one.key in opinions]
    judge = [one.passes for one in checks if one.key not in opinions]
    return JudgedCase(people.count(True), people.count(False), judge.count(True), judge.count(False))


def _by_group(judged: Sequence[Judged]) -> dict[GroupKey, dict[str, list[Judged]]]:
    groups: dict[GroupKey, dict[str, list[Judged]]] = {}
    for check in judged:
        groups.setdefault(check.group, {}).setdefault(check.case_id, []).append(check)
    return groups


def _repeats(checks: Sequence[Judged]) -> Repeats:
    return Repeats(sum(one.passes for one in checks), len(checks))


def _share(checks: Sequence[Judged]) -> float:
    return sum(one.passes for one in checks) / len(checks)
