"""The evidence of the tasks that two reports share, as numbers; the arithmetic is that of the statistics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from skillgauge.stats import (
    MIN_NEW_CASES,
    PairedDifference,
    Repeats,
    TwiceRun,
    chance_of_difference,
    chance_of_worse,
    least_skill_change,
    level_of_look,
    lift_interval,
    lift_loss_chance,
)
from skillgauge.stats import loss_chance as chance_of_loss

from .document import Difference, LiftChange, TaskRuns

_Strata = Counter[tuple[Repeats, Repeats]]
"""Second and first side of what is exchangeable if nothing changed, with how often it occurs."""


@dataclass(frozen=True)
class Control:
    """The same task in the baseline arm, in both reports."""

    arm: str
    before: TaskRuns
    after: TaskRuns


@dataclass(frozen=True)
class TaskPair:
    """A task with a verdict in both reports."""

    task: str
    before: TaskRuns
    after: TaskRuns
    control: Control | None = None

    @property
    def change(self) -> float:
        """Pass share after minus before."""
        return self.after.share - self.before.share

    @property
    def twice_run(self) -> TwiceRun:
        """The task as the statistics take it."""
        control = self.control
        if control is None:
            return TwiceRun(self.before.repeats, self.after.repeats)
        controls = control.before.repeats, control.after.repeats
        return TwiceRun(self.before.repeats, self.after.repeats, *controls)

    @property
    def lift_change(self) -> float:
        """The same of the lift; without a baseline arm the change itself."""
        return self.change - (self.control.after.share - self.control.before.share if self.control else 0.0)


def difference(pairs: Sequence[TaskPair]) -> Difference | None:
    """The difference of the pass rates, with what is needed to trust it; `None` without a task."""
    if not pairs:
        return None
    strata = _own(pairs)
    paired = PairedDifference()
    for pair in pairs:
        paired.add(pair.after.share, pair.before.share)
    bounds = lift_interval(strata) if len(pairs) >= MIN_NEW_CASES else None
    return Difference(
        estimate=paired.mean or 0.0,
        tasks=len(pairs),
        lower=bounds.lower if bounds else None,
        upper=bounds.upper if bounds else None,
        method=bounds.method if bounds else None,
        chance=chance_of_worse(strata),
        chance_different=chance_of_difference(strata),
    )


def lift_change(pairs: Sequence[TaskPair]) -> LiftChange | None:
    """Return the change of the lift over the tasks that the baseline arm has, too; `None` if there is none."""
    controlled = [(pair, pair.control) for pair in pairs if pair.control]
    if not controlled:
        return None
    before, after = (
        math.fsum(lifts) / len(controlled)
        for lifts in (
            [pair.before.share - control.before.share for pair, control in controlled],
            [pair.after.share - control.after.share for pair, control in controlled],
        )
    )
    return LiftChange(
        arm=controlled[0][1].arm,
        tasks=len(controlled),
        before=before,
        after=after,
        estimate=after - before,
        chance=lift_loss_chance([pair.twice_run for pair, _ in controlled]),
    )


def least_loss_change(pairs: Sequence[TaskPair]) -> float:
    """Lower bound of the change of the skill itself, with 95 % confidence."""
    return least_skill_change([pair.twice_run for pair in pairs])


def share_of_level(earlier: Sequence[Sequence[TaskPair]], level: float) -> float:
    """Part of a significance level that this look may use, given the looks before it; 1 at the first."""
    return level_of_look([_own(pairs) for pairs in earlier], level, two_sided=False) / level


def loss_chance(pairs: Sequence[TaskPair]) -> float:
    """Return the chance that these tasks come out at least this much worse, and their lift where it is known."""
    return chance_of_loss([pair.twice_run for pair in pairs])


def _own(pairs: Sequence[TaskPair]) -> _Strata:
    return Counter((pair.after.repeats, pair.before.repeats) for pair in pairs)
