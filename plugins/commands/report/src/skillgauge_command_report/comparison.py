"""Compare two reports. Pure: no file, no clock, no randomness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillgauge.api import DIRECT, ExitCode, RunState, RunView, counted, plain

from .document import (
    DiffDocument,
    Presence,
    Regression,
    ReportFacts,
    SkillDiff,
    TaskChange,
    Tasks,
    Turn,
)
from .evidence import difference
from .matching import Match, match
from .metrics import compare_metrics
from .regression import judge, named, overall
from .tallying import SkillKey, SkillTally, TaskTally, tally

MAX_LOST = 0.25
"""Share of the common tasks that may be lost to errors; with more, finding no regression proves nothing."""
_ORDER = (Turn.BROKE, Turn.WEAKER, Turn.FIXED, Turn.STRONGER)


@dataclass(frozen=True)
class Report:
    """A report to be compared."""

    view: RunView
    label: str
    file: str


def compare(before: Report, after: Report, *, max_drop: float, is_gate: bool) -> DiffDocument:
    """What changed from one report to the other.

    Args:
        before: the report that is compared with.
        after: the report that is looked at.
        max_drop: largest loss of pass rate, as a fraction, that is no regression.
        is_gate: whether a regression, or a comparison that could not have found one, is to fail the command.
    """
    matches = match(tally(before.view), tally(after.view))
    titles = _titles([_known(pair).key for pair in matches])
    skills = tuple(_skill(pair, title, max_drop) for pair, title in zip(matches, titles, strict=True))
    regression = overall([skill.regression for skill in skills])
    unproven = tuple(_unproven((before, after), skills))
    exit_code = ExitCode.OK
    if is_gate and regression is Regression.YES:
        exit_code = ExitCode.GATE_MISSED
    elif is_gate and unproven:
        exit_code = ExitCode.INVALID_RUN
    facts = [_facts(report) for report in (before, after)]
    return DiffDocument(
        before=facts[0],
        after=facts[1],
        max_drop=max_drop,
        warnings=tuple(_warnings(before, after, skills)),
        unproven=unproven,
        skills=skills,
        regression=regression,
        exit_code=exit_code,
        verdict=_verdict(skills, regression, unproven, is_gate=is_gate),
    )


def _known(pair: Match) -> SkillTally:
    known = pair[0] or pair[1]
    assert known is not None  # a match has at least one side
    return known


def _skill(pair: Match, title: str, max_drop: float) -> SkillDiff:
    before, after = pair
    key = _known(pair).key
    sides = [one.tasks if one else {} for one in (before, after)]
    common = [task for task in sides[0] if task in sides[1]]
    runs = {task: (sides[0][task].runs, sides[1][task].runs) for task in common}
    graded = {task: pair for task, pair in runs.items() if pair[0].graded and pair[1].graded}
    changes = tuple(_changes(sides[0], sides[1], graded))
    found = difference(list(graded.values())) if graded else None
    regression, reasons = judge(changes, found, max_drop)
    tasks = Tasks(
        compared=len(graded),
        ungraded=tuple(task for task in common if task not in graded),
        only_before=tuple(task for task in sides[0] if task not in sides[1]),
        only_after=tuple(task for task in sides[1] if task not in sides[0]),
    )
    presence = Presence.NEW if before is None else Presence.REMOVED if after is None else Presence.BOTH
    is_part = presence is Presence.BOTH and bool(tasks.only_before or tasks.only_after)
    return SkillDiff(
        title=title,
        skill=key.target,
        suite=key.suite,
        arm=key.arm,
        runner=key.runner,
        model=key.model,
        presence=presence,
        version_before=before.version if before else None,
        version_after=after.version if after else None,
        metrics=compare_metrics(before, after, frozenset(common) if is_part else None),
        common_tasks_only=is_part,
        tasks=tasks,
        changes=changes,
        difference=found,
        regression=regression,
        regression_reasons=reasons,
    )


def _titles(keys: Sequence[SkillKey]) -> list[str]:
    """What tells each skill from the others, and no more."""
    has_suites = len({key.suite for key in keys}) > 1
    plain_keys = [(key.suite, key.target, key.arm, key.model) for key in keys]
    titles = []
    for key, short in zip(keys, plain_keys, strict=True):
        parts = [key.target or key.suite]
        parts += [key.suite] if has_suites and key.target else []
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
        is_worse = second.share < first.share
        if {first.share, second.share} == {0.0, 1.0}:
            turn = Turn.BROKE if is_worse else Turn.FIXED
        else:
            turn = Turn.WEAKER if is_worse else Turn.STRONGER
        reason = (after if is_worse else before)[task].reason
        changes.append(TaskChange(task=task, turn=turn, before=first, after=second, reason=reason))
    return sorted(changes, key=lambda change: _ORDER.index(change.turn))


def _facts(report: Report) -> ReportFacts:
    view = report.view
    return ReportFacts(
        label=report.label,
        file=report.file,
        run_id=view.run.run_id,
        started_at=view.run.started_at,
        suites=tuple(f"{suite.id} {suite.version}" if suite.version else suite.id for suite in view.head.suites),
        repeats=view.head.runs,
    )


def _warnings(before: Report, after: Report, skills: Sequence[SkillDiff]) -> Iterable[str]:
    if before.view.run.run_id == after.view.run.run_id:
        yield "both are reports of the same run"
    versions = [{suite.id: suite.version for suite in one.view.head.suites} for one in (before, after)]
    if versions[0].keys() != versions[1].keys():
        told = "; ".join(
            f"{plain(report.label, 60)}: {', '.join(map(plain, known)) or 'none'}"
            for report, known in zip((before, after), versions, strict=True)
        )
        yield f"the reports are of different benchmarks ({told})"
    for suite in sorted(versions[0].keys() & versions[1].keys()):
        first, second = versions[0][suite], versions[1][suite]
        if first and second and first != second:
            told = f"{plain(first)}, {plain(second)}"
            yield f"benchmark {plain(suite)} is another version ({told}): a task may have changed"
    partial = [skill for skill in skills if skill.common_tasks_only]
    if partial:
        titles = named([skill.title for skill in partial])
        yield f"the task sets differ ({titles}): only tasks that both reports have are compared"
    errors = sum(len(skill.tasks.ungraded) for skill in skills)
    if errors:
        yield f"{counted(errors, 'common task')} had errors only in a report: nothing is concluded from them"
    unsteady = any(change.turn is Turn.BROKE for skill in skills for change in skill.changes)
    if unsteady and min(before.view.head.runs, after.view.head.runs) == 1:
        yield "with one repeat of each task an unsteady task looks like a broken one; evaluate with --runs 3 or more"


def _unproven(reports: Sequence[Report], skills: Sequence[SkillDiff]) -> Iterable[str]:
    """Why finding no regression would prove nothing."""
    for report in reports:
        view, label = report.view, plain(report.label, 60)
        if view.run.state is not RunState.FINISHED:
            yield f"the run of {label} is {view.run.state}"
        for validity in view.summary.validity:
            if not validity.valid:
                yield f"{plain(validity.suite_id, 60)} is invalid in {label}: {plain(validity.reason)}"
    both = [skill for skill in skills if skill.presence is Presence.BOTH]
    if not any(skill.tasks.compared for skill in both):
        yield "the reports have no task of a skill in common"
        return
    for skill in both:
        lost, all_common = len(skill.tasks.ungraded), skill.tasks.compared + len(skill.tasks.ungraded)
        if all_common == 0:
            yield f"{plain(skill.title, 60)} has no task in common"
        elif lost / all_common > MAX_LOST:
            yield f"{plain(skill.title, 60)}: {lost} of {all_common} common tasks have errors only"


def _verdict(skills: Sequence[SkillDiff], regression: Regression, unproven: Sequence[str], *, is_gate: bool) -> str:
    """The comparison in one sentence: what regressed, or how much was compared."""
    told = "; ".join(
        f"{plain(skill.title, 60)}: {', '.join(skill.regression_reasons)}"
        for skill in skills
        if skill.regression is regression and skill.regression_reasons
    )
    match regression:
        case Regression.YES:
            return f"regressed: {told}"
        case Regression.UNDECIDED:
            verdict = f"undecided: {told}; repeat both evaluations with more --runs"
        case Regression.NO:
            verdict = f"no regression: {_extent(skills)}"
        case Regression.NOT_JUDGED:
            verdict = "nothing was compared"
    if unproven:
        verdict = f"{'invalid' if is_gate else 'proves nothing'}: {'; '.join(unproven)} ({verdict})"
    return verdict


def _extent(skills: Sequence[SkillDiff]) -> str:
    compared = [skill for skill in skills if skill.difference]
    tasks = sum(skill.tasks.compared for skill in compared)
    fixed = sum(change.turn is Turn.FIXED for skill in compared for change in skill.changes)
    parts = [f"{counted(len(compared), 'skill')} compared on {counted(tasks, 'task')}"]
    parts += [f"{fixed} fixed"] if fixed else []
    for presence in (Presence.NEW, Presence.REMOVED):
        count = sum(skill.presence is presence for skill in skills)
        parts += [f"{count} {presence}, not judged"] if count else []
    return ", ".join(parts)
