"""Compare two reports. Pure: no file, no clock, no randomness."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skillgauge.api import DIRECT, ExitCode, GroupKey, RunState, RunView, chance_text, counted, plain, points

from .circumstances import other_judges
from .document import (
    Circumstance,
    DiffDocument,
    Presence,
    Regression,
    ReportFacts,
    Role,
    Side,
    SkillDiff,
    TaskChange,
    Turn,
)
from .drafts import Draft, titles
from .matching import match
from .regression import Judged, judge, named, overall
from .tallying import tally

MAX_LOST = 0.25
"""Share of the common tasks that may be lost to errors; with more, finding no regression proves nothing."""
_LISTED = 3
"""Skills without a loss that are named in the verdict; more are counted."""
_CHANCE = 0.05
"""A change of a baseline arm that chance alone makes this likely or less is told."""


@dataclass(frozen=True)
class Report:
    """A report to be compared."""

    view: RunView
    label: str
    file: str
    again: str = ""
    """Words by which `eval --confirm` finds it, as for a shell; empty if it tells too little for that."""

    def command(self, options: str) -> str:
        """What runs some of it again."""
        return f"skillgauge eval --confirm {self.again} {options}"


@dataclass(frozen=True)
class Terms:
    """By what two reports are compared."""

    max_drop: float
    """Largest loss of pass rate, as a fraction, that is no regression."""
    is_gate: bool
    """Whether a regression, or a comparison that could not have found one, is to fail the command."""
    across: tuple[Circumstance, ...] = ()
    """What may be another one in the second report: a difference is then the skill's or its."""
    any_loss: bool = False
    """Whether each task that broke is a regression, however little proves it."""


def compare(before: Report, after: Report, terms: Terms) -> DiffDocument:
    """What changed from one report to the other.

    Args:
        before: the report that is compared with.
        after: the report that is looked at.
        terms: by what they are compared.
    """
    is_gate = terms.is_gate
    judges = other_judges(before.view, after.view)
    drafts = [Draft.of(pair, judges, terms.across) for pair in match(tally(before.view), tally(after.view))]
    weighed = [draft.weighed for draft in drafts if draft.is_judged]
    found = iter(judge(weighed, terms.max_drop, any_loss=terms.any_loss))
    judged = [next(found) if draft.is_judged else Judged(Regression.NOT_JUDGED) for draft in drafts]
    cases = (case for report in (before, after) for case in report.view.cases())
    names = {(case.suite_id, case.id): case.name for case in cases if case.name and case.name != case.id}
    skills = tuple(
        draft.finished(title, one, _commands(one, draft.known.key, before, after), names)
        for draft, one, title in zip(drafts, judged, titles([draft.known.key for draft in drafts]), strict=True)
    )
    regression = overall([skill.regression for skill in skills])
    refused = tuple(_refused((before, after)))
    unproven = (*refused, *_unproven(skills))
    exit_code = ExitCode.OK
    if is_gate and regression is Regression.YES and not refused:
        exit_code = ExitCode.GATE_MISSED
    elif is_gate and unproven:
        exit_code = ExitCode.INVALID_RUN
    facts = [_facts(report) for report in (before, after)]
    return DiffDocument(
        before=facts[0],
        after=facts[1],
        max_drop=terms.max_drop,
        across=terms.across,
        any_loss=terms.any_loss,
        warnings=tuple(_warnings(before, after, skills)),
        unproven=unproven,
        skills=skills,
        regression=regression,
        exit_code=exit_code,
        verdict=_verdict(
            skills, regression, unproven if regression is not Regression.YES else refused, is_gate=is_gate
        ),
    )


def _commands(judged: Judged, key: GroupKey, before: Report, after: Report) -> tuple[str, ...]:
    """The commands that would decide; none if one of the reports tells too little for it."""
    deciding = judged.decided_by
    if deciding is None:
        return ()
    reports = [report for report, side in ((before, Side.BEFORE), (after, Side.AFTER)) if side in deciding.sides]
    if not all(report.again for report in reports):
        return ()
    return tuple(report.command(f"{deciding.options}{_target(key, report.view)}") for report in reports)


def _target(key: GroupKey, view: RunView) -> str:
    """The option that leaves out the other suites of a run."""
    if len(view.head.suites) < 2 or key.target_id is None:
        return ""
    return f" --target {shlex.quote(key.target_id)}"


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
    if changed := list(dict.fromkeys(task for skill in skills for task in skill.tasks.changed)):
        yield f"not compared, because they ask or check something else now: {named(changed)}"
    if apart := list(dict.fromkeys(task for skill in skills for task in skill.tasks.quarantined)):
        yield f"not compared, because they are in quarantine: {named(apart)}"
    partial = [skill for skill in skills if skill.tasks.only_before or skill.tasks.only_after]
    partial = [skill for skill in partial if skill.presence is Presence.BOTH]
    if partial:
        titles = named([skill.title for skill in partial])
        yield f"the task sets differ ({titles}): only tasks that both reports have are compared"
    errors = sum(len(skill.tasks.ungraded) for skill in skills)
    if errors:
        yield f"{counted(errors, 'common task')} had errors only in a report: nothing is concluded from them"
    if any(_is_single(change) for skill in skills if skill.arm == DIRECT.name for change in skill.changes):
        yield "with one repeat of each task an unsteady task looks like a broken one; evaluate with --runs 3 or more"
    for skill in skills:
        found = skill.difference
        if skill.role is Role.BASELINE and found and found.chance_different <= _CHANCE:
            told = (
                f"{points(found.estimate)} over {counted(found.tasks, 'task')}, {chance_text(found.chance_different)}"
            )
            yield f"the model without the skill changed ({plain(skill.title, 60)}: {told})"


