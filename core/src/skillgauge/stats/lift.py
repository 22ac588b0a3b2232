"""How much a difference of two arms over the same cases proves.

Two questions are kept apart. For *these very cases*, an exact test: could run-to-run noise alone have made the arms
this different? For *cases like these*, an interval and a test over cases: would new cases of this kind show it, too?
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillgauge.stats._normal import normal_cdf, normal_quantile, two_sided_z
from skillgauge.stats.clusters import cluster_interval, cluster_sign_chance
from skillgauge.stats.intervals import Interval, IntervalMethod

MIN_NEW_CASES = 8
"""Fewest cases from which anything is said of new ones."""
LIFT_LEVEL = 0.95
"""Confidence of every interval here; what chance makes less likely than the rest of it is no chance."""
DETECTION_POWER = 0.8
"""How often a lift must be found to count as detectable."""
LIFT_MARGIN = 0.05
"""Differences up to this, as a fraction, mean nothing to anybody."""
MOST_REPEATS = 20
"""More repeats of a case are never advised: more cases tell more."""
_STATES = 5_000
"""Most distinct values of a test's statistic that are followed one by one; beyond, their sum is normal."""
_PSEUDO_CASES = 2
_LOST_TO_DISCRETENESS = 6


@dataclass(frozen=True, slots=True, order=True)
class Repeats:
    """The repeats of one case in one arm."""

    passed: int
    graded: int
    """At least 1: errors are left out, and a case with nothing else is no pair."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for numbers that no case can have."""
        if not 0 <= self.passed <= self.graded or self.graded < 1:
            raise ValueError(f"of at least 1 graded repeat some pass; got {self.passed!r} of {self.graded!r}")

    @property
    def share(self) -> float:
        """Share that passed, 0 to 1."""
        return self.passed / self.graded


_Pair = tuple[Repeats, Repeats]
_Pairs = Mapping[_Pair, int]
"""Candidate and baseline of a case, to the number of cases of which it is true."""


class Finding(StrEnum):
    """What a comparison shows. Closed, and the strings are frozen."""

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


def weigh(pairs: _Pairs, clusters: Sequence[_Pairs] = ()) -> Evidence | None:
    """What a comparison of two arms over the same cases shows.

    >>> steady = (Repeats(3, 3), Repeats(0, 3))
    >>> found = weigh({steady: 4})
    >>> found.finding.value, found.estimate, found.chance < 0.001, found.interval
    ('helps', 1.0, True, None)

    Args:
        pairs: the cases with a graded repeat in both arms.
        clusters: those of them that name a cluster, cluster by cluster; they count as one, as far as new cases go.

    Returns:
        The evidence, or ``None`` without any case.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: docs/statistics.md, "Lift", for the choice between the tests; each test names its own.
    """
    n = sum(pairs.values())
    if n == 0:
        return None
    estimate = math.fsum(_difference(pair) * cases for pair, cases in pairs.items()) / n
    chance = chance_of_difference(pairs)
    interval, chance_new = None, None
    scale = _scale(pairs)
    groups = _groups(pairs, clusters, scale) if clusters else []
    shared = len(groups) if groups and len(groups) < n else None
    if shared:
        if shared >= MIN_NEW_CASES:
            interval, chance_new = cluster_interval(groups, scale), cluster_sign_chance([total for total, _ in groups])
    elif n >= MIN_NEW_CASES:
        interval, chance_new = lift_interval(pairs), chance_by_sign(pairs)
    repeats = sum(min(ours.graded, theirs.graded) * cases for (ours, theirs), cases in pairs.items()) // n
    detectable = smallest_detectable(n, max(1, repeats))
    rare = 1.0 - LIFT_LEVEL
    outside = interval is not None and (interval.lower > 0.0 or interval.upper < 0.0)
    is_general = outside and chance_new is not None and chance_new <= rare
    if is_general or chance <= rare:
        finding = Finding.HELPS if estimate > 0 else Finding.HURTS
    elif detectable is not None and detectable <= LIFT_MARGIN:
        finding = Finding.NO_DIFFERENCE
    else:
        finding = Finding.UNDECIDED
    return Evidence(finding, is_general, n, estimate, chance, interval, chance_new, detectable, shared)


