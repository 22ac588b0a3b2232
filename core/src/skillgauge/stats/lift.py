"""The evidence of a difference between two arms over the same cases.

Two questions are kept apart. For *these very cases*, an exact test: could run-to-run noise alone have made the arms
this different? For *cases like these*, an interval and a test over cases: would new cases of this kind show it, too?
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillgauge.stats._normal import normal_quantile, two_sided_z
from skillgauge.stats._pairs import Pairs, difference_of, scale_of, scaled
from skillgauge.stats.clusters import cluster_interval, cluster_sign_chance
from skillgauge.stats.exact import chance_by_sign, chance_of_difference
from skillgauge.stats.intervals import Interval, IntervalMethod
from skillgauge.stats.repeats import Repeats
from skillgauge.stats.several import level_of_look

MIN_NEW_CASES = 8
"""Fewest cases from which anything is said of new ones."""
LIFT_LEVEL = 0.95
"""Confidence of an interval at the first look; a chance of at most the rest of it counts as evidence."""
_RARE = round(1.0 - LIFT_LEVEL, 12)
DETECTION_POWER = 0.8
"""How often a lift must be found to count as detectable."""
LIFT_MARGIN = 0.05
"""Differences up to this, as a fraction, mean nothing to anybody."""
MOST_REPEATS = 20
"""More repeats of a case are never advised: more cases tell more."""
_PSEUDO_CASES = 2
_LOST_TO_DISCRETENESS = 6


class Finding(StrEnum):
    """The finding of a comparison. Closed, and the strings are frozen."""

    HELPS = "helps"
    HURTS = "hurts"
    NO_DIFFERENCE = "no_difference"
    """None that means anything, though one would have been found."""
    UNDECIDED = "undecided"
    """Not enough data."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A difference over paired cases, with what is needed to trust it."""

    finding: Finding
    is_general: bool
    """Whether the finding holds for new cases of this kind, and not for these cases alone."""
    n: int
    """Cases compared."""
    estimate: float
    """Mean over the cases of the difference of their pass shares, candidate minus baseline, -1 to 1."""
    chance: float
    """How likely these cases come out at least this different if the arms are alike: exact, two-sided."""
    interval: Interval | None
    """For new cases; from 8 cases on."""
    chance_new: float | None
    """How likely cases like these come out at least this different if the arms are alike; from 8 cases on."""
    detectable: float | None
    """Smallest difference that would be found four times out of five; `None` if none could be."""
    clusters: int | None = None
    """Clusters that the cases fall into; `None` if every case stands for itself."""
    look: int = 1
    """Number of this look at these cases: 1, and one more each time that further repeats are added."""
    level: float = _RARE
    """Chance that counts as evidence if it is not exceeded; later looks have less of it."""
    next_level: float | None = None
    """The same of one more look, after further repeats."""


def weigh(pairs: Pairs, clusters: Sequence[Pairs] = (), earlier: Sequence[Pairs] = ()) -> Evidence | None:
    """Weigh a comparison of two arms over the same cases.

    >>> steady = (Repeats(3, 3), Repeats(0, 3))
    >>> found = weigh({steady: 4})
    >>> found.finding.value, found.estimate, found.chance < 0.001, found.interval
    ('helps', 1.0, True, None)

    Args:
        pairs: the cases with a graded repeat in both arms.
        clusters: those of them that name a cluster, cluster by cluster; they count as one, as far as new cases go.
        earlier: the same cases as they were at each earlier look, if repeats were added; the oldest look first.

    Returns:
        The evidence, or ``None`` without any case.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: docs/statistics.md, "Lift" and "Looking again", for the choice between the tests; each test names its own.
    """
    n = sum(pairs.values())
    if n == 0:
        return None
    estimate = math.fsum(difference_of(pair) * cases for pair, cases in pairs.items()) / n
    chance = chance_of_difference(pairs)
    level = level_of_look(earlier, _RARE)
    shared, interval, chance_new = _of_new_cases(pairs, clusters, level)
    repeats = sum(min(ours.graded, theirs.graded) * cases for (ours, theirs), cases in pairs.items()) // n
    detectable = smallest_detectable(n, max(1, repeats), level)
    is_general = _excludes_zero(interval) and chance_new is not None and chance_new <= level
    return Evidence(
        finding=_finding(estimate, detectable, is_proven=is_general or chance <= level),
        is_general=is_general,
        n=n,
        estimate=estimate,
        chance=chance,
        interval=interval,
        chance_new=chance_new,
        detectable=detectable,
        clusters=shared,
        look=len(earlier) + 1,
        level=level,
        next_level=level_of_look([*earlier, pairs], _RARE),
    )


