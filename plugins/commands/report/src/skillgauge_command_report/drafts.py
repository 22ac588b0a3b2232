"""A skill in both reports: what is compared of it, and what the document says of it once it is judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api import DIRECT, GroupKey

from .circumstances import Changed, also_changed
from .document import CheckChange, Circumstance, Presence, Role, SkillDiff, TaskChange, TaskRuns, Tasks, Turn
from .evidence import Control, TaskPair, difference, lift_change
from .matching import Match
from .metrics import compare_metrics
from .regression import Judged, Weighed
from .tallying import SkillTally, TaskTally

Names = Mapping[tuple[str, str], str]
"""Names of cases by suite and id, of those that have one of their own."""
_ORDER = (Turn.BROKE, Turn.WEAKER, Turn.FIXED, Turn.STRONGER)


@dataclass(frozen=True)
class Draft:
    """A skill before it is judged: what it takes to be sure depends on how many others there are."""

    pair: Match
    tasks: Tasks
    weighed: Weighed
    changes: tuple[TaskChange, ...]
    checks: tuple[CheckChange, ...]
    also_changed: tuple[Changed, ...]
    across: Collection[Circumstance]

    @classmethod
    def of(cls, pair: Match, judges: str, across: Collection[Circumstance] = ()) -> Draft:
        """What is compared; `judges` says that other ones graded, if so, `across` what may be another one."""
        before, after = pair
        sides = [one.tasks if one else {} for one in pair]
        common = [task for task in sides[0] if task in sides[1]]
        changed = dict.fromkeys(task for task in common if _is_changed(sides[0][task], sides[1][task]))
        apart = dict.fromkeys(task for task in common if sides[1][task].quarantined)
        same = [task for task in common if task not in changed and task not in apart]
        graded = dict.fromkeys(task for task in same if all(side[task].runs.graded for side in sides))
        tasks = Tasks(
            compared=len(graded),
            ungraded=tuple(task for task in same if task not in graded),
            changed=tuple(changed),
            quarantined=tuple(apart),
            only_before=tuple(task for task in sides[0] if task not in sides[1]),
            only_after=tuple(task for task in sides[1] if task not in sides[0]),
        )
        found = tuple(also_changed(before, after, judges)) if before and after else ()
        *earlier, pairs = [_at_look(pair, graded, look) for look in range(_looks(sides, graded))]
        arm = _known(pair).key.arm
        weighed = Weighed(arm, pairs, difference(pairs), lift_change(pairs), earlier)
        changes, checks = _changes(sides[0], sides[1], graded), _checks(sides[0], sides[1], graded)
        return cls(pair, tasks, weighed, tuple(changes), tuple(checks), found, across)

    @property
    def known(self) -> SkillTally:
        """The skill in the first report that has it."""
        return _known(self.pair)

    @property
    def is_judged(self) -> bool:
        """Whether a difference would be the skill's: not that of a baseline arm, nor of another model."""
        is_baseline = any(one.is_baseline for one in self.pair if one)
        return all(self.pair) and not is_baseline and not self.barred_by

    @property
    def barred_by(self) -> tuple[Circumstance, ...]:
        """What else changed that nobody said to compare across."""
        return tuple(one.what for one in self.also_changed if one.what not in self.across)

    def finished(self, title: str, judged: Judged, confirm: tuple[str, ...], names: Names) -> SkillDiff:
        """What the document says of it; `confirm`: commands that would decide."""
        before, after = self.pair
        key, tasks = self.known.key, self.tasks
        presence = Presence.NEW if before is None else Presence.REMOVED if after is None else Presence.BOTH
        left_out = (*tasks.only_before, *tasks.only_after, *tasks.ungraded, *tasks.changed, *tasks.quarantined)
        is_part = presence is Presence.BOTH and bool(left_out)
        graded = frozenset(pair.task for pair in self.weighed.tasks)
        told = (*left_out, *(one.task for one in self.changes), *(one.task for one in self.checks))
        return SkillDiff(
            title=title,
            skill=key.target_id,
            suite=key.suite_id,
            arm=key.arm,
            runner=key.runner,
            model=key.model,
            role=Role.BASELINE if any(one.is_baseline for one in self.pair if one) else Role.CANDIDATE,
            presence=presence,
            version_before=before.version if before else None,
            version_after=after.version if after else None,
            metrics=compare_metrics(before, after, graded.union(tasks.ungraded) if is_part else None, graded),
            common_tasks_only=is_part,
            tasks=tasks,
            names={task: names[key.suite_id, task] for task in told if (key.suite_id, task) in names},
            changes=self.changes,
            checks=self.checks,
            difference=self.weighed.difference,
            lift=self.weighed.lift,
            also_changed=tuple(one.told for one in self.also_changed),
            barred_by=self.barred_by,
            regression=judged.regression,
            regression_reasons=judged.reasons,
            loss_seen=judged.loss_seen,
            possible_loss=judged.possible_loss,
            decided_by=judged.decided_by.options if judged.decided_by else None,
            decided_in=judged.decided_by.sides if judged.decided_by else (),
            confirm=confirm,
        )