def _groups(pairs: _Pairs, clusters: Sequence[_Pairs], scale: int) -> list[tuple[int, int]]:
    """Sum of the differences and number of cases of each cluster; a case without one stands for itself."""
    rest = Counter(pairs)
    for cluster in clusters:
        rest.subtract(cluster)
    alone = [(_scaled(pair, scale), 1) for pair, cases in rest.items() for _ in range(cases)]
    shared = [(sum(_scaled(pair, scale) * cases for pair, cases in one.items()), sum(one.values())) for one in clusters]
    return [*shared, *alone]


def lift_interval(pairs: _Pairs) -> Interval:
    """Interval of the mean difference for *cases like these*, two cases added of which each arm wins one half.

    With one run a case it is Agresti's and Min's interval for paired proportions. With repeats the added cases are
    more different from each other than real ones, which is on the safe side, and keep a suite without any variation
    from claiming certainty. It needs no seed, and one failing run never makes it narrower.

    Args:
        pairs: at least one case.

    Returns:
        The bounds as fractions from -1 to 1; they contain the mean difference.

    Raises:
        ValueError: there is no case.

    Source: A. Agresti, Y. Min, Statistics in Medicine 24 (2005) 729-740. docs/statistics.md has its coverage.
    """
    n = sum(pairs.values())
    if n == 0:
        raise ValueError("pairs must not be empty")
    total = math.fsum(_difference(pair) * cases for pair, cases in pairs.items())
    squares = math.fsum(_difference(pair) ** 2 * cases for pair, cases in pairs.items())
    size = n + _PSEUDO_CASES
    mean = total / size
    variance = max(0.0, (squares + _PSEUDO_CASES / 2) / size - mean * mean)
    half = two_sided_z(LIFT_LEVEL) * math.sqrt(variance / size)
    lower, upper = max(-1.0, mean - half), min(1.0, mean + half)
    return Interval(min(total / n, lower), max(total / n, upper), LIFT_LEVEL, IntervalMethod.AGRESTI_MIN)


def chance_of_difference(pairs: _Pairs) -> float:
    """How likely these cases come out at least this different if the arms are alike: exact, two-sided.

    If the arms are alike, all repeats of a case are, whichever arm they are in, so the passes that fall to the
    candidate are hypergeometric, case by case. With one repeat each this is McNemar's exact test.

    >>> one, none = Repeats(1, 1), Repeats(0, 1)
    >>> chance_of_difference({(one, none): 6}), chance_of_difference({(one, none): 5})
    (0.03125, 0.0625)

    Args:
        pairs: the cases compared.

    Returns:
        A probability above 0 and at most 1; 1 if no case could have come out differently.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: Fisher's exact test stratified by case; Q. McNemar, Psychometrika 12 (1947), for one repeat.
    """
    return _chance(pairs, _by_chance, two_sided=True)


def chance_of_worse(pairs: _Pairs) -> float:
    """The same, one-sided: how likely the candidate comes out at least this much worse if nothing has changed.

    Args:
        pairs: the cases compared.

    Returns:
        A probability above 0 and at most 1; 1 if no case could have come out differently.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: as `chance_of_difference`.
    """
    return _chance(pairs, _by_chance, two_sided=False)


def chance_by_sign(pairs: _Pairs) -> float:
    """How likely cases like these come out at least this different if the arms are alike: exact, two-sided.

    If the arms are alike, the difference of a case might as well have had the other sign.

    >>> chance_by_sign({(Repeats(1, 1), Repeats(0, 1)): 8})
    0.0078125

    Args:
        pairs: the cases compared.

    Returns:
        A probability above 0 and at most 1.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: the sign-flip permutation test, for example of E. S. Edgington, P. Onghena, *Randomization Tests* (2007).
    """
    return _chance(pairs, _by_sign, two_sided=True)


_Steps = list[tuple[int, float]]
"""What one case can add to the statistic, with its probability; the mean is 0."""


def _difference(pair: _Pair) -> float:
    return pair[0].share - pair[1].share