def _excludes_zero(interval: Interval | None) -> bool:
    return interval is not None and (interval.lower > 0.0 or interval.upper < 0.0)


def _finding(estimate: float, detectable: float | None, *, is_proven: bool) -> Finding:
    if is_proven:
        return Finding.HELPS if estimate > 0 else Finding.HURTS
    if detectable is not None and detectable <= LIFT_MARGIN:
        return Finding.NO_DIFFERENCE
    return Finding.UNDECIDED


def _of_new_cases(
    pairs: Pairs, clusters: Sequence[Pairs], level: float
) -> tuple[int | None, Interval | None, float | None]:
    """The number of clusters, if cases share one, and interval and chance for new cases, if there are enough."""
    n, scale, confidence = sum(pairs.values()), scale_of(pairs), 1.0 - level
    groups = _groups(pairs, clusters, scale) if clusters else []
    shared = len(groups) if groups and len(groups) < n else None
    if (shared or n) < MIN_NEW_CASES:
        return shared, None, None
    if shared:
        chance = cluster_sign_chance([total for total, _ in groups])
        return shared, cluster_interval(groups, scale, confidence), chance
    return None, lift_interval(pairs, confidence), chance_by_sign(pairs)


def _groups(pairs: Pairs, clusters: Sequence[Pairs], scale: int) -> list[tuple[int, int]]:
    """Sum of the differences and number of cases of each cluster; a case without one stands for itself."""
    rest = Counter(pairs)
    for cluster in clusters:
        rest.subtract(cluster)
    alone = [(scaled(pair, scale), 1) for pair, cases in rest.items() for _ in range(cases)]
    shared = [(sum(scaled(pair, scale) * cases for pair, cases in one.items()), sum(one.values())) for one in clusters]
    return [*shared, *alone]


def lift_interval(pairs: Pairs, level: float = LIFT_LEVEL) -> Interval:
    """Interval of the mean difference for *cases like these*, two cases added of which each arm wins one half.

    With one run a case it is Agresti's and Min's interval for paired proportions. With repeats the added cases are
    more different from each other than real ones, which is on the safe side, and keep a suite without any variation
    from claiming certainty. It needs no seed, and one failing run never makes it narrower.

    Args:
        pairs: at least one case.
        level: two-sided confidence, strictly between 0 and 1.

    Returns:
        The bounds as fractions from -1 to 1; they contain the mean difference.

    Raises:
        ValueError: there is no case, or the level is outside its range.

    Source: A. Agresti, Y. Min, Statistics in Medicine 24 (2005) 729-740. docs/statistics.md has its coverage.
    """
    n = sum(pairs.values())
    if n == 0:
        raise ValueError("pairs must not be empty")
    total = math.fsum(difference_of(pair) * cases for pair, cases in pairs.items())
    squares = math.fsum(difference_of(pair) ** 2 * cases for pair, cases in pairs.items())
    size = n + _PSEUDO_CASES
    mean = total / size
    variance = max(0.0, (squares + _PSEUDO_CASES / 2) / size - mean * mean)
    half = two_sided_z(level) * math.sqrt(variance / size)
    lower, upper = max(-1.0, mean - half), min(1.0, mean + half)
    return Interval(min(total / n, lower), max(total / n, upper), level, IntervalMethod.AGRESTI_MIN)


def smallest_detectable(cases: int, repeats: int, level: float = _RARE) -> float | None:
    """Smallest difference that a suite shows four times out of five, if its cases are neither easy nor hard.

    Half of the difference lies above a pass share of one half and half below, which is the hardest to see.

    >>> smallest_detectable(4, 1) is None, round(smallest_detectable(10, 3), 2)
    (True, 0.37)

    Args:
        cases: compared cases, at least 1.
        repeats: of each case in each arm, at least 1.
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
    best = {(Repeats(repeats, repeats), Repeats(0, repeats)): cases}
    effective = cases * repeats - _LOST_TO_DISCRETENESS
    if effective <= 0:
        return 1.0 if chance_of_difference(best) <= level else None
    spread = (two_sided_z(1.0 - level) + normal_quantile(DETECTION_POWER)) ** 2 / (2.0 * effective)
    return math.sqrt(spread / (1.0 + spread))


def repeats_for(cases: int, difference: float, *, present: int = 0, level: float = _RARE) -> int | None:
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