def _known(pair: Match) -> SkillTally:
    known = pair[0] or pair[1]
    assert known is not None  # a match has at least one side
    return known


def _is_changed(before: TaskTally, after: TaskTally) -> bool:
    """Whether a task asks or checks something else; a report that does not tell says nothing of the kind."""
    return bool(before.content and after.content and before.content != after.content)


def _looks(sides: Sequence[Mapping[str, TaskTally]], tasks: Iterable[str]) -> int:
    """How often the two runs could be compared: once, and again each time that repeats were added to one of them."""
    return 1 + max((len(side[task].earlier) for side in sides for task in tasks), default=0)


def _at_look(pair: Match, tasks: Iterable[str], look: int) -> list[TaskPair]:
    """The tasks as they were at a look, without those that had no verdict in one of the reports then."""
    sides = [skill.tasks if skill else {} for skill in pair]
    pairs = []
    for task in tasks:
        before, after = (side[task].at_look(look) for side in sides)
        if before.graded and after.graded:
            pairs.append(TaskPair(task, before, after, _control(pair, task, look)))
    return pairs


def _control(pair: Match, task: str, look: int) -> Control | None:
    """The task in the baseline arm of both reports, where it has a verdict and is the same."""
    controls = [skill.control if skill else None for skill in pair]
    tallies = [control.tasks.get(task) if control else None for control in controls]
    if controls[1] is None or tallies[0] is None or tallies[1] is None:
        return None
    before, after = (tally.at_look(look) for tally in (tallies[0], tallies[1]))
    if not (before.graded and after.graded):
        return None
    return Control(controls[1].key.arm, before, after)


def titles(keys: Sequence[GroupKey]) -> list[str]:
    """What tells each skill from the others, and no more."""
    has_suites = len({key.suite_id for key in keys}) > 1
    plain_keys = [(key.suite_id, key.target_id, key.arm, key.model) for key in keys]
    titles = []
    for key, short in zip(keys, plain_keys, strict=True):
        parts = [key.target_id or key.suite_id]
        parts += [key.suite_id] if has_suites and key.target_id else []
        parts += [key.arm] if key.arm != DIRECT.name else []
        parts += [key.model] if key.model else []
        parts += [key.runner] if plain_keys.count(short) > 1 else []
        titles.append(" · ".join(parts))
    return titles


def _changes(before: dict[str, TaskTally], after: dict[str, TaskTally], graded: Iterable[str]) -> Sequence[TaskChange]:
    """Tasks whose pass share differs, the worst news first, each kind in the order of the first report."""
    changes = []
    for task in graded:
        first, second = before[task].runs, after[task].runs
        if first.share == second.share:
            continue
        reason = (after if second.share < first.share else before)[task].reason
        changes.append(TaskChange(task=task, turn=_turn(first, second), before=first, after=second, reason=reason))
    return sorted(changes, key=lambda change: _ORDER.index(change.turn))


def _checks(before: dict[str, TaskTally], after: dict[str, TaskTally], graded: Iterable[str]) -> Iterator[CheckChange]:
    """Checks whose share differs, task by task."""
    for task in graded:
        first, second = before[task].checks, after[task].checks
        for check in (one for one in first if one in second and first[one].graded and second[one].graded):
            if first[check].share != second[check].share:
                turn = _turn(first[check], second[check])
                yield CheckChange(task=task, check=check, turn=turn, before=first[check], after=second[check])


def _turn(before: TaskRuns, after: TaskRuns) -> Turn:
    """How two shares differ that are not the same."""
    is_worse = after.share < before.share
    if {before.share, after.share} == {0.0, 1.0}:
        return Turn.BROKE if is_worse else Turn.FIXED
    return Turn.WEAKER if is_worse else Turn.STRONGER
