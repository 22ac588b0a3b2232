"""The numbers of a comparison before it is run: the lift that it can show, and the bounds of the best outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..stats import (
    MIN_NEW_CASES,
    MOST_ROUNDS,
    RARE,
    Repeats,
    chance_of_difference,
    interval_here,
    lift_interval,
    smallest_detectable,
)
from ..types.trial import SuiteHead

_MORE_RUNS = (2, 3, 5, 10)


def detectable_lift(runs: Sequence[int], head: SuiteHead) -> float | None:
    """Return the smallest lift that so many repeats of each case show, or all of it if only the best outcome does.

    Args:
        runs: repeats of each case in each arm, of one case at least.
        head: of the suite.

    Returns:
        A fraction; `None` if no outcome would prove any.
    """
    if head.until_decided:
        return smallest_detectable(len(runs), max(head.runs / MOST_ROUNDS, 1))
    harmonic_mean = len(runs) / sum(1 / number for number in runs)
    detectable = smallest_detectable(len(runs), runs[0] if len({*runs}) == 1 else harmonic_mean)
    if detectable is None and chance_of_difference(_best(runs)) <= RARE:
        return 1.0
    return detectable


def best_here(runs: Sequence[int]) -> float:
    """Return the lower bound of the lift on these cases if every run passes with the skill and none without.

    Args:
        runs: repeats of each case in each arm, of one case at least.
    """
    return interval_here(_best(runs)).lower


def best_new(runs: Sequence[int]) -> float | None:
    """Return the same for new cases; `None` if there are too few to tell.

    Args:
        runs: as above.
    """
    return lift_interval(_best(runs)).lower if len(runs) >= MIN_NEW_CASES else None


def runs_to_show(lift: float, cases: int, runs: int) -> tuple[int, float] | None:
    """Return how many more repeats show a lift or less, and the lift they show; `None` if no number tried does.

    Args:
        lift: a fraction.
        cases: of the suite.
        runs: repeats that there are.
    """
    for number in (more for more in _MORE_RUNS if more > runs):
        detectable = smallest_detectable(cases, number)
        if detectable is not None and detectable <= lift:
            return number, detectable
    return None


def _best(runs: Sequence[int]) -> dict[tuple[Repeats, Repeats], int]:
    """Return the pairs of the best outcome, and how many cases have each."""
    return {(Repeats(number, number), Repeats(0, number)): times for number, times in Counter(runs).items()}
