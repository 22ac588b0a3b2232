"""The lift that a suite can show, and the repeats that it takes, before anything is run."""

import math

from skillgauge.stats._normal import normal_quantile, two_sided_z
from skillgauge.stats.lifts.exact import chance_of_difference
from skillgauge.stats.lifts.intervals import LIFT_LEVEL
from skillgauge.stats.lifts.repeats import Repeats

DETECTION_POWER = 0.8
"""How often a lift must be found to count as detectable."""
MOST_REPEATS = 20
"""More repeats of a case are never advised: more cases tell more."""
MOST_ROUNDS = 3
"""Rounds that a run which stops when it is decided may take, as a multiple of the repeats of one that does not."""
RARE = round(1.0 - LIFT_LEVEL, 12)
"""Chance that counts as evidence at the first look, and of a single comparison."""
_LOST_TO_DISCRETENESS = 6


def smallest_detectable(cases: int, repeats: float, level: float = RARE) -> float | None:
    """Smallest difference that a suite shows four times out of five, if its cases are neither easy nor hard.

    Half of the difference lies above a pass share of one half and half below, which is the hardest to see.

    >>> smallest_detectable(4, 1) is None, round(smallest_detectable(10, 3), 2)
    (True, 0.37)

    Args:
        cases: compared cases, at least 1.
        repeats: of each case in each arm, on average, at least 1.
        level: chance that counts as evidence, strictly between 0 and 1.

    Returns:
        A fraction of at most 1; ``None`` if no outcome whatever would be beyond chance.

    Raises:
        ValueError: an argument is below 1.

    Source: the normal approximation of E. Miller, arXiv 2411.00640 (2024), section 5, for cases that are all alike;
    what the discreteness of the exact test costs, six repeats, was fitted to simulations of it.
    """
    if cases < 1 or repeats < 1:
        raise ValueError(f"cases and repeats must be at least 1; got {cases!r} and {repeats!r}")
    effective = cases * repeats - _LOST_TO_DISCRETENESS
    if effective <= 0:
        whole = int(repeats)
        best = {(Repeats(whole, whole), Repeats(0, whole)): cases}
        return 1.0 if chance_of_difference(best) <= level else None
    spread = (two_sided_z(1.0 - level) + normal_quantile(DETECTION_POWER)) ** 2 / (2.0 * effective)
    return math.sqrt(spread / (1.0 + spread))


def repeats_for(cases: int, difference: float, *, present: int = 0, level: float = RARE) -> int | None:
    """Fewest further repeats of each case in each arm with which a suite shows a difference; see `smallest_detectable`.

    >>> repeats_for(4, 0.5), repeats_for(4, 0.1), repeats_for(4, 0.5, present=3, level=0.01)
    (5, None, 3)

    Args:
        cases: compared cases, at least 1.
        difference: as a fraction, above 0 and at most 1.
        present: repeats that there are already, and that count.
        level: chance that counts as evidence, strictly between 0 and 1.

    Returns:
        A number from 1 to `MOST_REPEATS`; ``None`` if that many do not do.

    Raises:
        ValueError: an argument is outside its range.

    Source: as `smallest_detectable`.
    """
    if not 0.0 < difference <= 1.0:
        raise ValueError(f"difference must be above 0 and at most 1, such as 0.3; got {difference!r}")
    if present < 0:
        raise ValueError(f"present must be at least 0; got {present!r}")
    for further in range(1, MOST_REPEATS + 1):
        least = smallest_detectable(cases, present + further, level)
        if least is not None and least <= difference:
            return further
    return None


def rounds_for(cases: int, difference: float) -> int | None:
    """Most rounds over all cases that a run may take which stops as soon as it is decided.

    Most runs stop long before; with as many rounds such a run finds a difference about as often as one with the repeats
    that `repeats_for` gives.

    >>> rounds_for(4, 0.5), rounds_for(4, 0.1)
    (15, None)

    Args:
        cases: compared cases, at least 1.
        difference: as a fraction, above 0 and at most 1.

    Returns:
        A number from 1 to ``MOST_ROUNDS * MOST_REPEATS``; ``None`` if that many do not do.

    Raises:
        ValueError: an argument is outside its range.

    Source: the simulation in docs/statistics.md, "Stopping when decided".
    """
    repeats = repeats_for(cases, difference)
    return None if repeats is None else MOST_ROUNDS * repeats
