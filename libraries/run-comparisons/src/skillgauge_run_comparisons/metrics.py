"""The numbers that a skill is compared by: as its report published them, or anew over some of its tasks."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping, Sequence

from skillgauge.api import DIRECT
from skillgauge.stats import nearest_rank

from .document import Direction, Metric, Unit
from .tallying import SkillTally, TaskTally

_P95 = "p95Ms"
_Column = tuple[str, str, Unit, bool]
_METRICS: tuple[_Column, ...] = (
    ("completionRate", "Completion rate", Unit.RATIO, True),
    ("errorRate", "Error rate", Unit.RATIO, False),
    (_P95, "P95 latency", Unit.MILLISECONDS, False),
    ("compositeScore", "Composite score", Unit.SCORE, True),
)
"""Name, label, unit, and whether more is better."""
_MIN_SAMPLES = 20
"""With fewer the 95th percentile is the slowest of them, which says nothing of getting better or worse."""
_P95_NOISE = 0.1
"""Share by which the 95th percentile of times changes without being better or worse: machines are not that steady."""
_DECIMALS = {Unit.RATIO: 3, Unit.MILLISECONDS: 0, Unit.SCORE: 3}
"""Decimals that are printed; less than that is no difference."""


def compare_metrics(
    before: SkillTally | None,
    after: SkillTally | None,
    tasks: Collection[str] | None = None,
    graded: Collection[str] = (),
) -> tuple[Metric, ...]:
    """The rows of a skill's table, without those that neither report knows.

    Args:
        before: the skill in the first report, if it is there.
        after: the skill in the second report, if it is there.
        tasks: compute everything over these only. The composite score is then left out: its formula is the format's.
        graded: those of them with a verdict in both reports, which alone the completion rate is about then.
    """
    sides = [_values(skill, tasks, graded) if skill else {} for skill in (before, after)]
    samples = [_samples(skill) for skill in (before, after) if skill]
    has_enough = min(samples, default=0) >= _MIN_SAMPLES
    rows = []
    for column in _columns(sides, before, after):
        name = column[0]
        first, second = (side.get(name) for side in sides)
        if first is None and second is None:
            continue
        has_direction = name != _P95 or (has_enough and _is_news(first, second))
        rows.append(_row(column, first, second, has_direction=has_direction))
    return tuple(rows)


def _is_news(before: float | None, after: float | None) -> bool:
    """Tell whether a percentile of times changed by more than it does from run to run."""
    return before is not None and after is not None and abs(after - before) >= _P95_NOISE * before


def _row(column: _Column, before: float | None, after: float | None, *, has_direction: bool) -> Metric:
    """Return a number of both reports, with its change where both have it."""
    name, label, unit, more_is_better = column
    delta = None
    if before is not None and after is not None:
        delta = after - before
    return Metric(
        name=name,
        label=label,
        unit=unit,
        before=before,
        after=after,
        delta=delta,
        direction=_direction(delta if has_direction else None, unit, more_is_better=more_is_better),
    )


def _samples(skill: SkillTally) -> int:
    """Return the number of times that a percentile of the skill is of."""
    own = sum(len(task.durations_s) for task in skill.tasks.values())
    published = skill.group.latency.samples if skill.group else 0
    return max(own, published)


def _columns(sides: Sequence[Mapping[str, float | None]], *skills: SkillTally | None) -> Sequence[_Column]:
    """Return the metrics to compare: a format's own number that says more takes the place of a completion rate."""
    groups = [skill.group for skill in skills if skill and skill.group]
    for group in groups:
        for figure in group.figures:
            if figure.is_headline and figure.unit in set(Unit) and all(figure.name in side for side in sides):
                return ((figure.name, figure.label, Unit(figure.unit), figure.higher_is_better), *_METRICS[1:])
    return _METRICS


def _direction(delta: float | None, unit: Unit, *, more_is_better: bool) -> Direction:
    if delta is None:
        return Direction.UNKNOWN
    shown = round(delta, _DECIMALS[unit])
    if shown == 0:
        return Direction.SAME
    return Direction.BETTER if (shown > 0) == more_is_better else Direction.WORSE


def _values(skill: SkillTally, tasks: Collection[str] | None, graded: Collection[str]) -> dict[str, float | None]:
    counted = _counted(skill, skill.tasks, skill.tasks) if tasks is None else _counted(skill, tasks, graded)
    if tasks is not None or skill.group is None:
        return counted
    published = {figure.name: figure.value for figure in skill.group.figures if figure.value is not None}
    p95_s = skill.group.latency.p95_s
    ours = {_P95: None if p95_s is None else p95_s * 1000}
    return counted | {name: value for name, value in ours.items() if value is not None} | published


def _counted(skill: SkillTally, tasks: Collection[str], graded: Collection[str]) -> dict[str, float | None]:
    """The numbers over some tasks.

    Direct calls count errors against the skill, as eval-skills documents it; with agents they are in no rate of ours.
    """
    chosen = [tally for task, tally in skill.tasks.items() if task in tasks]
    completing = [tally for task, tally in skill.tasks.items() if task in graded]
    is_direct = skill.key.arm == DIRECT.name
    return {
        "completionRate": _passes_of_all(completing) if is_direct else _mean_share(completing),
        "errorRate": _error_rate(chosen),
        _P95: _p95_ms(chosen),
    }


def _passes_of_all(tasks: Sequence[TaskTally]) -> float | None:
    """Return the share of repeats that passed, errors counted as failures."""
    total = sum(task.total for task in tasks)
    if not total:
        return None
    return sum(task.counts.passed for task in tasks) / total


def _mean_share(tasks: Sequence[TaskTally]) -> float | None:
    """Return the mean over the tasks of the share of graded repeats that passed."""
    shares = [task.runs.share for task in tasks if task.runs.graded]
    if not shares:
        return None
    return math.fsum(shares) / len(shares)


def _error_rate(tasks: Sequence[TaskTally]) -> float | None:
    total = sum(task.total for task in tasks)
    if not total:
        return None
    return sum(task.counts.broken + task.counts.errors for task in tasks) / total


def _p95_ms(tasks: Sequence[TaskTally]) -> float | None:
    durations = array("d")
    for task in tasks:
        durations.extend(task.durations_s)
    p95_s = nearest_rank(durations, 0.95)
    return None if p95_s is None else p95_s * 1000
