"""Exact tests of a difference of two arms over the same cases: could chance alone have made it?"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from skillgauge.stats._normal import normal_cdf
from skillgauge.stats.lifts._pairs import Pair, Pairs, scale_of, scaled

_ROUNDING = 1e-12
"""Sums of probabilities that are equal differ by less."""
_STATES = 5_000
"""Most distinct values of a test's statistic that are followed one by one; beyond, their sum is normal."""


def chance_of_difference(pairs: Pairs) -> float:
    """Return the chance that these cases come out at least this different if the arms are alike: exact, two-sided.

    If the arms are alike, all repeats of a case are, whichever arm they are in, so the passes that fall to the
    candidate are hypergeometric, case by case. With one repeat each this is McNemar's exact test.

    >>> from skillgauge.stats import Repeats
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


def chance_of_worse(pairs: Pairs) -> float:
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


def attainable_size(pairs: Pairs, level: float, *, two_sided: bool) -> float:
    """Return the chance that the exact test of these cases rejects at this level if nothing differs: at most the level.

    Its statistic is discrete, so that a test at 5 % is wrong less often than that. A later look at the same cases may
    spend what is left; see `level_of_look`.

    >>> from skillgauge.stats import Repeats
    >>> attainable_size({(Repeats(1, 1), Repeats(0, 1)): 6}, 0.05, two_sided=True)
    0.03125

    Args:
        pairs: the cases compared.
        level: largest chance that counts as evidence, 0 to 1.
        two_sided: the test of `chance_of_difference`; else that of `chance_of_worse`.

    Returns:
        A probability from 0 to the level.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: the definition of the size of a discrete test; see docs/statistics.md, "Looking again".
    """
    return _null(pairs, _by_chance, scale_of(pairs)).size(level, two_sided=two_sided)


def chance_by_sign(pairs: Pairs) -> float:
    """Return the chance that cases like these come out at least this different if the arms are alike: exact, two-sided.

    If the arms are alike, the difference of a case might as well have had the other sign.

    >>> from skillgauge.stats import Repeats
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


def _by_chance(pair: Pair, scale: int) -> _Steps:
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


def _by_sign(pair: Pair, scale: int) -> _Steps:
    """The difference that a case has shown, and its opposite."""
    step = scaled(pair, scale)
    return [(step, 0.5), (-step, 0.5)] if step else []


@dataclass(frozen=True)
class _Null:
    """Distribution of the statistic if the arms are alike: a sum of independent steps with mean 0."""

    chances: dict[int, float] | None
    """Probability of each value of the sum; `None` if there are too many of them to follow one by one."""
    variance: float
    """Of the sum, for the normal distribution that takes their place."""

    def chance(self, observed: int, *, two_sided: bool) -> float:
        """Probability of a sum as extreme as the observed one; one-sided, of one as low."""
        if self.chances is None:
            z = observed / math.sqrt(self.variance)
            return 2.0 * normal_cdf(-abs(z)) if two_sided else normal_cdf(z)
        if two_sided:
            extreme = (chance for value, chance in self.chances.items() if abs(value) >= abs(observed))
        else:
            extreme = (chance for value, chance in self.chances.items() if value <= observed)
        return min(1.0, math.fsum(extreme))

    def size(self, level: float, *, two_sided: bool) -> float:
        """Largest probability up to a level that a test can reach: the level itself, unless the sum is discrete."""
        if self.chances is None:
            return level
        tail: dict[int, float] = {}
        for value, chance in self.chances.items():
            extremeness = abs(value) if two_sided else -value
            tail[extremeness] = tail.get(extremeness, 0.0) + chance
        reached = 0.0
        for extremeness in sorted(tail, reverse=True):
            if reached + tail[extremeness] > level + _ROUNDING:
                break
            reached += tail[extremeness]
        return reached


def _null(pairs: Pairs, steps_of: Callable[[Pair, int], _Steps], scale: int) -> _Null:
    """The distribution of the sum of what each case can add."""
    kinds = [(steps, cases) for pair, cases in sorted(pairs.items()) if len(steps := steps_of(pair, scale)) > 1]
    variance = 0.0
    for steps, cases in kinds:
        variance += cases * math.fsum(chance * step * step for step, chance in steps)
    if any(cases >= _STATES for _, cases in kinds):  # so many equal cases alone have more different sums than that
        return _Null(None, variance)
    chances: dict[int, float] = {0: 1.0}
    for steps, cases in kinds:
        for _ in range(cases):
            if len(chances) > _STATES:
                return _Null(None, variance)
            chances = _convolved(chances, steps)
    return _Null(chances if len(chances) <= _STATES else None, variance)


def _chance(pairs: Pairs, steps_of: Callable[[Pair, int], _Steps], *, two_sided: bool) -> float:
    """Probability of a sum as extreme as the one observed; one-sided, of one as low."""
    scale = scale_of(pairs)
    observed = sum(scaled(pair, scale) * cases for pair, cases in pairs.items())
    return _null(pairs, steps_of, scale).chance(observed, two_sided=two_sided)


def _convolved(chances: dict[int, float], steps: _Steps) -> dict[int, float]:
    """The distribution of the sum."""
    summed: dict[int, float] = {}
    for value, chance in chances.items():
        for step, likely in steps:
            summed[value + step] = summed.get(value + step, 0.0) + chance * likely
    return summed
