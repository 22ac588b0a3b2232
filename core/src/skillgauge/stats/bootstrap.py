"""Seeded bootstrap over cases for a mean.

A value stands for one case (the mean of its repeats), so drawing values draws whole cases. Only
`random.Random.random` is used: it is the one method whose sequence Python promises to keep, so a seed
printed in a report gives the same interval under any later Python version.
"""

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from skillgauge.stats._checks import require_finite, require_level, require_resamples
from skillgauge.stats._normal import normal_cdf, normal_quantile
from skillgauge.stats.intervals import Interval, IntervalMethod

DISPLAY_RESAMPLES = 2_000
"""Resamples for a figure that people read."""

GATE_RESAMPLES = 10_000
"""Resamples for a figure that decides an exit code."""

MIN_BOOTSTRAP_CASES = 8
"""Fewest cases to resample: below it there are too few distinct resamples."""

MIN_PERCENTILE_CASES = 20
"""Fewest cases for the plain percentile interval; below it BCa is used."""

# Relative size under which two means differ only because floating point rounded them differently.
_ROUNDING = 1e-12


def bootstrap_means(values: Sequence[float], *, seed: int, resamples: int = DISPLAY_RESAMPLES) -> list[float]:
    """Means of `resamples` samples drawn with replacement, in ascending order.

    The result depends on the values, not on their order, so the order in which cases finished does not
    change a report.

    Args:
        values: One finite number per case; at least one.
        seed: Seed of the draw. The same values, seed and resamples give the same means.
        resamples: Number of samples, at least 1.

    Returns:
        `resamples` means, sorted.

    Raises:
        ValueError: No values, a value that is not finite, or no resamples.

    Source: B. Efron, R. Tibshirani, *An Introduction to the Bootstrap* (1993), chapter 6.
    """
    require_finite("values", values)
    if not values:
        raise ValueError("values must not be empty")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1; got {resamples!r}")
    pool = sorted(values)
    n = len(pool)
    draw = random.Random(seed).random
    # fsum: a mean that depended on the order of the draw would break ties between equal resamples.
    return sorted(math.fsum([pool[int(draw() * n)] for _ in range(n)]) / n for _ in range(resamples))


def bootstrap_interval(
    values: Sequence[float], *, seed: int, resamples: int = DISPLAY_RESAMPLES, level: float = 0.95
) -> Interval | None:
    """Bootstrap interval for the mean of `values`, for *cases like these*.

    Percentile interval from 20 cases on, BCa below. Both ends are read off the resampled means with
    linear interpolation.

    Args:
        values: One finite number per case: a case mean, or the difference of two arms.
        seed: Seed of the draw; print it beside the interval.
        resamples: `DISPLAY_RESAMPLES` to show, `GATE_RESAMPLES` to decide. At least 2 / (1 - level), so
            that at least one resample is expected in each tail.
        level: Two-sided confidence, strictly between 0 and 1.

    Returns:
        The interval in the unit of the values, inside their range. ``None`` with fewer than 8 cases, and
        when all cases have the same value: resampling them shows no variation, and the zero-width
        interval would claim a certainty that the data do not give. An interval of a low level (under
        about one half) need not contain the mean, since a skewed distribution has its median elsewhere.

    Raises:
        ValueError: A value is not finite, `level` is out of range, or `resamples` is too small for it.

    Source: B. Efron, R. Tibshirani, *An Introduction to the Bootstrap* (1993), chapters 13 and 14; ties
    count half in the bias correction, as in ``scipy.stats.bootstrap``, because means of a few pass/fail
    cases tie often.
    """
    require_level(level)
    require_finite("values", values)
    require_resamples(resamples, level)
    n = len(values)
    if n < MIN_BOOTSTRAP_CASES or max(values) - min(values) <= _rounding(values):
        return None
    means = bootstrap_means(values, seed=seed, resamples=resamples)
    tail = (1.0 - level) / 2.0
    if n >= MIN_PERCENTILE_CASES:
        low, high = tail, 1.0 - tail
        method = IntervalMethod.BOOTSTRAP_PERCENTILE
    else:
        mean = math.fsum(values) / n
        # Of a mean, the jackknife values deviate in proportion to the values themselves.
        low, high = _bca_probabilities(mean, [value - mean for value in values], means, tail, _rounding(values))
        method = IntervalMethod.BOOTSTRAP_BCA
    return Interval(_interpolate(means, low), _interpolate(means, high), level, method)


