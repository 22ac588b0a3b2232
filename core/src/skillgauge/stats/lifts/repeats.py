"""How the repeats of a case ended in one arm, and how large a loss those of some cases leave possible."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skillgauge.stats._checks import require_level
from skillgauge.stats._normal import normal_quantile


@dataclass(frozen=True, slots=True, order=True)
class Repeats:
    """The repeats of one case in one arm."""

    passed: int
    graded: int
    """At least 1: errors are left out, and a case with nothing else is no pair."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for numbers that no case can have."""
        if not 0 <= self.passed <= self.graded or self.graded < 1:
            raise ValueError(f"of at least 1 graded repeat some pass; got {self.passed!r} of {self.graded!r}")

    @property
    def share(self) -> float:
        """Share that passed, 0 to 1."""
        return self.passed / self.graded


def least_change(gains: Sequence[Sequence[Repeats]], losses: Sequence[Sequence[Repeats]], level: float = 0.95) -> float:
    """Lower bound of a sum of mean pass shares minus others, for *these cases*: one-sided.

    The change of a skill has its second run among the gains and its first among the losses. The change of its lift also
    has the baseline arm of the first run among the gains, and that of the second among the losses.

    A pass share over cases varies less than one over as many runs of a single coin with the same mean, so a coin is
    taken for each: the bound is too low rather than too high. One pass and one failure are added to each, so that runs
    without any variation do not claim certainty.

    >>> perfect = [Repeats(5, 5)] * 10
    >>> round(least_change([perfect], [perfect]), 3)
    -0.044

    Args:
        gains: the cases of each mean that counts as it is; at least one case each.
        losses: those of each mean that is taken away; at least one case each.
        level: one-sided confidence, strictly between 0 and 1.

    Returns:
        A bound that is at most the observed change.

    Raises:
        ValueError: a mean has no case, or the level is outside its range.

    Source: A. Agresti, B. Caffo, The American Statistician 54 (2000) 280-288, for independent proportions; that cases
    of different rates only lower the variance of their mean is W. Hoeffding, Annals of Mathematical Statistics 27
    (1956) 713-721.
    """
    require_level(level)
    observed, centre, variance = 0.0, 0.0, 0.0
    for sign, means in ((1.0, gains), (-1.0, losses)):
        for cases in means:
            if not cases:
                raise ValueError("every mean needs at least one case")
            share = math.fsum(case.share for case in cases) / len(cases)
            runs = len(cases) ** 2 / math.fsum(1.0 / case.graded for case in cases)
            shrunk = (share * runs + 1.0) / (runs + 2.0)
            observed += sign * share
            centre += sign * shrunk
            variance += shrunk * (1.0 - shrunk) / (runs + 2.0)
    return min(observed, centre - normal_quantile(level) * math.sqrt(variance))
