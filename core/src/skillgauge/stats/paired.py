"""Values as they come, without keeping them: their spread, and the mean difference of pairs."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import mul

from skillgauge.stats._normal import two_sided_t


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


@dataclass(slots=True)
class WeightedMean:
    """Mean of values that count as much as their weights say."""

    weight: float = 0.0
    """Of all values."""
    _sum: float = 0.0

    def add(self, value: float, weight: float = 1.0) -> None:
        """Take one more value."""
        self.weight += weight
        self._sum += value * weight

    @property
    def mean(self) -> float | None:
        """The mean; `None` without any weight."""
        return self._sum / self.weight if self.weight else None


def mean_of(values: Sequence[float | None]) -> float | None:
    """Mean of values that are all known.

    Args:
        values: finite numbers, or `None` for what is not known.

    Returns:
        The mean; `None` if a value is not known, or there is none.

    Raises:
        Nothing.

    Source: the rule of this package that a number is never made up for what is undefined.
    """
    values_known = [value for value in values if value is not None]
    return math.fsum(values_known) / len(values_known) if values_known and len(values_known) == len(values) else None


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Mean of values that count as much as their weights say, and all alike if nobody has any.

    >>> weighted_mean([1.0, 0.0], [3.0, 1.0]), weighted_mean([1.0, 0.0], [0.0, 0.0])
    (0.75, 0.5)

    Args:
        values: at least one finite number.
        weights: of each, at least 0.

    Returns:
        The mean, from the least to the greatest of the values.

    Raises:
        Nothing.

    Source: the definition; weights are divided by the greatest first, since products of tiny ones would vanish.
    """
    if len(set(weights)) == 1:
        mean = sum(values) / len(values)
    else:
        greatest = max(weights)
        shares = [weight / greatest for weight in weights]
        mean = sum(map(mul, values, shares)) / sum(shares)
    return min(max(values), max(min(values), mean))  # it may be off by a last digit


@dataclass(frozen=True, slots=True)
class MeanRatio:
    """Geometric mean of the ratios of some cases: 1.3 means three tenths more."""

    ratio: float
    n: int
    """Cases behind it."""
    lower: float | None = None
    """Lower bound for new cases of this kind, with 95 % confidence; `None` below 4 cases."""
    upper: float | None = None
    """Upper bound, likewise."""

    @property
    def is_beyond_noise(self) -> bool:
        """True if 1, which is neither more nor less, lies outside the interval."""
        return self.lower is not None and self.upper is not None and not self.lower <= 1.0 <= self.upper


_LARGEST_LOG = math.log(sys.float_info.max)
_MIN_RATIOS = 4
"""Fewest ratios that show how far they spread; the quantile of Student's distribution is rough below."""
_RATIO_LEVEL = 0.95


@dataclass(slots=True)
class LogRatio:
    """Mean over pairs of the ratio of their values, on the log scale: what is skewed, as tokens and time are.

    Source: docs/statistics.md, "Turns, tokens, time and money"; Student's interval of the mean logarithm.
    """

    _logs: Spread = field(default_factory=Spread)

    def add(self, candidate: float | None, baseline: float | None) -> None:
        """Take one more pair, if both values are known and above 0: nothing is a multiple of nothing."""
        if candidate and baseline and candidate > 0 and baseline > 0:
            self._logs.add(math.log(candidate) - math.log(baseline))  # no float may hold their quotient

    @property
    def mean(self) -> MeanRatio | None:
        """The geometric mean with its interval, at most the largest float; `None` without a pair."""
        logs = self._logs
        if not logs.n:
            return None
        if logs.n < _MIN_RATIOS:
            return MeanRatio(_exp(logs.mean), logs.n)
        half = two_sided_t(_RATIO_LEVEL, logs.n - 1) * logs.stddev / math.sqrt(logs.n)
        return MeanRatio(_exp(logs.mean), logs.n, _exp(logs.mean - half), _exp(logs.mean + half))


def _exp(logarithm: float) -> float:
    return math.exp(min(logarithm, _LARGEST_LOG))
