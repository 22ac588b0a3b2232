"""Rates and lifts as people would have found them, from what a judge says and labels of part of it."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import mul

from skillgauge.stats import DISPLAY_RESAMPLES, MIN_BOOTSTRAP_CASES, Interval, IntervalMethod

from .arm_errors import JudgeErrors, Share


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The judged checks of one case in one arm, over all its repeats."""

    known_pass: int = 0
    """Checks that pass for certain: people say so."""
    known_fail: int = 0
    judge_passes: int = 0
    """Checks without a label that the judge passes."""
    judge_fails: int = 0

    def __post_init__(self) -> None:
        """Raises `ValueError` for numbers that nothing can be counted to, and for a case without a check."""
        counts = (self.known_pass, self.known_fail, self.judge_passes, self.judge_fails)
        if min(counts) < 0 or not any(counts):
            raise ValueError(f"counts must not be negative, and one above 0; got {counts!r}")

    def __add__(self, second: JudgedCase) -> JudgedCase:
        """Return both together."""
        return JudgedCase(
            self.known_pass + second.known_pass,
            self.known_fail + second.known_fail,
            self.judge_passes + second.judge_passes,
            self.judge_fails + second.judge_fails,
        )

    @property
    def parts(self) -> tuple[float, float, float]:
        """Shares of its checks: known to pass, passed by the judge alone, and decided by the judge alone."""
        alone = self.judge_passes + self.judge_fails
        n = self.known_pass + self.known_fail + alone
        return self.known_pass / n, self.judge_passes / n, alone / n


@dataclass(frozen=True, slots=True)
class Corrected:
    """A rate or lift with the errors of the judge allowed for."""

    estimate: float
    interval: Interval | None
    """For new cases, from 8 cases on."""


_LEAST_IN_TAILS = 2.0 - 1e-9
"""Fewest resamples that are expected outside of an interval."""
_Parts = tuple[float, float, float]
_UNINFORMED = (0.0, 0.0)
"""Sensitivity and specificity of a judge of which nothing is known."""
_KNOWN = (JudgedCase(known_pass=1).parts, JudgedCase(known_fail=1).parts)
_JUDGED = (JudgedCase(judge_passes=1).parts, JudgedCase(judge_fails=1).parts)


def correct_rate(
    cases: Sequence[JudgedCase],
    errors: JudgeErrors | None,
    *,
    seed: int,
    resamples: int = DISPLAY_RESAMPLES,
    level: float = 0.95,
) -> Corrected | None:
    """Estimate the rate that people would have found.

    A check with a label counts as people say, so that nothing contradicts the labels. Of the others the judge's rate is
    corrected by Rogan's and Gladen's formula, and cut to what is possible.

    The interval resamples the cases, to which one that passes and one that fails are added, and draws sensitivity and
    specificity anew with one label of each kind added. Without them a judge that was right every time, or a run in
    which everything passed, would claim certainty. A draw in which the judge knows nothing leaves open what has no
    label, so that it counts for whichever bound is asked for.

    >>> from skillgauge.stats import Labelled
    >>> from skillgauge_command_judge.arm_errors import errors_in
    >>> errors = errors_in("all", {"all": Labelled(40, 10, 5, 45)})
    >>> found = correct_rate([JudgedCase(judge_passes=1)] * 5 + [JudgedCase(judge_fails=1)] * 5, errors, seed=1)
    >>> round(found.estimate, 6)
    0.45

    Args:
        cases: the checks of each case.
        errors: those of the judge in this arm; ``None`` if they are unknown.
        seed: Seed of the draw; print it beside the interval.
        resamples: Number of resamples, at least 2 / (1 - level).
        level: Two-sided confidence, strictly between 0 and 1.

    Returns:
        The rate and its interval, from 0 to 1. ``None`` without cases, and where something has no label and the judge
        passes what is good no more often than what is bad, or its errors are unknown.

    Raises:
        ValueError: An argument is outside its range.

    Source: W. J. Rogan, B. Gladen, American Journal of Epidemiology 107 (1978) 71-76; C. Lee et al., arXiv 2511.21140
    (2025), for resampling both and for the labels that are added; B. Efron, R. Tibshirani, *An Introduction to the
    Bootstrap* (1993), chapter 13, for the percentiles.
    """
    rows = [(case.parts,) for case in cases]
    pseudo = [(one,) for one in _added_to(cases)] * 2
    return _corrected(rows, (errors,), pseudo, _Draws(seed, resamples, level))


