"""Values as they come, without keeping them: their spread, and the mean difference of pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Spread:
    """Number, mean, standard deviation and extremes of values (Welford's method)."""

    n: int = 0
    mean: float = 0.0
    least: float = math.inf
    most: float = -math.inf
    _squares: float = 0.0

    def add(self, value: float) -> None:
        """Take one more value."""
        self.n += 1
        off = value - self.mean
        self.mean += off / self.n
        self._squares += off * (value - self.mean)
        self.least, self.most = min(self.least, value), max(self.most, value)

    @property
    def stddev(self) -> float:
        """Standard deviation of a sample; 0 for fewer than two values."""
        return math.sqrt(self._squares / (self.n - 1)) if self.n > 1 else 0.0


@dataclass(slots=True)
class PairedDifference:
    """Mean over pairs of the difference of their values, which is what lift is: candidate minus baseline."""

    n: int = 0
    _sum: float = 0.0

    def add(self, candidate: float, baseline: float) -> float:
        """Take one more pair, and give its difference."""
        difference = candidate - baseline
        self.n += 1
        self._sum += difference
        return difference

    @property
    def mean(self) -> float | None:
        """The mean difference; `None` without a pair."""
        return self._sum / self.n if self.n else None
