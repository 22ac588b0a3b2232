"""Warnings about a comparison: what the reader must know before believing a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillgauge.api import DIRECT, plain
from skillgauge.api.report import chance_text, counted, points

from .document import Presence, Role, SkillDiff, TaskChange, Turn
from .inputs import Report
from .regression import named

_CHANCE = 0.05
"""A change of a baseline arm that chance alone makes this likely or less is reported."""


def warnings(before: Report, after: Report, skills: Sequence[SkillDiff]) -> Iterator[str]:
    """Yield everything that weakens the comparison, one sentence each."""
    if before.view.run.run_id == after.view.run.run_id:
        yield "both are reports of the same run"
    yield from _remarks(before, after)
    yield from _suite_warnings(before, after)
    yield from _uncompared_tasks(skills)
    yield from _partial_overlap(skills)
    yield from _lost_to_errors(skills)
    yield from _single_repeats(skills)
    yield from _changed_baselines(skills)


def _remarks(before: Report, after: Report) -> Iterator[str]:
    """Yield what plugins say of the reports: once if it holds for both, else with the label of the one it is of."""
    for remark in dict.fromkeys((*before.remarks, *after.remarks)):
        labels = [plain(report.label, 60) for report in (before, after) if remark in report.remarks]
        yield f"{' and '.join(labels)}: {remark}"


def _suite_warnings(before: Report, after: Report) -> Iterator[str]:
    """Yield the suites that are not the same, or not in the same version, in both reports."""
    first_versions = _suite_versions(before)
    second_versions = _suite_versions(after)
    if first_versions.keys() != second_versions.keys():
        sides = "; ".join(_labelled_suites(report) for report in (before, after))
        yield f"the reports are of different suites ({sides})"
    for suite in sorted(first_versions.keys() & second_versions.keys()):
        first, second = first_versions[suite], second_versions[suite]
        if first and second and first != second:
            versions = f"{plain(first)}, {plain(second)}"
            yield f"suite {plain(suite)} is another version ({versions}): a case may have changed"


def _suite_versions(report: Report) -> dict[str, str | None]:
    return {suite.id: suite.version for suite in report.view.head.suites}


def _labelled_suites(report: Report) -> str:
    suites = ", ".join(plain(suite) for suite in _suite_versions(report))
    return f"{plain(report.label, 60)}: {suites or 'none'}"


def _uncompared_tasks(skills: Sequence[SkillDiff]) -> Iterator[str]:
    """Yield the tasks that both reports have and that are left out all the same."""
    changed = list(dict.fromkeys(task for skill in skills for task in skill.tasks.changed))
    if changed:
        yield f"not compared, because they ask or check something else now: {named(changed)}"
    quarantined = list(dict.fromkeys(task for skill in skills for task in skill.tasks.quarantined))
    if quarantined:
        yield f"not compared, because they are in quarantine: {named(quarantined)}"


def _partial_overlap(skills: Sequence[SkillDiff]) -> Iterator[str]:
    """Yield the skills of both reports whose cases differ."""
    partial = []
    for skill in skills:
        has_own_tasks = skill.tasks.only_before or skill.tasks.only_after
        if has_own_tasks and skill.presence is Presence.BOTH:
            partial.append(skill.title)
    if partial:
        yield f"the reports have different cases ({named(partial)}): only cases that both have are compared"


def _lost_to_errors(skills: Sequence[SkillDiff]) -> Iterator[str]:
    errors = sum(len(skill.tasks.ungraded) for skill in skills)
    if errors:
        yield f"{counted(errors, 'shared case')} had errors only in a report: nothing is concluded from them"


def _single_repeats(skills: Sequence[SkillDiff]) -> Iterator[str]:
    direct = [skill for skill in skills if skill.arm == DIRECT.name]
    if any(_broke_with_single_repeat(change) for skill in direct for change in skill.changes):
        yield "with one repeat of each case an unsteady case looks like a broken one; evaluate with --runs 3 or more"


def _broke_with_single_repeat(change: TaskChange) -> bool:
    """Return whether a task broke of which one side has a single repeat."""
    return change.turn is Turn.BROKE and min(change.before.graded, change.after.graded) == 1


def _changed_baselines(skills: Sequence[SkillDiff]) -> Iterator[str]:
    """Yield the baseline arms that changed beyond chance: the model is not what it was."""
    for skill in skills:
        difference = skill.difference
        if skill.role is not Role.BASELINE or difference is None:
            continue
        if difference.chance_different <= _CHANCE:
            size = f"{points(difference.estimate)} over {counted(difference.tasks, 'case')}"
            chance = chance_text(difference.chance_different)
            yield f"the model without the skill changed ({plain(skill.title, 60)}: {size}, {chance})"
