"""Quantiles of measured values such as latencies."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skillgauge.stats._checks import require_finite


@dataclass(frozen=True, slots=True)
class Latency:
    """Nearest-rank percentiles of measured times, in seconds; `None` without a sample."""

    samples: int = 0
    p50_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Latency":
        """The percentiles of times in any order."""
        ordered = sorted(seconds)
        return cls(len(ordered), *(nearest_rank(ordered, p) for p in (0.50, 0.95, 0.99)))


def nearest_rank(values: Sequence[float], p: float) -> float | None:
    """Nearest-rank percentile: the smallest value that at least a share `p` of the values does not exceed.

    The answer is always one of the values, never an interpolation between two.

    >>> nearest_rank([30.0, 10.0, 20.0, 40.0], 0.5)
    20.0

    Args:
        values: Finite numbers in any order and unit. Leave out what was not measured.
        p: The share, 0 < p <= 1: 0.95 for the 95th percentile, 1 for the maximum.

    Returns:
        ``sorted(values)[ceil(p * n) - 1]`` in the unit of the values, ``None`` without values.

    Raises:
        ValueError: `p` is outside its range or a value is not finite.

    Source: the percentile of the eval-skills metrics (p50, p95, p99 of latency).
    """
    if not 0.0 < p <= 1.0:
        raise ValueError(f"p must be above 0 and at most 1, such as 0.95; got {p!r}")
    require_finite("values", values)
    if not values:
        return None
    return sorted(values)[math.ceil(p * len(values)) - 1]