def correct_lift(
    pairs: Sequence[tuple[JudgedCase, JudgedCase]],
    errors: tuple[JudgeErrors | None, JudgeErrors | None],
    *,
    seed: int,
    resamples: int = DISPLAY_RESAMPLES,
    level: float = 0.95,
) -> Corrected | None:
    """Estimate the lift that people would have found: each arm is corrected by its own errors.

    With errors that are equal in both arms, and no labels of these checks, it is the judged lift divided by
    sensitivity + specificity - 1. The interval is made as that of `correct_rate`, from pairs. The two
    cases that are added are Agresti's and Min's: one quarter of them is won by each arm, and in half of them both arms
    are alike. Errors that come from the same labels are drawn together.

    >>> from skillgauge.stats import Labelled
    >>> from skillgauge_command_judge.arm_errors import errors_in
    >>> errors = errors_in("all", {"all": Labelled(40, 10, 10, 40)})
    >>> good, bad = JudgedCase(judge_passes=1), JudgedCase(judge_fails=1)
    >>> found = correct_lift([(good, bad)] * 3 + [(good, good)] * 3 + [(bad, bad)] * 4, (errors, errors), seed=1)
    >>> round(found.estimate, 6)
    0.5

    Args:
        pairs: the checks of each case in the candidate arm and in the baseline arm.
        errors: those of the judge in either arm; ``None`` if they are unknown.
        seed: Seed of the draw; print it beside the interval.
        resamples: Number of resamples, at least 2 / (1 - level).
        level: Two-sided confidence, strictly between 0 and 1.

    Returns:
        The lift and its interval, from -1 to 1. ``None`` as `correct_rate` for either arm.

    Raises:
        ValueError: An argument is outside its range.

    Source: as `correct_rate`; A. Agresti, Y. Min, Statistics in Medicine 24 (2005) 729-740, for the cases.
    docs/statistics.md has its coverage.
    """
    rows = [(ours.parts, theirs.parts) for ours, theirs in pairs]
    added = _added_to([case for pair in pairs for case in pair])
    pseudo = [(ours, theirs) for ours in added for theirs in added]
    return _corrected(rows, errors, pseudo, _Draws(seed, resamples, level))


def _added_to(cases: Sequence[JudgedCase]) -> tuple[_Parts, _Parts]:
    """A case that passes and one that fails, known to do so only if no case rests on the judge."""
    rests_on_judge = any(case.judge_passes or case.judge_fails for case in cases)
    return _JUDGED if rests_on_judge else _KNOWN


@dataclass(frozen=True)
class _Draws:
    """The resampling that was asked for."""

    seed: int
    resamples: int
    level: float

    def __post_init__(self) -> None:
        """Raises `ValueError` for arguments that are out of range."""
        if not 0.0 < self.level < 1.0:
            raise ValueError(f"level must be strictly between 0 and 1, such as 0.95; got {self.level!r}")
        if self.resamples * (1.0 - self.level) < _LEAST_IN_TAILS:
            raise ValueError(f"level {self.level} needs more resamples than {self.resamples!r}")


