"""Choose and compute the interval of a headline rate.

The rules of the choice live in this one place, so that every report says the same about the same data.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from skillgauge.stats._checks import require_level, require_rates, require_resamples
from skillgauge.stats._normal import normal_cdf, two_sided_t
from skillgauge.stats.bootstrap import (
    DISPLAY_RESAMPLES,
    MIN_BOOTSTRAP_CASES,
    bootstrap_interval,
    cluster_bootstrap_interval,
)
from skillgauge.stats.intervals import Interval, IntervalMethod, normal, wilson

MIN_NORMAL_CASES = 1000
"""From here on the bootstrap's bounds are the normal ones, at a thousand times the cost."""
_LEVEL = 0.95
_LATER_LEVEL = 0.975
"""Level at which an interval is made at a later look. A run that was continued for what it showed can miss the truth at
each look, and at this level all looks together miss it in 5 % at most, as simulated."""


@dataclass(frozen=True, slots=True)
class RateInterval:
    """A rate with what is needed to trust it."""

    rate: float | None
    """`None` if nothing was measured."""
    n: int
    """Cases behind the rate: repeats of a case are averaged first."""
    lower: float | None = None
    upper: float | None = None
    level: float = 0.95
    method: str | None = None
    clusters: int | None = None
    """Clusters that the cases fall into; `None` if every case stands for itself."""

    @classmethod
    def of(
        cls,
        case_means: Sequence[float],
        *,
        repeats: int,
        seed: int,
        clusters: Mapping[int, str] = MappingProxyType({}),
        looks: int = 1,
    ) -> RateInterval:
        """The mean of the case means with the interval that fits it; see `rate_interval`.

        Args:
            case_means: One value a case.
            repeats: The largest number of runs behind any of them.
            seed: Of the bootstrap.
            clusters: The cluster of each case that names one, by its place.
            looks: How often the results were looked at, this time included. From the second look on, whether they grew
                was decided by what they showed, and the interval over enough cases is wider for that.
        """
        groups = in_clusters(case_means, clusters)
        units = len(groups) or len(case_means)
        level = widened(_LATER_LEVEL, units) if looks > 1 and units >= MIN_BOOTSTRAP_CASES else _LEVEL
        if groups:
            interval: Interval | None = cluster_rate_interval(groups, seed=seed, level=level)
        else:
            interval = rate_interval(case_means, repeats=max(1, repeats), seed=seed, level=level)
        if interval is None:
            return cls(rate=None, n=0)
        mean = math.fsum(case_means) / len(case_means)
        count = len(groups) or None
        return cls(mean, len(case_means), interval.lower, interval.upper, _LEVEL, str(interval.method), count)

    @property
    def bare(self) -> RateInterval:
        """The rate without an interval."""
        return RateInterval(self.rate, self.n, level=self.level, clusters=self.clusters)


def in_clusters(values: Sequence[float], clusters: Mapping[int, str]) -> list[list[float]]:
    """Values cluster by cluster; those without one stand for themselves. Empty if no two values share a cluster.

    >>> in_clusters([1.0, 0.0, 0.5], {0: "a", 2: "a"})
    [[1.0, 0.5], [0.0]]

    Args:
        values: one a case.
        clusters: names by the place of the value.

    Returns:
        The groups, in the order in which they begin.

    Raises:
        Nothing.

    Source: docs/statistics.md, "Clusters".
    """
    if len(set(clusters.values())) == len(clusters):
        return []
    groups: dict[str | int, list[float]] = {}
    for place, value in enumerate(values):
        groups.setdefault(clusters.get(place, place), []).append(value)
    return list(groups.values())


def cluster_rate_interval(
    clusters: Sequence[Sequence[float]], *, seed: int, resamples: int = DISPLAY_RESAMPLES, level: float = 0.95
) -> Interval:
    """Interval for the mean over cases that come in clusters, for *clusters like these*.

    Cases of a cluster (one template, one fixture) pass and fail together, so the clusters are what is drawn: by the
    bootstrap from 8 of them on, capped as in `rate_interval`; else Wilson's formula with their number as n.

    >>> cluster_rate_interval([[1.0, 1.0], [0.0, 0.0]], seed=0).method.value
    'wilson-over-clusters'

    Args:
        clusters: At least one cluster with at least one value in [0, 1].
        seed: Seed of the bootstrap.
        resamples: Number of bootstrap resamples, at least 2 / (1 - level).
        level: Two-sided confidence, strictly between 0 and 1.

    Returns:
        Bounds as fractions in [0, 1] with the method used.

    Raises:
        ValueError: An argument is outside its range.

    Source: docs/statistics.md, "Clusters".
    """
    require_level(level)
    values = [value for cluster in clusters for value in cluster]
    require_rates("clusters", values)
    interval = cluster_bootstrap_interval(clusters, seed=seed, resamples=resamples, level=level)
    if interval:
        return _capped(interval, len(clusters))
    mean = math.fsum(values) / len(values)
    score = wilson(mean * len(clusters), len(clusters), level)
    return replace(score, method=IntervalMethod.WILSON_OVER_CLUSTERS)


