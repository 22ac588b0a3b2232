"""The evidence of a difference where cases come in clusters, which rise and fall together.

A cluster counts as one, however many cases it has: the same methods as for cases that stand for themselves, with sums
over clusters. docs/statistics.md, "Clusters", says when.
"""

import math
from collections.abc import Mapping, Sequence

from skillgauge.stats._normal import normal_cdf, two_sided_z
from skillgauge.stats.intervals import Interval, IntervalMethod

_STATES = 5_000
"""Most distinct sums that are followed one by one; beyond, their distribution is normal."""
_PSEUDO_CLUSTERS = 2


def cluster_interval(clusters: Sequence[tuple[int, int]], scale: int, level: float = 0.95) -> Interval:
    """Interval of the mean difference over cases, for *clusters like these*, two clusters added that cancel each other.

    With clusters of one size it is Agresti's and Min's interval of the clusters' means.

    Args:
        clusters: sum of the differences, in parts, and number of cases; at least one cluster.
        scale: parts of a whole difference.
        level: two-sided confidence, strictly between 0 and 1.

    Returns:
        The bounds as fractions from -1 to 1; they contain the mean difference.

    Raises:
        ValueError: there is no cluster, or the level is outside its range.

    Source: A. Agresti, Y. Min, Statistics in Medicine 24 (2005), on the residuals of a ratio of sums: A. C. Cameron,
    D. L. Miller (2015).
    """
    if not clusters:
        raise ValueError("clusters must not be empty")
    n = sum(size for _, size in clusters)
    usual = n / len(clusters)
    total = sum(part for part, _ in clusters) / scale
    size = len(clusters) + _PSEUDO_CLUSTERS
    mean = total / usual / size
    squares = math.fsum(((part / scale - mean * cases) / usual) ** 2 for part, cases in clusters)
    variance = (squares + _PSEUDO_CLUSTERS * (0.5 + mean * mean)) / size
    half = two_sided_z(level) * math.sqrt(variance / size)
    lower, upper = max(-1.0, mean - half), min(1.0, mean + half)
    return Interval(min(total / n, lower), max(total / n, upper), level, IntervalMethod.AGRESTI_MIN_CLUSTERS)


def cluster_sign_chance(sums: Sequence[int]) -> float:
    """Return the chance that clusters like these differ at least this much if the arms are alike: exact, two-sided.

    If the arms are alike, the whole of a cluster might as well have had the other sign.

    >>> cluster_sign_chance([2] * 8)
    0.0078125

    Args:
        sums: of the differences of each cluster, in equal parts.

    Returns:
        A probability above 0 and at most 1.

    Raises:
        Nothing.

    Source: as `chance_by_sign`, with clusters in the place of cases.
    """
    steps = [abs(part) for part in sums if part]
    observed = abs(sum(sums))
    chances = {0: 1.0}
    for step in sorted(steps):
        if len(chances) > _STATES:
            spread = math.sqrt(sum(part * part for part in steps))
            return min(1.0, 2.0 * normal_cdf(-observed / spread))
        chances = _with_step(chances, step)
    return min(1.0, math.fsum(chance for value, chance in chances.items() if abs(value) >= observed))


def _with_step(chances: Mapping[int, float], step: int) -> dict[int, float]:
    """Return the distribution of a sum after one more step, which goes either way."""
    added: dict[int, float] = {}
    for value, chance in chances.items():
        for sign in (step, -step):
            added[value + sign] = added.get(value + sign, 0.0) + chance / 2
    return added
