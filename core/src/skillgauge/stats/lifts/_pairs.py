"""Cases in two arms, and their differences as whole numbers, so that sums of them are exact."""

import math
from collections.abc import Mapping

from skillgauge.stats.lifts.repeats import Repeats

Pair = tuple[Repeats, Repeats]
Pairs = Mapping[Pair, int]
"""Candidate and baseline of a case, to the number of cases of which it is true."""


def difference_of(pair: Pair) -> float:
    """Pass share of the candidate minus that of the baseline."""
    return pair[0].share - pair[1].share


def mean_difference(pairs: Pairs) -> float:
    """Mean over the cases, at least one, of the difference of their pass shares."""
    return math.fsum(difference_of(pair) * cases for pair, cases in pairs.items()) / sum(pairs.values())


def scale_of(pairs: Pairs) -> int:
    """Parts of a whole difference, so that each difference of a case is a whole number of them."""
    return math.lcm(*(runs.graded for pair in pairs for runs in pair)) if pairs else 1


def scaled(pair: Pair, scale: int) -> int:
    """The difference of a case, in parts."""
    ours, theirs = pair
    return ours.passed * (scale // ours.graded) - theirs.passed * (scale // theirs.graded)
