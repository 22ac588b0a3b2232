"""When a skill counts as having got worse.

Direct calls of a deterministic skill give the same verdict every time, so one task that passed and now fails is a
regression, however few tasks there are. Repeats of an unsteady skill differ by themselves, so there a lower rate must
be more than what chance makes of it. The rule is in the README word for word; change both.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillgauge.api import plain

from .document import Difference, Regression, TaskChange, Turn

MAX_DROP = 0.05
"""Loss of pass rate, as a fraction, that is no regression unless the user says otherwise."""
CHANCE = 0.05
"""A loss that chance alone makes this likely or less is no chance."""
_ROUNDING = 1e-9
_NAMED = 3


def judge(
    changes: Sequence[TaskChange], difference: Difference | None, max_drop: float
) -> tuple[Regression, tuple[str, ...]]:
    """Whether a skill regressed, and why.

    Args:
        changes: its tasks whose pass share differs.
        difference: its pass rate over the compared tasks; `None` if there are none.
        max_drop: largest loss of pass rate, as a fraction, that is no regression.
    """
    if difference is None:
        return Regression.NOT_JUDGED, ()
    broken = [change.task for change in changes if change.turn is Turn.BROKE]
    reasons = []
    if broken:
        reasons.append(f"{named(broken)} passed before and {'fails' if len(broken) == 1 else 'fail'} now")
    drop = -difference.estimate
    is_down = drop > max_drop + _ROUNDING
    told = f"pass rate {-drop * 100:+.1f} points over {_tasks(difference.tasks)}"
    if is_down and difference.chance <= CHANCE:
        reasons.append(f"{told}, which chance explains with p = {difference.chance:.3f} only")
    if reasons:
        return Regression.YES, tuple(reasons)
    if is_down:
        return Regression.UNDECIDED, (f"{told}, which chance may explain (p = {difference.chance:.3f})",)
    return Regression.NO, ()


def overall(judged: Sequence[Regression]) -> Regression:
    """The worst of several."""
    order = (Regression.YES, Regression.UNDECIDED, Regression.NO)
    return next((one for one in order if one in judged), Regression.NOT_JUDGED)


def named(tasks: Sequence[str]) -> str:
    """Some tasks by name and the rest by number."""
    shown = ", ".join(plain(task, 60) for task in tasks[:_NAMED])
    more = len(tasks) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _tasks(count: int) -> str:
    return f"{count} task{'' if count == 1 else 's'}"
