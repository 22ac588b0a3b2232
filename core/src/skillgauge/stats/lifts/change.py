"""Did the skill change, or the model? The same cases in two runs, with an arm without the skill as the control.

A model that got worse takes the arm with the skill down, and its lift stays; one that got better takes the lift down,
and the arm with the skill stays. So a skill has changed only as far as both did: the pass rate of its arm and its lift.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillgauge.stats.intervals import Interval
from skillgauge.stats.lifts._pairs import Pair
from skillgauge.stats.lifts.evidence import MIN_NEW_CASES
from skillgauge.stats.lifts.exact import chance_of_difference, chance_of_worse
from skillgauge.stats.lifts.intervals import difference_interval, interval_here
from skillgauge.stats.lifts.planning import RARE
from skillgauge.stats.lifts.repeats import Repeats, least_change

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class TwiceRun:
    """A case of two runs in the arm with the skill and, as far as both runs have it, in the control."""

    before: Repeats
    after: Repeats
    control_before: Repeats | None = None
    control_after: Repeats | None = None

    @property
    def control(self) -> tuple[Repeats, Repeats] | None:
        """The case in the control, before and after; `None` unless both runs have it."""
        if self.control_before is None or self.control_after is None:
            return None
        return self.control_before, self.control_after

    @property
    def reversed(self) -> "TwiceRun":
        """The same, as if the second run had been the first."""
        return TwiceRun(self.after, self.before, self.control_after, self.control_before)


class ChangeFinding(StrEnum):
    """The finding on a change of a skill. Closed, and the strings are frozen."""

    WORSE = "worse"
    """By more than the margin, and beyond chance."""
    NOT_WORSE = "not_worse"
    """A loss above the margin is excluded."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a skill from one run to another."""

    n: int
    """Cases of both runs."""
    own: float
    """Change of the mean pass share in the arm with the skill, -1 to 1."""
    lift: float | None
    """Change of the lift over the cases that the control has, too, -2 to 2; `None` without a control."""
    chance: float
    """How likely so large a loss is if nothing has changed: one-sided, the greater one of arm and lift."""
    least: float
    """Lower bound of the change of the skill itself, with 95 % confidence."""

    def finding(self, margin: float, chance: float | None = None) -> ChangeFinding:
        """Return what the change shows.

        Args:
            margin: largest loss, as a fraction, that is none.
            chance: the chance, if others were asked at the same time and are allowed for.
        """
        is_down = has_fallen(self.own, self.lift, margin)
        if is_down and (self.chance if chance is None else chance) <= RARE:
            return ChangeFinding.WORSE
        if not is_down and self.least > -margin - _ROUNDING:
            return ChangeFinding.NOT_WORSE
        return ChangeFinding.UNDECIDED


def has_fallen(own: float, lift: float | None, margin: float) -> bool:
    """Return whether an arm and its lift, where it is known, are both down by more than a margin.

    Args:
        own: change of the pass rate of the arm.
        lift: change of its lift.
        margin: a loss up to this is none.

    Returns:
        True if both are.

    Raises:
        Nothing.

    Source: docs/statistics.md, "Regressions".
    """
    return all(-change > margin + _ROUNDING for change in (own, lift) if change is not None)


def change_of(cases: Sequence[TwiceRun]) -> Change | None:
    """Return how a skill changed over these cases.

    >>> steady = TwiceRun(Repeats(3, 3), Repeats(3, 3))
    >>> change_of([steady] * 20).finding(0.05).value, change_of([steady] * 4).finding(0.05).value
    ('not_worse', 'undecided')
    >>> fallen = TwiceRun(Repeats(3, 3), Repeats(0, 3), Repeats(3, 3), Repeats(0, 3))
    >>> change_of([fallen] * 10).finding(0.05).value  # the model fell as well
    'undecided'

    Args:
        cases: of both runs.

    Returns:
        The change for *these cases*; ``None`` without any.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: docs/statistics.md, "Regressions"; the tests and bounds name their own.
    """
    if not cases:
        return None
    controlled = _controlled(cases)
    lift = None
    if controlled:
        changes = [_own(case) - (after.share - before.share) for case, (before, after) in controlled]
        lift = sum(changes) / len(changes)
    return Change(
        n=len(cases),
        own=sum(map(_own, cases)) / len(cases),
        lift=lift,
        chance=loss_chance(cases),
        least=least_skill_change(cases),
    )


def _own(case: TwiceRun) -> float:
    return case.after.share - case.before.share


def loss_chance(cases: Sequence[TwiceRun]) -> float:
    """Return the chance that these cases come out at least this much worse, and their lift where it is known.

    Both must be beyond chance, so it is the greater of the two.

    Args:
        cases: of both runs.

    Returns:
        A probability above 0 and at most 1.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: as `chance_of_worse`; R. L. Berger, Technometrics 24 (1982) 295-300, for tests that have to hold together.
    """
    chances = [chance_of_worse(Counter((case.after, case.before) for case in cases))]
    if any(case.control for case in cases):
        chances.append(lift_loss_chance(cases))
    return max(chances)


