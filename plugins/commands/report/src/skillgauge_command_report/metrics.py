"""The numbers that a skill is compared by: as its report published them, or anew over some of its tasks."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping, Sequence

from skillgauge.api import DIRECT, nearest_rank

from .document import Direction, Metric, Unit
from .tallying import SkillTally

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
    sides = [_values(one, tasks, graded) if one else {} for one in (before, after)]
    has_enough = min((_samples(one) for one in (before, after) if one), default=0) >= _MIN_SAMPLES
    rows = []
    for name, label, unit, more_is_better in _columns(sides, before, after):
        first, second = (side.get(name) for side in sides)
        if first is None and second is None:
            continue
        delta = None if first is None or second is None else second - first
        is_told = delta is not None and (name != _P95 or has_enough)
        rows.append(
            Metric(
                name=name,
                label=label,
                unit=unit,
                before=first,
                after=second,
                delta=delta,
                direction=_direction(delta if is_told else None, unit, more_is_better=more_is_better),
            )
        )
    return tuple(rows)


def _samples(skill: SkillTally) -> int:
    """How many times a percentile of the skill is of."""
    return max(
        sum(len(one.durations_s) for one in skill.tasks.values()), skill.group.latency.samples if skill.group else 0
    )


def _columns(sides: Sequence[Mapping[str, float | None]], *skills: SkillTally | None) -> Sequence[_Column]:
    """What is compared: where a format has a number that says more than a completion rate, that one in its place."""
    for skill in skills:
        for figure in skill.group.figures if skill and skill.group else ():
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
    total, tried = (sum(tally.total for tally in some) for some in (chosen, completing))
    durations = array("d")
    for tally in chosen:
        durations.extend(tally.durations_s)
    p95_s = nearest_rank(durations, 0.95)
    if skill.key.arm == DIRECT.name:
        completed = sum(tally.counts.passed for tally in completing) / tried if tried else None
    else:
        shares = [tally.runs.share for tally in completing if tally.runs.graded]
        completed = math.fsum(shares) / len(shares) if shares else None
    return {
        "completionRate": completed,
        "errorRate": sum(tally.counts.broken + tally.counts.errors for tally in chosen) / total if total else None,
        _P95: None if p95_s is None else p95_s * 1000,
    }
