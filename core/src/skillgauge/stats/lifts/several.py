"""Many questions asked at once, and one asked again: with enough of them chance alone answers one with yes.

A user who looks again whenever nothing is decided, and believes the first look that decides, is wrong more often than
each look by itself. So the looks share one level, and each pays for what its test can spend.
"""

from collections.abc import Sequence
from functools import lru_cache

from skillgauge.stats._checks import require_rates
from skillgauge.stats.lifts._pairs import Pair, Pairs
from skillgauge.stats.lifts.exact import attainable_size

_SHARE_OF_REST = 0.5
"""Part of what is left of the level that the next look uses, so that something is left for every later one."""
_LEAST = 1e-9
"""Rounding never takes the last of the level away."""


def holm(chances: Sequence[float]) -> list[float]:
    """P values that allow for how many there are, in the order given.

    Those of at most alpha are together wrong with a probability of at most alpha, however they depend on each other.

    >>> [round(chance, 3) for chance in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]

    Args:
        chances: P values, one for each question, 0 to 1.

    Returns:
        As many probabilities, none below its own p value.

    Raises:
        ValueError: A p value is none.

    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70.
    """
    require_rates("chances", chances)
    adjusted = [0.0] * len(chances)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        highest = max(highest, min(1.0, chances[index] * (len(chances) - place)))
        adjusted[index] = highest
    return adjusted


def level_of_look(earlier: Sequence[Pairs], level: float, *, two_sided: bool = True) -> float:
    """Significance level of a look, given the looks before it.

    The first look uses the whole level, but its exact test is discrete and spends less. Every later look uses half of
    what the earlier ones left, and spends again what its test can spend. However often one looks, the sum of what is
    spent stays within the level, and so does the chance of a false finding.

    >>> from skillgauge.stats import Repeats
    >>> level_of_look([], 0.05)
    0.05
    >>> round(level_of_look([{(Repeats(1, 1), Repeats(0, 1)): 6}], 0.05), 3)
    0.009

    Args:
        earlier: all results that were there at each earlier look, the oldest look first.
        level: of all looks together, between 0 and 1.
        two_sided: the looks test for any difference; else for a loss.

    Returns:
        A level above 0, at most that of all looks together.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: alpha spending by a union bound, as K. K. G. Lan, D. L. DeMets, Biometrika 70 (1983) 659-663 spend by a
    function of time; docs/statistics.md, "Looking again", has its false alarms and its power.
    """
    remaining, allowed = level, level
    for pairs in earlier:
        remaining -= _size(frozenset(pairs.items()), allowed, two_sided=two_sided)
        allowed = max(remaining, _LEAST) * _SHARE_OF_REST
    return allowed


@lru_cache(maxsize=256)
def _size(pairs: frozenset[tuple[Pair, int]], level: float, *, two_sided: bool) -> float:
    """The size of a test, kept because every later look and every report of a run asks for it again."""
    return attainable_size(dict(pairs), level, two_sided=two_sided)
