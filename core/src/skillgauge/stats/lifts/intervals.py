"""Intervals of the difference of two arms over the same cases: for new cases of this kind, and for these cases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skillgauge.stats._normal import two_sided_z
from skillgauge.stats.intervals import Interval, IntervalMethod
from skillgauge.stats.lifts._pairs import Pairs, difference_of, mean_difference
from skillgauge.stats.lifts.exact import chance_of_difference
from skillgauge.stats.lifts.repeats import Repeats

LIFT_LEVEL = 0.95
"""Confidence of an interval at the first look; a chance of at most the rest of it counts as evidence."""
_PSEUDO_CASES = 2
_JUST_ABOVE_ZERO = math.nextafter(0.0, 1.0)


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
    return difference_interval([(difference_of(pair), cases) for pair, cases in pairs.items()], level)


def difference_interval(differences: Sequence[tuple[float, int]], level: float = LIFT_LEVEL) -> Interval:
    """Interval of the mean of differences from -1 to 1 for *cases like these*; see `lift_interval`.

    >>> interval = difference_interval([(0.75, 10)])
    >>> f"{interval.lower:.3f} .. {interval.upper:.3f}"
    '0.398 .. 0.852'

    Args:
        differences: each with the number of cases that have it; at least one case.
        level: two-sided confidence, strictly between 0 and 1.

    Returns:
        The bounds as fractions from -1 to 1; they contain the mean.

    Raises:
        ValueError: there is no case, or the level is outside its range.

    Source: as `lift_interval`.
    """
    n = sum(cases for _, cases in differences)
    if n == 0:
        raise ValueError("pairs must not be empty")
    total = math.fsum(value * cases for value, cases in differences)
    squares = math.fsum(value**2 * cases for value, cases in differences)
    size = n + _PSEUDO_CASES
    mean = total / size
    variance = max(0.0, (squares + _PSEUDO_CASES / 2) / size - mean * mean)
    return _around(mean, variance / size, total / n, level, IntervalMethod.AGRESTI_MIN)


def interval_here(pairs: Pairs, level: float = LIFT_LEVEL, chance: float | None = None) -> Interval:
    """Interval of the mean difference for *these cases*: what would they show if they were run very often?

    Only the noise from run to run counts, which repeats show: each arm has the variance of runs within its cases, to
    which one run that passes and one that fails are added. With one run of each case nothing shows it; the squares of
    the differences, of which it is a part, take its place. The exact test decides on which side of 0 the interval
    lies: it excludes 0 if the chance of the difference is at most `1 - level`, and contains 0 otherwise.

    >>> interval = interval_here({(Repeats(5, 5), Repeats(0, 5)): 4})
    >>> f"{interval.lower:.3f} .. {interval.upper:.3f}"
    '0.786 .. 1.000'
    >>> interval = interval_here({(Repeats(3, 3), Repeats(3, 3)): 10})
    >>> f"{interval.lower:.3f} .. {interval.upper:.3f}"
    '-0.085 .. 0.085'

    Args:
        pairs: at least one case.
        level: two-sided confidence, strictly between 0 and 1.
        chance: how likely so large a difference is if the arms are alike; `None` computes the exact test.

    Returns:
        The bounds as fractions from -1 to 1; they contain the mean difference.

    Raises:
        ValueError: there is no case, or the level is outside its range.

    Source: A. Agresti, B. Caffo, The American Statistician 54 (2000) 280-288, for two arms of many runs, with the
    variance of strata in the place of that of one coin, which is at least as large: W. Hoeffding, Annals of
    Mathematical Statistics 27 (1956) 713-721. docs/statistics.md has its coverage.
    """
    if any(ours.graded > 1 or theirs.graded > 1 for ours, theirs in pairs):
        interval = _of_runs(pairs, level)
    else:
        interval = lift_interval(pairs, level)
    chance = chance_of_difference(pairs) if chance is None else chance
    return _agreeing(interval, chance <= 1.0 - level + 1e-12, mean_difference(pairs))


def _of_runs(pairs: Pairs, level: float) -> Interval:
    ours = _Arm.of([(pair[0], cases) for pair, cases in pairs.items()])
    theirs = _Arm.of([(pair[1], cases) for pair, cases in pairs.items()])
    variance = ours.variance + theirs.variance
    return _around(ours.share - theirs.share, variance, mean_difference(pairs), level, IntervalMethod.AGRESTI_CAFFO)


@dataclass(frozen=True, slots=True)
class _Arm:
    """The mean pass share of an arm and its variance from run to run, one pass and one failure added."""

    share: float
    variance: float

    @classmethod
    def of(cls, cases: Sequence[tuple[Repeats, int]]) -> "_Arm":
        """Of each kind of case with the number of such cases."""
        n = sum(number for _, number in cases)
        mean = math.fsum(repeats.share * number for repeats, number in cases) / n
        runs = n**2 / math.fsum(number / repeats.graded for repeats, number in cases)
        share = (mean * runs + 1.0) / (runs + 2.0)
        of_coin = share * (1.0 - share)
        within = math.fsum(number * _run_variance(repeats, of_coin) / repeats.graded for repeats, number in cases)
        of_run = (within * runs**2 / n**2 + 1.0) / (runs + 2.0)
        return cls(share, min(of_run, of_coin) / (runs + 2.0))


def _run_variance(repeats: Repeats, of_coin: float) -> float:
    """The variance of one run of a case, as its repeats show it; with a single one that of a coin like all cases."""
    if repeats.graded == 1:
        return of_coin
    return repeats.share * (1.0 - repeats.share) * repeats.graded / (repeats.graded - 1)


def _around(centre: float, variance: float, mean: float, level: float, method: IntervalMethod) -> Interval:
    """The normal interval, within what a difference can be, and never without the mean that was observed."""
    half = two_sided_z(level) * math.sqrt(variance)
    lower, upper = max(-1.0, centre - half), min(1.0, centre + half)
    return Interval(min(mean, lower), max(mean, upper), level, method)


def _agreeing(interval: Interval, is_different: bool, mean: float) -> Interval:
    """The interval, on that side of 0 that an exact test says."""
    lower, upper = interval.lower, interval.upper
    if not is_different:
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    elif mean > 0:
        lower = max(lower, _JUST_ABOVE_ZERO)
    else:
        upper = min(upper, -_JUST_ABOVE_ZERO)
    return Interval(lower, upper, interval.level, interval.method)
