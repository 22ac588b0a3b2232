"""The errors of a judge, arm by arm: do they differ, and which ones hold for an arm?

A judge that is right equally often overall may still favour one arm, and then its lift is wrong by any amount.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from skillgauge.stats import Labelled, holm

MIN_ARM_LABELS = 10
"""Fewest labels of each arm from which a judge may be more than advisory where arms are compared."""
_MIN_OWN_LABELS = 5
"""Fewest labels of a kind from which an arm's own errors are estimated; below, those of all arms stand in."""
_RARE = 0.05
"""Errors differ if chance explains the difference with at most this probability."""
_SHRINKAGE = 2.0
"""Labels like those of all arms that are added to those of an arm."""
_ROUNDING = 1.0 + 1e-9


class ErrorKind(StrEnum):
    """The two ways in which a judge is wrong. Closed, and the strings are frozen."""

    FALSE_PASS = "false_pass"
    """It passes what people fail."""
    FALSE_FAIL = "false_fail"
    """It fails what people pass."""


@dataclass(frozen=True, slots=True)
class ErrorComparison:
    """Errors of one kind in two arms."""

    kind: ErrorKind
    first_arm: str
    first_wrong: int
    first_labels: int
    """Labels of the first arm in which that error was possible."""
    second_arm: str
    second_wrong: int
    second_labels: int
    chance: float
    """How likely arms with equal errors differ at least as much: Fisher's exact test, adjusted by Holm's method for all
    comparisons that were made."""

    @property
    def differs(self) -> bool:
        """True if the difference is beyond chance."""
        return self.chance <= _RARE


@dataclass(frozen=True, slots=True)
class Share:
    """A share that was estimated from labels."""

    right: float
    """Labels on which the judge was right; fractions come from labels of other arms."""
    n: float
    """All labels of the kind, above 0."""
    arm: str = ""
    """The arm that the labels come from; empty if they come from all arms."""

    @property
    def value(self) -> float:
        """The estimate, from 0 to 1."""
        return self.right / self.n


@dataclass(frozen=True, slots=True)
class JudgeErrors:
    """Sensitivity and specificity of a judge in one arm."""

    sensitivity: Share
    specificity: Share

    @property
    def informed(self) -> float:
        """How much more often it passes what is good than what is bad; at most 0 if it tells nothing."""
        return self.sensitivity.value + self.specificity.value - 1.0


def fisher_exact(first: int, first_n: int, second: int, second_n: int) -> float:
    """Return how likely two equal shares come out at least this different: exact, two-sided.

    >>> round(fisher_exact(10, 16, 0, 21), 6)
    2.3e-05

    Args:
        first: Hits of the first group.
        first_n: Its size.
        second: Hits of the second group.
        second_n: Its size.

    Returns:
        A probability above 0 and at most 1; 1 if a group is empty.

    Raises:
        ValueError: A group has a negative number of hits, or more hits than members.

    Source: R. A. Fisher, *Statistical Methods for Research Workers*; of all tables with these margins, those
    that are no more likely than the one that was seen.
    """
    if not 0 <= first <= first_n or not 0 <= second <= second_n:
        raise ValueError(
            f"hits must lie between 0 and the size; got {first!r} of {first_n!r}, {second!r} of {second_n!r}"
        )
    hits = first + second
    ways = [
        math.comb(first_n, in_first) * math.comb(second_n, hits - in_first)
        for in_first in range(max(0, hits - second_n), min(hits, first_n) + 1)
    ]
    observed = math.comb(first_n, first) * math.comb(second_n, second)
    return sum(way for way in ways if way <= observed * _ROUNDING) / sum(ways)


def compare_errors(arms: Mapping[str, Labelled]) -> tuple[ErrorComparison, ...]:
    """Compare the errors of a judge between all arms, kind by kind.

    >>> arms = {"with": Labelled(14, 10, 0, 6), "without": Labelled(9, 0, 0, 21)}
    >>> [(one.kind.value, one.differs) for one in compare_errors(arms)]
    [('false_pass', True), ('false_fail', False)]

    Args:
        arms: the labels of each arm, by its name.

    Returns:
        One comparison for each kind and pair of arms that both have labels of that kind. None differs if the errors are
        equal in all arms, with a probability of at least 95 %.

    Raises:
        Nothing: `Labelled` refuses what cannot be counted.

    Source: `fisher_exact`, `holm`.
    """
    tables = [
        (kind, first, second)
        for kind in ErrorKind
        for first, second in combinations(arms, 2)
        if _errors(arms[first], kind)[1] and _errors(arms[second], kind)[1]
    ]
    chances = [
        fisher_exact(*_errors(arms[first], kind), *_errors(arms[second], kind)) for kind, first, second in tables
    ]
    return tuple(
        ErrorComparison(kind, first, *_errors(arms[first], kind), second, *_errors(arms[second], kind), chance)
        for (kind, first, second), chance in zip(tables, holm(chances), strict=True)
    )


def _errors(labelled: Labelled, kind: ErrorKind) -> tuple[int, int]:
    """The number of errors of a kind, and of the labels in which it was possible."""
    if kind is ErrorKind.FALSE_PASS:
        return labelled.only_judge_passes, labelled.people_fail
    return labelled.only_people_pass, labelled.people_pass


def errors_in(arm: str, arms: Mapping[str, Labelled]) -> JudgeErrors | None:
    """Estimate sensitivity and specificity of a judge in one arm.

    They come from the arm's own labels. To these, two are added that are like those of all arms together, unless the
    errors differ between arms beyond chance. Below 5 labels of a kind all arms together stand in for the arm, which
    takes their errors to be equal.

    >>> errors = errors_in("with", {"with": Labelled(14, 10, 0, 6), "without": Labelled(9, 0, 0, 21)})
    >>> f"{errors.sensitivity.value:.2f} {errors.specificity.value:.2f}"
    '1.00 0.38'

    Args:
        arm: its name; it may have no labels.
        arms: the labels of each arm, by its name; at least one.

    Returns:
        The errors, or ``None`` if people pass nothing, or fail nothing, in all arms.

    Raises:
        Nothing: `Labelled` refuses what cannot be counted.

    Source: shrinkage to the common mean, as in B. Efron, C. Morris, JASA 70 (1975) 311-319, with a fixed weight.
    """
    sensitive = {name: (one.both_pass, one.people_pass) for name, one in arms.items()}
    specific = {name: (one.neither_passes, one.people_fail) for name, one in arms.items()}
    differing = {comparison.kind for comparison in compare_errors(arms) if comparison.differs}
    passes = _share(arm, sensitive, 0.0 if ErrorKind.FALSE_FAIL in differing else _SHRINKAGE)
    fails = _share(arm, specific, 0.0 if ErrorKind.FALSE_PASS in differing else _SHRINKAGE)
    return JudgeErrors(passes, fails) if passes and fails else None


def _share(arm: str, counts: Mapping[str, tuple[int, int]], added: float) -> Share | None:
    """The share of an arm, given how often the judge was right in each arm, and of how many labels.

    Args:
        arm: its name.
        counts: both numbers of each arm.
        added: the number of labels like those of all arms that are added.
    """
    every_right, every = (sum(numbers) for numbers in zip(*counts.values(), strict=True))
    if every == 0:
        return None
    right, n = counts.get(arm, (0, 0))
    if n < _MIN_OWN_LABELS or n == every:
        return Share(every_right, every)
    return Share(right + added * every_right / every, n + added, arm)