@dataclass(slots=True)
class RateTally:
    """Adds up the cases of a rate, of each of which it keeps one number."""

    _shares: array[float] = field(default_factory=lambda: array("d"))
    _clusters: dict[int, str] = field(default_factory=dict)
    """Of the shares whose case names one, by place."""
    _cases: int = 0
    _least: float = 0.0
    _most: float = 0.0

    def add(self, share: float | None, bounds: tuple[float, float] | None, cluster: str = "") -> None:
        """Take one more case.

        Args:
            share: what it gave on average over its repeats; `None` if nothing was measured.
            bounds: the share if every error had been a fail, and if every one had been a pass; `None` if nothing ran.
            cluster: of the case, if it names one.
        """
        if share is not None:
            if cluster:
                self._clusters[len(self._shares)] = cluster
            self._shares.append(share)
        if bounds is not None:
            self._cases += 1
            self._least += bounds[0]
            self._most += bounds[1]

    def rate(self, repeats: int, seed: int, looks: int = 1) -> RateInterval:
        """The mean over the cases, with its interval; see `RateInterval.of`."""
        return RateInterval.of(self._shares, repeats=repeats, seed=seed, clusters=self._clusters, looks=looks)

    @property
    def bounds(self) -> tuple[float, float]:
        """The mean if all errors had been fails, and if all had been passes; of at least one case that ran."""
        return self._least / self._cases, self._most / self._cases


@dataclass(slots=True)
class RunRates:
    """The pass rate of each repeat over the whole suite."""

    _totals: array[int] = field(default_factory=lambda: array("q"))
    _passes: array[int] = field(default_factory=lambda: array("q"))

    def add(self, repeat: int, *, passed: bool | None) -> None:
        """Take one more trial of a repeat; of one that was skipped (`None`) only that there is such a repeat."""
        if repeat > len(self._totals):
            missing = [0] * (repeat - len(self._totals))
            self._totals.extend(missing)
            self._passes.extend(missing)
        if passed is not None:
            self._totals[repeat - 1] += 1
            self._passes[repeat - 1] += passed

    @property
    def repeats(self) -> int:
        """The number of repeats."""
        return len(self._totals)

    @property
    def rates(self) -> tuple[float, ...]:
        """Of each repeat that has a trial."""
        return tuple(passed / total for passed, total in zip(self._passes, self._totals, strict=True) if total)


def rate_interval(
    case_means: Sequence[float], *, repeats: int, seed: int, resamples: int = DISPLAY_RESAMPLES, level: float = 0.95
) -> Interval | None:
    """Interval for the mean of the case means: the pass rate or mean score of one arm.

    It answers for *cases like these* (new cases of this kind), not for a rerun of these cases.

    ========================================  ==========================================
    data                                      method
    ========================================  ==========================================
    one run per case, every one 0 or 1        ``wilson``
    else, 1,000 cases or more                 ``normal``
    else, 20 cases or more                    ``bootstrap-percentile``
    else, 8 to 19 cases                       ``bootstrap-bca``
    else (fewer cases, or all means equal)    ``wilson-over-cases``
    ========================================  ==========================================

    The bootstrap's bounds are capped at those of a perfect and of a hopeless suite of that size: a run that fails
    never raises what is proven. The last row: few cases have too few distinct resamples, equal means give a zero
    width. Yet a quantity in [0, 1] with mean p has variance p (1 - p) at most, that of a coin, so Wilson's interval
    over cases allows for at least the variation there is: wider than need be, never overconfident because of repeats.

    >>> rate_interval([1.0] * 30, repeats=3, seed=7).method.value
    'wilson-over-cases'

    Args:
        case_means: One value in [0, 1] per case, repeats already averaged, errors left out.
        repeats: The largest number of runs behind any of the means, at least 1.
        seed: Seed of the bootstrap; without effect on the other methods.
        resamples: Number of bootstrap resamples, at least 2 / (1 - level).
        level: Two-sided confidence, strictly between 0 and 1.

    Returns:
        Bounds as fractions in [0, 1] with the method used, or ``None`` without any case.

    Raises:
        ValueError: An argument is outside its range.

    Source: the choice by sample size follows S. Bowyer, L. Aitchison, D. Ivanova, arXiv 2503.01747
    (2025); averaging repeats first follows E. Miller, arXiv 2411.00640 (2024).
    """
    require_level(level)
    require_resamples(resamples, level)
    require_rates("case_means", case_means)
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1; got {repeats!r}")
    n = len(case_means)
    if n == 0:
        return None
    score = wilson(math.fsum(case_means), n, level)
    if repeats == 1 and set(case_means) <= {0.0, 1.0}:
        return score
    if n >= MIN_NORMAL_CASES:
        return normal(case_means, level) or replace(score, method=IntervalMethod.WILSON_OVER_CASES)
    interval = bootstrap_interval(case_means, seed=seed, resamples=resamples, level=level)
    return _capped(interval, n) if interval else replace(score, method=IntervalMethod.WILSON_OVER_CASES)


def widened(level: float, n: int) -> float:
    """Level at which an interval over few cases is to be made, so that it covers as often as its own level says.

    A bootstrap, as the normal distribution, takes the spread of few cases for the true one. Student's distribution and
    the factor n / (n - 1) allow for it.

    >>> round(widened(0.95, 10), 3), round(widened(0.95, 1000), 3)
    (0.983, 0.95)

    Args:
        level: Two-sided confidence, strictly between 0 and 1.
        n: Cases or clusters, at least 2.

    Returns:
        A level between the given one and 1.

    Raises:
        ValueError: An argument is outside its range.

    Source: the expanded percentile interval of T. C. Hesterberg, The American Statistician 69 (2015) 371-386, with the
    quantile of Student's distribution by formula 26.7.5 of M. Abramowitz, I. A. Stegun (1964).
    """
    require_level(level)
    if n < 2:
        raise ValueError(f"n must be at least 2; got {n!r}")
    return 1.0 - 2.0 * normal_cdf(-two_sided_t(level, n - 1) * math.sqrt(n / (n - 1)))


def _capped(interval: Interval, n: int) -> Interval:
    """No suite of `n` cases proves more than a perfect one, or less than a hopeless one."""
    perfect, hopeless = wilson(n, n, interval.level), wilson(0, n, interval.level)
    return replace(interval, lower=min(interval.lower, perfect.lower), upper=max(interval.upper, hopeless.upper))
