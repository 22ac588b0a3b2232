"""How much a difference of two reports proves. Pure arithmetic: numbers in, numbers out.

Two questions are kept apart. For *tasks like these*, an interval: would new tasks of this kind show the difference?
For *these very tasks*, an exact test: could run-to-run noise alone have made them this much worse?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from skillgauge.api import PairedDifference, rate_interval, wilson

from .document import Difference, TaskRuns

MIN_TASKS = 8
"""Fewest tasks for an interval about new tasks."""
LEVEL = 0.95
SEED = 0
STATES = 5_000
"""Most distinct values of the test's statistic that are followed one by one; beyond, their sum is normal."""

Pair = tuple[TaskRuns, TaskRuns]
"""The repeats of one task before and after, at least one graded on each side."""


@dataclass(frozen=True)
class _Bounds:
    lower: float
    upper: float
    method: str


def difference(pairs: Sequence[Pair]) -> Difference:
    """The difference of the pass rates over paired tasks, with what is needed to trust it.

    Args:
        pairs: one per task, at least one.
    """
    paired = PairedDifference()
    changes = [paired.add(after.share, before.share) for before, after in pairs]
    bounds = _interval(pairs, changes) if len(pairs) >= MIN_TASKS else None
    return Difference(
        estimate=paired.mean or 0.0,
        tasks=len(pairs),
        lower=bounds.lower if bounds else None,
        upper=bounds.upper if bounds else None,
        level=LEVEL,
        method=bounds.method if bounds else None,
        seed=SEED,
        chance=chance_of_worse(pairs),
    )


def _interval(pairs: Sequence[Pair], changes: Sequence[float]) -> _Bounds:
    """One run each: Newcombe's paired score interval. Repeats: the interval of the mean change.

    If all changes are equal, their spread says nothing, and Wilson's intervals of the two rates are squared and added.
    """
    before = [one.share for one, _ in pairs]
    after = [one.share for _, one in pairs]
    if set(before) | set(after) <= {0.0, 1.0}:
        return newcombe(before, after, correlation=phi(before, after), method="newcombe-paired")
    if len(set(changes)) == 1:
        return newcombe(before, after, correlation=0.0, method="newcombe-wilson")
    # A change lies in [-1, 1]; every method there is for means in [0, 1] is equivariant under the shift and the scale.
    halves = [min(1.0, max(0.0, (change + 1) / 2)) for change in changes]
    found = rate_interval(halves, repeats=2, seed=SEED, level=LEVEL)
    assert found is not None  # there are tasks
    return _Bounds(2 * found.lower - 1, 2 * found.upper - 1, f"paired-{found.method}")


def newcombe(before: Sequence[float], after: Sequence[float], *, correlation: float, method: str) -> _Bounds:
    """Newcombe's interval for the difference of two paired rates, after minus before.

    Args:
        before: one value in [0, 1] per task.
        after: the same tasks in the same order.
        correlation: of the two, from -1 to 1; 0 is on the safe side where tasks differ in difficulty.
        method: what to call it.

    Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 2635-2650, method 10.
    """
    n = len(before)
    sums = math.fsum(before), math.fsum(after)
    (first, second), (one, other) = (value / n for value in sums), (wilson(value, n, LEVEL) for value in sums)
    down = _combined(second - other.lower, one.upper - first, correlation)
    up = _combined(other.upper - second, first - one.lower, correlation)
    estimate = second - first
    return _Bounds(max(-1.0, estimate - down), min(1.0, estimate + up), method)


def _combined(x: float, y: float, correlation: float) -> float:
    return math.sqrt(max(0.0, x * x - 2 * correlation * x * y + y * y))


def phi(before: Sequence[float], after: Sequence[float]) -> float:
    """Correlation of two pass/fail series, with Newcombe's continuity correction; 0 where it is undefined."""
    table = [[0, 0], [0, 0]]
    for first, second in zip(before, after, strict=True):
        table[int(first)][int(second)] += 1
    (neither, only_after), (only_before, both) = table
    margins = (both + only_before) * (only_after + neither) * (both + only_after) * (only_before + neither)
    if margins == 0:
        return 0.0
    product = both * neither - only_before * only_after
    corrected = max(0.0, product - len(before) / 2) if product > 0 else product
    return corrected / math.sqrt(margins)


def chance_of_worse(pairs: Sequence[Pair]) -> float:
    """How likely these tasks come out at least this much worse if nothing has changed: exact, one-sided.

    Under no change all repeats of a task are alike, whichever report they are in, so the passes that fall to the second
    report are hypergeometric, task by task. With one repeat each this is McNemar's exact test.

    Returns:
        A probability above 0 and at most 1; 1 if no task could have come out differently.
    """
    scale = math.lcm(*(runs.graded for pair in pairs for runs in pair)) if pairs else 1
    observed, spread = 0, 0.0
    chances: dict[int, float] = {0: 1.0}
    is_exact = True
    for before, after in pairs:
        steps = _steps(before, after, scale)
        observed += _loss(after.passed, before, after, scale)
        if len(steps) == 1:
            continue
        spread += sum(chance * loss * loss for loss, chance in steps)
        if is_exact:
            chances = _convolved(chances, steps)
            is_exact = len(chances) <= STATES
    if is_exact:
        return min(1.0, math.fsum(chance for loss, chance in chances.items() if loss >= observed))
    return 1.0 - NormalDist(0.0, math.sqrt(spread)).cdf(observed)


def _loss(passed_after: int, before: TaskRuns, after: TaskRuns, scale: int) -> int:
    """Pass share before minus after, times `scale`, if this many of all passes fell to the second report."""
    passed_before = before.passed + after.passed - passed_after
    return passed_before * (scale // before.graded) - passed_after * (scale // after.graded)


def _steps(before: TaskRuns, after: TaskRuns, scale: int) -> list[tuple[int, float]]:
    """Every loss that one task could have shown, with its probability. Their mean is 0."""
    passes, graded = before.passed + after.passed, before.graded + after.graded
    ways = math.comb(graded, after.graded)
    return [
        (
            _loss(passed, before, after, scale),
            math.comb(passes, passed) * math.comb(graded - passes, after.graded - passed) / ways,
        )
        for passed in range(max(0, passes - before.graded), min(passes, after.graded) + 1)
    ]


def _convolved(chances: dict[int, float], steps: list[tuple[int, float]]) -> dict[int, float]:
    """The distribution of the sum."""
    summed: dict[int, float] = {}
    for value, chance in chances.items():
        for step, likely in steps:
            summed[value + step] = summed.get(value + step, 0.0) + chance * likely
    return summed