def _is_single(change: TaskChange) -> bool:
    """Whether a task broke of which one side has a single repeat."""
    return change.turn is Turn.BROKE and min(change.before.graded, change.after.graded) == 1


def _refused(reports: Sequence[Report]) -> Iterable[str]:
    """Why nothing at all can be concluded from a report."""
    for report in reports:
        view, label = report.view, plain(report.label, 60)
        if view.run.state is not RunState.FINISHED:
            yield f"the run of {label} is {view.run.state}"
        if view.head.is_chosen:
            yield f"the run of {label} is of cases that were chosen for their results"
        for validity in view.summary.validity:
            if not validity.valid:
                yield f"{plain(validity.suite_id, 60)} is invalid in {label}: {plain(validity.reason)}"


def _unproven(skills: Sequence[SkillDiff]) -> Iterable[str]:
    """Why finding no regression would prove nothing."""
    both = [skill for skill in skills if skill.presence is Presence.BOTH and skill.role is Role.CANDIDATE]
    if not any(skill.tasks.compared for skill in both):
        is_changed = any(skill.tasks.changed for skill in both)
        yield f"the reports have no {'unchanged ' if is_changed else ''}task of a skill in common"
        return
    for skill in both:
        title, tasks = plain(skill.title, 60), skill.tasks
        lost, all_common = len(tasks.ungraded), tasks.compared + len(tasks.ungraded)
        if skill.barred_by:
            options = f"--across {','.join(skill.barred_by)}"
            changed = ", ".join(skill.also_changed)
            yield f"{title} is not judged, because this is not as it was: {changed}; {options} judges it all the same"
        elif all_common == 0:
            yield f"{title} has no {'unchanged ' if tasks.changed else ''}task in common"
        elif lost / all_common > MAX_LOST:
            yield f"{title}: {lost} of {all_common} common tasks have errors only"


def _verdict(skills: Sequence[SkillDiff], regression: Regression, unproven: Sequence[str], *, is_gate: bool) -> str:
    """The comparison in one sentence: what regressed, or how much was compared."""
    told = "; ".join(_told_of(skills, regression))
    match regression:
        case Regression.YES:
            verdict = f"regressed: {told}"
        case Regression.UNDECIDED:
            verdict = f"undecided: {told}"
        case Regression.NO:
            verdict = f"no regression: {_extent(skills)}{f'; {told}' if told else ''}"
        case Regression.NOT_JUDGED:
            verdict = "nothing was compared"
    if unproven:
        verdict = f"{'invalid' if is_gate else 'proves nothing'}: {'; '.join(unproven)} ({verdict})"
    return verdict


def _told_of(skills: Sequence[SkillDiff], regression: Regression) -> Iterator[str]:
    """What is said of the skills with this judgement; many without a loss are counted and not listed."""
    judged = [skill for skill in skills if skill.regression is regression and skill.regression_reasons]
    quiet = [skill for skill in judged if regression is Regression.UNDECIDED and not skill.loss_seen]
    if len(quiet) <= _LISTED:
        quiet = []
    yield from (_told(skill) for skill in judged if skill not in quiet)
    if quiet:
        most = max(skill.possible_loss or 0.0 for skill in quiet) * 100
        yield f"{len(quiet)} skills show no loss, but one of up to {most:.1f} points cannot be excluded"


def _told(skill: SkillDiff) -> str:
    told = f"{plain(skill.title, 60)}: {', '.join(skill.regression_reasons)}"
    if skill.also_changed:
        told += f" (this changed, too, so it may be none of the skill: {', '.join(skill.also_changed)})"
    if skill.regression is not Regression.UNDECIDED:
        return told
    if skill.decided_by is None:
        return f"{told}; more tasks would decide"
    if not skill.confirm:
        one = "the second evaluation" if Side.AFTER in skill.decided_in else "the first evaluation"
        again = "both evaluations" if len(skill.decided_in) > 1 else one
        return f"{told}; repeating {again} with {skill.decided_by} would decide"
    return f"{told}; this would decide: {_in_words(skill.confirm)}"


def _in_words(commands: Sequence[str]) -> str:
    if len(commands) == 1:
        return commands[0]
    return f"{commands[0]} (with the skill as it was then) and {commands[1]} (with the skill as it is)"


def _extent(skills: Sequence[SkillDiff]) -> str:
    compared = [skill for skill in skills if skill.difference and skill.regression is not Regression.NOT_JUDGED]
    tasks = sum(skill.tasks.compared for skill in compared)
    fixed = sum(change.turn is Turn.FIXED for skill in compared for change in skill.changes)
    parts = [f"{counted(len(compared), 'skill')} compared on {counted(tasks, 'task')}"]
    parts += [f"{fixed} fixed"] if fixed else []
    for presence in (Presence.NEW, Presence.REMOVED):
        count = sum(skill.presence is presence for skill in skills)
        parts += [f"{count} {presence}, not judged"] if count else []
    return ", ".join(parts)
