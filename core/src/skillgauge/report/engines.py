"""Engines and models beside each other: the lifts and the pass rates of each two of them, case by case."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from ..stats import (
    RARE,
    Interval,
    Repeats,
    TwiceRun,
    chance_of_difference,
    holm,
    interval_here,
    lift_difference_chance,
    lift_difference_interval,
)
from ..types.arms import GroupKey
from ..types.comparison import CasePair, CaseSummary, EnginePair

Compared = tuple[CasePair, CaseSummary | None, CaseSummary | None]
"""A comparison of two arms on one case, with what each of them made of it."""
Ends = tuple[GroupKey, GroupKey, str | None]
"""The candidate arms of two engines, and the baseline arm of both; `None` where their pass rates are compared."""

_Ended = tuple[GroupKey, Repeats, Repeats | None]
"""A candidate arm, and how a case ended in it and in the baseline arm, if that is compared."""


@dataclass(frozen=True, slots=True)
class _Difference:
    """The difference of two engines over the cases that both have."""

    n: int
    estimate: float
    chance: float
    adjusted: float
    """The chance, allowing for all comparisons of the same board."""
    interval: Interval
    """Together with those of the same board; it excludes 0 where the adjusted chance is small."""


class _NoDifference(NamedTuple):
    """In place of a difference where nothing is compared."""

    n: int = 0
    estimate: None = None
    chance: None = None
    adjusted: None = None
    interval: None = None


_NO_DIFFERENCE = _NoDifference()


class EngineTally:
    """Adds up the cases of every two engines that ran the same arm."""

    def __init__(self) -> None:
        self._cases: dict[Ends, Counter[TwiceRun]] = defaultdict(Counter)
        """The first engine stands for the second run; without a baseline arm there is no control."""

    def add(self, candidates: Mapping[GroupKey, CaseSummary], compared: Iterable[Compared]) -> None:
        """Take a case.

        Args:
            candidates: its repeats in every arm that is no mere baseline.
            compared: all comparisons of it.
        """
        ran: dict[tuple[str | None, str, str | None], list[_Ended]] = defaultdict(list)
        for group, summary in candidates.items():
            if repeats := _repeats(summary):
                ran[group.target_id, group.arm, None].append((group, repeats, None))
        for pair, ours, theirs in compared:
            candidate, baseline = _repeats(ours), _repeats(theirs)
            if candidate and baseline:
                group = pair.candidate
                ran[group.target_id, group.arm, pair.baseline.arm].append((group, candidate, baseline))
        for (_, _, arm), engines in ran.items():
            engines.sort(key=lambda engine: (engine[0].runner, engine[0].model or ""))
            for (first, passed, control), (second, its_passed, its_control) in combinations(engines, 2):
                self._cases[first, second, arm][TwiceRun(its_passed, passed, its_control, control)] += 1

    @property
    def pairs(self) -> Iterator[EnginePair]:
        """Every two engines, with their differences."""
        differences = dict(self._differences())
        lifted = {ends[:2] for ends in differences if ends[2] is not None}
        for (first, second, baseline), difference in differences.items():
            if baseline is None and (first, second) in lifted:
                continue
            lift = _NO_DIFFERENCE if baseline is None else difference
            passed = differences[first, second, None]
            yield EnginePair(
                first=first,
                second=second,
                baseline=baseline,
                n=lift.n,
                lift=lift.estimate,
                lift_chance=lift.chance,
                lift_adjusted=lift.adjusted,
                lift_interval=lift.interval,
                passed_n=passed.n,
                passed=passed.estimate,
                passed_chance=passed.chance,
                passed_adjusted=passed.adjusted,
                passed_interval=passed.interval,
            )

    def _differences(self) -> Iterator[tuple[Ends, _Difference]]:
        boards: dict[tuple[str, str | None, str, str | None], list[Ends]] = defaultdict(list)
        for first, second, baseline in self._cases:
            boards[first.suite_id, first.target_id, first.arm, baseline].append((first, second, baseline))
        for ends in boards.values():
            chances = [_chance(self._cases[engines]) for engines in ends]
            for engines, chance, adjusted in zip(ends, chances, holm(chances), strict=True):
                yield engines, _difference(self._cases[engines], chance, adjusted, len(ends))


def _chance(cases: Counter[TwiceRun]) -> float:
    if _has_control(cases):
        return lift_difference_chance(list(cases.elements()))
    return chance_of_difference(_passes(cases))


def _difference(cases: Counter[TwiceRun], chance: float, adjusted: float, comparisons: int) -> _Difference:
    """Return the difference of two engines, one of so many comparisons."""
    level, demand = 1.0 - RARE / comparisons, adjusted / comparisons
    if _has_control(cases):
        interval = lift_difference_interval(list(cases.elements()), level, demand)
    else:
        interval = interval_here(_passes(cases), level, demand)
    n = cases.total()
    estimate = math.fsum(_of_case(case) * count for case, count in cases.items()) / n
    return _Difference(n, estimate, chance, adjusted, interval)


def _of_case(case: TwiceRun) -> float:
    change = case.after.share - case.before.share
    if case.control is None:
        return change
    before, after = case.control
    return change - (after.share - before.share)


def _has_control(cases: Counter[TwiceRun]) -> bool:
    return next(iter(cases)).control is not None


def _passes(cases: Counter[TwiceRun]) -> Counter[tuple[Repeats, Repeats]]:
    passes: Counter[tuple[Repeats, Repeats]] = Counter()
    for case, count in cases.items():
        passes[case.after, case.before] += count
    return passes


def _repeats(case: CaseSummary | None) -> Repeats | None:
    """The graded repeats of a case; `None` if there is none."""
    if case is None or case.counts.pass_share is None:
        return None
    return Repeats(case.counts.passed, case.counts.passed + case.counts.failed)
