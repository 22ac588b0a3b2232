"""The interval value, Wilson's interval for a proportion, and the normal one for large samples.

Which interval fits which data is decided in `rates`, not here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillgauge.stats._checks import require_level, require_rates
from skillgauge.stats._normal import two_sided_z


class IntervalMethod(StrEnum):
    """The method by which an interval was computed. Reports print the value, so the strings are frozen."""

    WILSON = "wilson"
    """Wilson's score interval; one binary run per case."""

    WILSON_OVER_CASES = "wilson-over-cases"
    """Wilson's formula on case means, with the number of cases as n. Conservative: see `rate_interval`."""

    BOOTSTRAP_PERCENTILE = "bootstrap-percentile"
    """Percentiles of the resampled means."""

    BOOTSTRAP_BCA = "bootstrap-bca"
    """Percentiles of the resampled means, corrected for bias and skew (BCa)."""

    WILSON_OVER_CLUSTERS = "wilson-over-clusters"
    """Wilson's formula on the mean, with the number of clusters as n."""

    CLUSTER_PERCENTILE = "cluster-bootstrap-percentile"
    """Percentiles of the means of resampled clusters."""

    CLUSTER_BCA = "cluster-bootstrap-bca"
    """The same, corrected for bias and skew."""

    AGRESTI_MIN = "agresti-min"
    """Of a difference of paired means: the normal interval once two cases are added that cancel each other out."""

    AGRESTI_MIN_CLUSTERS = "agresti-min-clusters"
    """The same with clusters in the place of cases."""

    AGRESTI_CAFFO = "agresti-caffo"
    """Of a difference of two arms of the same cases, from run to run: the normal interval once a pass and a failure are
    added to each arm."""

    NORMAL = "normal"
    """Mean plus and minus z standard errors, for a thousand cases and more."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval together with what must be printed beside it."""

    lower: float
    """Lower bound, in the unit of the estimate (a fraction, not percent, for a rate)."""

    upper: float
    """Upper bound, same unit; never below `lower`."""

    level: float
    """Nominal confidence as a fraction, 0.95 for 95 %. Each bound alone holds at (1 + level) / 2."""

    method: IntervalMethod
    """How the bounds were computed."""


def wilson(successes: float, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for the proportion `successes` / `n`.

    Sensible at the small n and extreme rates of skill suites, where mean +/- 1.96 SE is too narrow or
    leaves [0, 1]. It always contains the proportion itself and never has zero width for a usual level.

    >>> interval = wilson(5, 5)
    >>> f"{interval.lower:.6f} .. {interval.upper:.6f}"
    '0.565518 .. 1.000000'

    Args:
        successes: Number of successes, 0 to `n`. May be fractional: the sum of the case means.
        n: Number of independent units (cases, not runs), at least 1.
        level: Two-sided confidence, strictly between 0 and 1.

    Returns:
        Bounds as fractions in [0, 1], method ``wilson``.

    Raises:
        ValueError: An argument is outside its range.

    Source: E. B. Wilson, JASA 22 (1927).
    """
    require_level(level)
    if n < 1:
        raise ValueError(f"n must be at least 1; got {n!r}")
    if not 0.0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n = {n}; got {successes!r}")
    z = two_sided_z(level)
    p = successes / n
    shrink = 1.0 + z * z / n
    centre = (p + z * z / (2.0 * n)) / shrink
    half = z / shrink * math.sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n))
    # In exact arithmetic neither clamp to [0, 1] nor the one to p changes anything; in floating point
    # 0/5 would start a hair off 0 and 5/5 would end a hair off 1.
    lower = min(p, max(0.0, centre - half))
    upper = max(p, min(1.0, centre + half))
    return Interval(lower, upper, level, IntervalMethod.WILSON)


def normal(values: Sequence[float], level: float = 0.95) -> Interval | None:
    """Interval of a mean by the central limit theorem, cut to [0, 1].

    Only for many values: below a few hundred it is too narrow, which is why `rate_interval` takes it from 1,000
    cases on, where a bootstrap gives the same bounds at a thousand times the cost.

    >>> interval = normal([0.0, 1.0] * 500)
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.469, 0.531)

    Args:
        values: At least two numbers in [0, 1].
        level: Two-sided confidence, strictly between 0 and 1.

    Returns:
        The bounds, or ``None`` if all values are equal: their spread then says nothing.

    Raises:
        ValueError: An argument is outside its range.

    Source: the size from which it holds follows S. Bowyer, L. Aitchison, D. Ivanova, arXiv 2503.01747 (2025).
    """
    require_level(level)
    require_rates("values", values)
    n = len(values)
    if n < 2:
        raise ValueError(f"at least two values are needed; got {n}")
    mean = math.fsum(values) / n
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    if spread == 0.0:
        return None
    half = two_sided_z(level) * spread / math.sqrt(n)
    return Interval(max(0.0, mean - half), min(1.0, mean + half), level, IntervalMethod.NORMAL)