def cluster_bootstrap_interval(
    clusters: Sequence[Sequence[float]], *, seed: int, resamples: int = DISPLAY_RESAMPLES, level: float = 0.95
) -> Interval | None:
    """The same for cases that come in clusters: whole clusters are drawn, each with all of its cases.

    Args:
        clusters: One value per case, cluster by cluster; a case that shares nothing is a cluster of its own.
        seed: Seed of the draw.
        resamples: As for `bootstrap_interval`.
        level: Two-sided confidence, strictly between 0 and 1.

    Returns:
        The interval for the mean over cases. ``None`` with fewer than 8 clusters, and when all have the same mean.

    Raises:
        ValueError: A value is not finite, `level` is out of range, or `resamples` is too small for it.

    Source: A. C. Cameron, D. L. Miller, *A Practitioner's Guide to Cluster-Robust Inference* (2015), section VI;
    the mean over cases is a ratio of two sums, whose jackknife leaves one cluster out at a time.
    """
    require_level(level)
    values = [value for cluster in clusters for value in cluster]
    require_finite("clusters", values)
    require_resamples(resamples, level)
    means = [math.fsum(cluster) / len(cluster) for cluster in clusters]
    count = len(clusters)
    if count < MIN_BOOTSTRAP_CASES or max(means) - min(means) <= _rounding(values):
        return None
    pool = sorted((math.fsum(cluster), len(cluster)) for cluster in clusters)
    drawn = _cluster_means(pool, seed, resamples)
    tail = (1.0 - level) / 2.0
    low, high, method = tail, 1.0 - tail, IntervalMethod.CLUSTER_PERCENTILE
    if count < MIN_PERCENTILE_CASES:
        mean, deviations = math.fsum(values) / len(values), _jackknife(pool, math.fsum(values), len(values))
        low, high = _bca_probabilities(mean, deviations, drawn, tail, _rounding(values))
        method = IntervalMethod.CLUSTER_BCA
    return Interval(_interpolate(drawn, low), _interpolate(drawn, high), level, method)


def _cluster_means(pool: Sequence[tuple[float, int]], seed: int, resamples: int) -> list[float]:
    """Return the means over cases of resamples of clusters, each with its sum and size, in ascending order."""
    count = len(pool)
    draw = random.Random(seed).random
    means = []
    for _ in range(resamples):
        sample = [pool[int(draw() * count)] for _ in range(count)]
        means.append(math.fsum(total for total, _ in sample) / sum(size for _, size in sample))
    means.sort()
    return means


def _jackknife(pool: Sequence[tuple[float, int]], total: float, n: int) -> list[float]:
    """Return by how much the mean over cases rests on each cluster: the means without one of them, centred."""
    means = [(total - part) / (n - size) for part, size in pool]
    middle = math.fsum(means) / len(pool)
    return [middle - mean for mean in means]


def _bca_probabilities(
    mean: float, deviations: Sequence[float], means: Sequence[float], tail: float, slack: float
) -> tuple[float, float]:
    """Return which quantiles of the sorted `means` replace `tail` and 1 - `tail`.

    Args:
        mean: What was observed.
        deviations: By how much it rests on each unit, up to a factor.
        means: Of the resamples.
        tail: Probability of each tail.
        slack: Difference below which two means are equal.
    """
    resamples = len(means)
    below = bisect_left(means, mean - slack)
    above = resamples - bisect_right(means, mean + slack)
    share = (resamples + below - above) / (2 * resamples)
    # 0 and 1 have no normal quantile; half a resample is the most that this many resamples can tell.
    edge = 0.5 / resamples
    bias = normal_quantile(min(max(share, edge), 1.0 - edge))
    # Dividing by the largest deviation changes nothing but keeps the powers from underflowing.
    largest = max(abs(deviation) for deviation in deviations)
    scaled = [deviation / largest for deviation in deviations]
    skew = math.fsum(d**3 for d in scaled) / math.fsum(d * d for d in scaled) ** 1.5
    # No sample of n values has |skew| above (n - 2) / sqrt(n (n - 1)), so |acceleration| stays below 1/6 and
    # the denominator positive up to z = 6, a tail that needs more resamples than fit in memory.
    acceleration = skew / 6.0
    z = normal_quantile(tail)
    low, high = (normal_cdf(bias + shifted / (1.0 - acceleration * shifted)) for shifted in (bias + z, bias - z))
    return low, high


def _interpolate(ordered: Sequence[float], p: float) -> float:
    """Return the `p`-quantile of `ordered`, linear between neighbours (the default of numpy and R)."""
    position = p * (len(ordered) - 1)
    index = min(int(position), len(ordered) - 2)
    lower, right = ordered[index], ordered[index + 1]
    # min: the sum may round to a value above the right neighbour, and so above 1 for a rate.
    return min(right, lower + (right - lower) * (position - index))


def _rounding(values: Sequence[float]) -> float:
    """Return the difference below which two means of `values` count as equal."""
    return _ROUNDING * max(abs(value) for value in values)
