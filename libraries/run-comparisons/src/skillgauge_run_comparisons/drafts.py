"""A skill in both reports: what is compared of it, and what the document says of it once it is judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api import DIRECT
from skillgauge.api.report import GroupKey

from .circumstances import Changed, also_changed
from .document import CheckChange, Circumstance, Metric, Presence, Role, SkillDiff, TaskChange, TaskRuns, Tasks, Turn
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
        """Compare a skill; `judges` says that other ones graded, if so, `across` what may be another one."""
        before, after = pair
        first, second = (skill.tasks if skill else {} for skill in pair)
        tasks = _sorted_out(first, second)
        graded = _graded_in_both(first, second)
        changed: tuple[Changed, ...] = ()
        if before and after:
            changed = tuple(also_changed(before, after, judges))
        *earlier, pairs = [_at_look(pair, graded, look) for look in range(_looks((first, second), graded))]
        weighed = Weighed(_present(pair).key.arm, pairs, difference(pairs), lift_change(pairs), earlier)
        changes = tuple(_changes(first, second, graded))
        checks = tuple(_checks(first, second, graded))
        return cls(pair, tasks, weighed, changes, checks, changed, across)

    @property
    def present(self) -> SkillTally:
        """The skill in the first report that has it."""
        return _present(self.pair)

    @property
    def role(self) -> Role:
        """Baseline, if its arm only serves to compare others with it."""
        is_baseline = any(skill.is_baseline for skill in self.pair if skill)
        return Role.BASELINE if is_baseline else Role.CANDIDATE

    @property
    def presence(self) -> Presence:
        """The reports that have it."""
        before, after = self.pair
        if before is None:
            return Presence.NEW
        if after is None:
            return Presence.REMOVED
        return Presence.BOTH

    @property
    def is_judged(self) -> bool:
        """Tell whether a difference would be the skill's: not that of a baseline arm, nor of another model."""
        return all(self.pair) and self.role is Role.CANDIDATE and not self.barred_by

    @property
    def barred_by(self) -> tuple[Circumstance, ...]:
        """Return the other changes that the user did not permit."""
        return tuple(one.what for one in self.also_changed if one.what not in self.across)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Tasks of either report that are not compared."""
        tasks = self.tasks
        return (*tasks.only_before, *tasks.only_after, *tasks.ungraded, *tasks.changed, *tasks.quarantined)

    def finished(self, title: str, judged: Judged, confirm: tuple[str, ...], names: Names) -> SkillDiff:
        """Return what the document says of it; `confirm`: commands that would decide."""
        before, after = self.pair
        key, deciding = self.present.key, judged.decided_by
        is_part = self.presence is Presence.BOTH and bool(self.left_out)
        return SkillDiff(
            title=title,
            skill=key.target_id,
            suite=key.suite_id,
            arm=key.arm,
            runner=key.runner,
            model=key.model,
            role=self.role,
            presence=self.presence,
            version_before=before.version if before else None,
            version_after=after.version if after else None,
            metrics=self._metrics(is_part=is_part),
            common_tasks_only=is_part,
            tasks=self.tasks,
            names=self._names(names),
            changes=self.changes,
            checks=self.checks,
            difference=self.weighed.difference,
            lift=self.weighed.lift,
            also_changed=tuple(changed.told for changed in self.also_changed),
            barred_by=self.barred_by,
            regression=judged.regression,
            regression_reasons=judged.reasons,
            loss_seen=judged.loss_seen,
            possible_loss=judged.possible_loss,
            decided_by=deciding.options if deciding else None,
            decided_in=deciding.sides if deciding else (),
            confirm=confirm,
        )

    def _metrics(self, *, is_part: bool) -> tuple[Metric, ...]:
        """Return the published figures, or those over the common tasks where that is a part only."""
        graded = frozenset(pair.task for pair in self.weighed.tasks)
        common = graded.union(self.tasks.ungraded) if is_part else None
        return compare_metrics(*self.pair, common, graded)

    def _names(self, names: Names) -> dict[str, str]:
        """Return the names of the tasks that the document mentions, of those that have one."""
        suite = self.present.key.suite_id
        changed = (change.task for change in self.changes)
        checked = (check.task for check in self.checks)
        mentioned = (*self.left_out, *changed, *checked)
        return {task: names[suite, task] for task in mentioned if (suite, task) in names}


def _present(pair: Match) -> SkillTally:
    skill = pair[0] or pair[1]
    assert skill is not None  # a match has at least one side
    return skill


def _sorted_out(first: Mapping[str, TaskTally], second: Mapping[str, TaskTally]) -> Tasks:
    """Sort the tasks of both reports by whether and why they are not compared."""
    comparable = _comparable(first, second)
    graded = _graded_in_both(first, second)
    common = [task for task in first if task in second]
    return Tasks(
        compared=len(graded),
        ungraded=tuple(task for task in comparable if task not in graded),
        changed=tuple(task for task in common if _is_changed(first[task], second[task])),
        quarantined=tuple(task for task in common if second[task].quarantined),
        only_before=_absent(first, second),
        only_after=_absent(second, first),
    )


def _absent(tasks: Iterable[str], other: Collection[str]) -> tuple[str, ...]:
    """Return the tasks that the other report does not have."""
    return tuple(task for task in tasks if task not in other)


def _comparable(first: Mapping[str, TaskTally], second: Mapping[str, TaskTally]) -> list[str]:
    """Return the tasks that are the same in both reports and not in quarantine."""
    tasks = []
    for task in first:
        if task not in second or second[task].quarantined:
            continue
        if not _is_changed(first[task], second[task]):
            tasks.append(task)
    return tasks


def _graded_in_both(first: Mapping[str, TaskTally], second: Mapping[str, TaskTally]) -> dict[str, None]:
    """Return the comparable tasks with a verdict in both reports, in order, for quick look-up."""
    comparable = _comparable(first, second)
    return dict.fromkeys(task for task in comparable if first[task].runs.graded and second[task].runs.graded)


def _is_changed(before: TaskTally, after: TaskTally) -> bool:
    """Tell whether a task asks or checks something else; a report that does not say counts as unchanged."""
    return bool(before.content and after.content and before.content != after.content)


def _looks(sides: Sequence[Mapping[str, TaskTally]], tasks: Iterable[str]) -> int:
    """Count the times that the two runs could be compared: once, and again for each addition of repeats."""
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
    """Return what tells each skill from the others, and no more."""
    has_suites = len({key.suite_id for key in keys}) > 1
    without_runner = [(key.suite_id, key.target_id, key.arm, key.model) for key in keys]
    titles = []
    for key, short in zip(keys, without_runner, strict=True):
        parts = [key.target_id or key.suite_id]
        if has_suites and key.target_id:
            parts.append(key.suite_id)
        if key.arm != DIRECT.name:
            parts.append(key.arm)
        if key.model:
            parts.append(key.model)
        if without_runner.count(short) > 1:
            parts.append(key.runner)
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
        earlier_checks, later_checks = before[task].checks, after[task].checks
        for check, first in earlier_checks.items():
            second = later_checks.get(check)
            if second is None or not (first.graded and second.graded):
                continue
            if first.share != second.share:
                turn = _turn(first, second)
                yield CheckChange(task=task, check=check, turn=turn, before=first, after=second)


def _turn(before: TaskRuns, after: TaskRuns) -> Turn:
    """Return the direction in which two unequal shares differ."""
    is_worse = after.share < before.share
    if {before.share, after.share} == {0.0, 1.0}:
        return Turn.BROKE if is_worse else Turn.FIXED
    return Turn.WEAKER if is_worse else Turn.STRONGER