def _by_chance(pair: _Pair, scale: int) -> _Steps:
    """Every difference that a case could have shown, were its passes dealt to the arms at random."""
    ours, theirs = pair
    passes, graded = ours.passed + theirs.passed, ours.graded + theirs.graded
    ways = math.comb(graded, ours.graded)
    return [
        (
            passed * (scale // ours.graded) - (passes - passed) * (scale // theirs.graded),
            math.comb(passes, passed) * math.comb(graded - passes, ours.graded - passed) / ways,
        )
        for passed in range(max(0, passes - theirs.graded), min(passes, ours.graded) + 1)
    ]


def _by_sign(pair: _Pair, scale: int) -> _Steps:
    """The difference that a case has shown, and its opposite."""
    step = _scaled(pair, scale)
    return [(step, 0.5), (-step, 0.5)] if step else []


def _scale(pairs: _Pairs) -> int:
    return math.lcm(*(runs.graded for pair in pairs for runs in pair)) if pairs else 1


def _scaled(pair: _Pair, scale: int) -> int:
    ours, theirs = pair
    return ours.passed * (scale // ours.graded) - theirs.passed * (scale // theirs.graded)


def _chance(pairs: _Pairs, steps_of: Callable[[_Pair, int], _Steps], *, two_sided: bool) -> float:
    """Probability of a sum as extreme as the one observed, of independent steps; one-sided, of one as low."""
    scale = _scale(pairs)
    observed = sum(_scaled(pair, scale) * cases for pair, cases in pairs.items())
    chances: dict[int, float] = {0: 1.0}
    variance = 0.0
    for pair, cases in sorted(pairs.items()):
        steps = steps_of(pair, scale)
        if len(steps) < 2:
            continue
        variance += cases * math.fsum(chance * step * step for step, chance in steps)
        for _ in range(cases):
            if len(chances) > _STATES:
                break
            chances = _convolved(chances, steps)
    if len(chances) > _STATES:
        z = observed / math.sqrt(variance)
        return 2.0 * normal_cdf(-abs(z)) if two_sided else normal_cdf(z)
    extreme = (
        chance for step, chance in chances.items() if (abs(step) >= abs(observed) if two_sided else step <= observed)
    )
    return min(1.0, math.fsum(extreme))


def _convolved(chances: dict[int, float], steps: _Steps) -> dict[int, float]:
    """The distribution of the sum."""
    summed: dict[int, float] = {}
    for value, chance in chances.items():
        for step, likely in steps:
            summed[value + step] = summed.get(value + step, 0.0) + chance * likely
    return summed


def smallest_detectable(cases: int, repeats: int) -> float | None:
    """Smallest difference that a suite shows four times out of five, if its cases are neither easy nor hard.

    Half of the difference lies above a pass share of one half and half below, which is the hardest to see.

    >>> smallest_detectable(4, 1) is None, round(smallest_detectable(10, 3), 2)
    (True, 0.37)

    Args:
        cases: compared cases, at least 1.
        repeats: of each case in each arm, at least 1.

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
    told = cases * repeats - _LOST_TO_DISCRETENESS
    if told <= 0:
        return 1.0 if chance_of_difference(best) <= 1.0 - LIFT_LEVEL else None
    spread = (two_sided_z(LIFT_LEVEL) + normal_quantile(DETECTION_POWER)) ** 2 / (2.0 * told)
    return math.sqrt(spread / (1.0 + spread))


def repeats_for(cases: int, difference: float) -> int | None:
    """Fewest repeats of each case in each arm with which a suite shows a difference; see `smallest_detectable`.

    >>> repeats_for(4, 0.5), repeats_for(4, 0.1)
    (5, None)

    Args:
        cases: compared cases, at least 1.
        difference: as a fraction, above 0 and at most 1.

    Returns:
        A number from 1 to `MOST_REPEATS`; ``None`` if that many do not do.

    Raises:
        ValueError: an argument is outside its range.

    Source: as `smallest_detectable`.
    """
    if not 0.0 < difference <= 1.0:
        raise ValueError(f"difference must be above 0 and at most 1, such as 0.3; got {difference!r}")
    known = ((repeats, smallest_detectable(cases, repeats)) for repeats in range(1, MOST_REPEATS + 1))
    return next((repeats for repeats, least in known if least is not None and least <= difference), None)