def lift_loss_chance(cases: Sequence[TwiceRun]) -> float:
    """Return the chance that the lift comes out at least this much lower, over the cases that the control has, too.

    Args:
        cases: of both runs; those without a control are left out.

    Returns:
        A probability above 0 and at most 1.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: as `chance_of_worse`; what the control gains counts as what the arm with the skill loses does.
    """
    return chance_of_worse(_strata_of_lift(cases))


def lift_difference_chance(cases: Sequence[TwiceRun]) -> float:
    """Return the chance that the lifts of two runs, or of two engines, come out at least this different: two-sided.

    Args:
        cases: of both; those without a control are left out.

    Returns:
        A probability above 0 and at most 1.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: as `lift_loss_chance`.
    """
    return chance_of_difference(_strata_of_lift(cases))


def lift_difference_interval(cases: Sequence[TwiceRun], level: float, chance: float | None = None) -> Interval:
    """Interval of the difference of two lifts for *these cases*, those of two runs or of two engines.

    >>> better = TwiceRun(Repeats(0, 1), Repeats(1, 1), Repeats(0, 1), Repeats(0, 1))
    >>> interval = lift_difference_interval([better] * 12, 0.95)
    >>> f"{interval.lower:.2f} .. {interval.upper:.2f}"
    '0.51 .. 1.33'

    Args:
        cases: of both, at least one with a control; those without are left out.
        level: two-sided confidence, strictly between 0 and 1.
        chance: that of the difference; `None` computes it.

    Returns:
        The bounds as fractions from -2 to 2; they contain the difference.

    Raises:
        ValueError: no case has a control, or the level is outside its range.

    Source: as `interval_here`, each arm of each case being a stratum; the mean over them is half of the difference.
    """
    interval = interval_here(_strata_of_lift(cases), level, chance)
    return Interval(2 * interval.lower, 2 * interval.upper, interval.level, interval.method)


def _strata_of_lift(cases: Sequence[TwiceRun]) -> Counter[Pair]:
    """Each arm of each case: its repeats in one run and in the other, so that a sum of differences is one of lifts."""
    strata: Counter[Pair] = Counter()
    for case in cases:
        if case.control:
            before, after = case.control
            strata[case.after, case.before] += 1
            strata[before, after] += 1
    return strata


def least_skill_change(cases: Sequence[TwiceRun], level: float = 1.0 - RARE) -> float:
    """Lower bound of the change: of the pass rate, or of the lift if that excludes more.

    A skill that got worse takes both down, so either bound excludes it; where there are two, each has half of the rest
    of the level.

    Args:
        cases: at least one.
        level: one-sided confidence, strictly between 0 and 1.

    Returns:
        A bound that is at most the observed change.

    Raises:
        ValueError: there is no case, or the level is outside its range.

    Source: as `least_change`.
    """
    controlled = _controlled(cases)
    if controlled:
        level = 1.0 - (1.0 - level) / 2
    bounds = [least_change([[case.after for case in cases]], [[case.before for case in cases]], level)]
    if controlled:
        gains = [[case.after for case, _ in controlled], [before for _, (before, _) in controlled]]
        losses = [[case.before for case, _ in controlled], [after for _, (_, after) in controlled]]
        bounds.append(least_change(gains, losses, level))
    return max(bounds)


def new_change_bounds(cases: Sequence[TwiceRun], *, is_gain: bool) -> tuple[float, float] | None:
    """Bounds of the change of the skill for *new cases*: of what its arm and its lift have both lost, or both gained.

    Args:
        cases: of both runs.
        is_gain: the change is a gain only as far as both have gained; else a loss only as far as both have lost.

    Returns:
        The 95 % bounds; ``None`` below the fewest cases from which anything is said of new ones.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: as `difference_interval`; the change of the lift, which may be twice as large, is halved for it.
    """
    intervals = [_new_interval([_own(case) for case in cases])]
    lifts = [_own(case) - (after.share - before.share) for case, (before, after) in _controlled(cases)]
    if lifts:
        intervals.append(_new_interval([change / 2 for change in lifts], scale=2.0))
    bounds = [interval for interval in intervals if interval is not None]
    if len(bounds) < len(intervals):
        return None
    lowers, uppers = [lower for lower, _ in bounds], [upper for _, upper in bounds]
    if is_gain:
        return min(lowers), min(uppers)
    return max(lowers), max(uppers)


def _new_interval(changes: Sequence[float], scale: float = 1.0) -> tuple[float, float] | None:
    if len(changes) < MIN_NEW_CASES:
        return None
    interval = difference_interval([(change, 1) for change in changes])
    return interval.lower * scale, interval.upper * scale


def _controlled(cases: Sequence[TwiceRun]) -> list[tuple[TwiceRun, tuple[Repeats, Repeats]]]:
    """The cases that the control has, too, each with its repeats there."""
    return [(case, case.control) for case in cases if case.control]