def _corrected(
    rows: Sequence[tuple[_Parts, ...]],
    errors: Sequence[JudgeErrors | None],
    pseudo: Sequence[tuple[_Parts, ...]],
    draws: _Draws,
) -> Corrected | None:
    """Correct a rate, or a lift of two arms.

    Args:
        rows: for each case its parts in each arm.
        errors: those of the judge in each arm.
        pseudo: four half cases that are added.
        draws: the resampling.
    """
    if not rows:
        return None
    shares = [(one.sensitivity.value, one.specificity.value) if one else _UNINFORMED for one in errors]
    low, high = _bounds(_Pool(Counter(rows)).means(), shares)
    if low < high:
        return None
    if len(rows) < MIN_BOOTSTRAP_CASES:
        return Corrected(low, None)
    weights = Counter({row: 2 * count for row, count in Counter(rows).items()})
    weights.update(pseudo)
    lower, upper = _percentiles(_Pool(weights), len(rows), errors, draws)
    interval = Interval(min(low, lower), max(low, upper), draws.level, IntervalMethod.BOOTSTRAP_PERCENTILE)
    return Corrected(low, interval)


class _Pool:
    """Cases by what is known of them, as many of each kind as there are."""

    def __init__(self, weights: Counter[tuple[_Parts, ...]]) -> None:
        self._kinds = sorted(weights)
        self._weights = [weights[kind] for kind in self._kinds]
        columns = zip(*(chain.from_iterable(kind) for kind in self._kinds), strict=True)
        self._columns = [tuple(column) for column in columns]

    def means(self, counts: Sequence[int] = ()) -> list[_Parts]:
        """Mean parts of each arm over the cases, or over as many of each kind as are given."""
        numbers = counts or self._weights
        n = sum(numbers)
        means = [sum(map(mul, column, numbers)) / n for column in self._columns]
        return [(means[at], means[at + 1], means[at + 2]) for at in range(0, len(means), 3)]

    def sample(self, generator: random.Random, n: int) -> list[_Parts]:
        """Mean parts of each arm over so many cases that are drawn with replacement."""
        places = range(len(self._kinds))
        drawn = Counter(generator.choices(places, self._weights, k=n))
        return self.means([drawn[place] for place in places])


def _percentiles(pool: _Pool, n: int, errors: Sequence[JudgeErrors | None], draws: _Draws) -> tuple[float, float]:
    generator = random.Random(draws.seed)
    lows, highs = [], []
    for _ in range(draws.resamples):
        low, high = _bounds(pool.sample(generator, n), _redrawn(errors, generator))
        lows.append(low)
        highs.append(high)
    tail = (1.0 - draws.level) / 2.0
    lower = sorted(lows)[math.floor(tail * (draws.resamples - 1))]
    upper = sorted(highs)[math.ceil((1.0 - tail) * (draws.resamples - 1))]
    return lower, upper


def _bounds(means: Sequence[_Parts], shares: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Least and largest rate, or lift of the first arm over the second; equal unless the judge knows nothing."""
    ranges = [_range(parts, *errors) for parts, errors in zip(means, shares, strict=True)]
    low, high = ranges[0]
    for least, most in ranges[1:]:
        low, high = low - most, high - least
    return low, high


def _range(parts: _Parts, sensitive: float, specific: float) -> tuple[float, float]:
    certain, passes, alone = parts
    informed = sensitive + specific - 1.0
    if alone and informed <= 0.0:
        return certain, certain + alone
    if alone:
        certain += min(alone, max(0.0, (passes + alone * (specific - 1.0)) / informed))
    return certain, certain


def _redrawn(errors: Sequence[JudgeErrors | None], generator: random.Random) -> list[tuple[float, float]]:
    """Sensitivity and specificity that other labels might have shown; equal ones are the same labels."""
    drawn: dict[tuple[str, Share], float] = {}
    for judge in filter(None, errors):
        for kind, share in (("sensitivity", judge.sensitivity), ("specificity", judge.specificity)):
            if (kind, share) not in drawn:
                drawn[kind, share] = generator.betavariate(share.right + 1.0, share.n - share.right + 1.0)
    pairs = [
        judge and (drawn["sensitivity", judge.sensitivity], drawn["specificity", judge.specificity]) for judge in errors
    ]
    return [pair or _UNINFORMED for pair in pairs]
