"""Compare two reports. Pure: no file, no clock, no randomness."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from skillgauge.api import ExitCode, plain
from skillgauge.api.report import GroupKey, RunState, RunView, counted

from .cautions import warnings
from .circumstances import other_judges
from .document import DiffDocument, Presence, Regression, ReportFacts, Role, Side, SkillDiff, Turn
from .drafts import Draft, Names, titles
from .inputs import Report, Terms
from .matching import match
from .regression import Judged, judge, overall
from .tallying import SkillTally, tally

MAX_LOST = 0.25
"""Share of the common tasks that may be lost to errors; with more, finding no regression proves nothing."""
_LISTED = 3
"""Skills without a loss that are named in the verdict; more are counted."""


def compare(before: Report, after: Report, terms: Terms) -> DiffDocument:
    """Return what changed from one report to the other.

    Args:
        before: the report that is compared with.
        after: the report that is looked at.
        terms: by what they are compared.
    """
    judges = other_judges(before.view, after.view)
    earlier, later = tally(before.view), tally(after.view)
    drafts = [Draft.of(pair, judges, terms.across) for pair in match(earlier, later)]
    skills = tuple(_skill_diffs(drafts, before, after, terms))
    regression = overall([skill.regression for skill in skills])
    refused = tuple(_refused((before, after)))
    unproven = (*refused, *_unproven(skills))
    doubts = refused if regression is Regression.YES else unproven
    return DiffDocument(
        before=_facts(before, earlier),
        after=_facts(after, later),
        max_drop=terms.max_drop,
        across=terms.across,
        any_loss=terms.any_loss,
        warnings=tuple(warnings(before, after, skills)),
        unproven=unproven,
        skills=skills,
        regression=regression,
        exit_code=_exit_code(regression, refused, unproven, is_gate=terms.is_gate),
        verdict=_verdict(skills, regression, doubts, is_gate=terms.is_gate),
    )


def _skill_diffs(drafts: Sequence[Draft], before: Report, after: Report, terms: Terms) -> Iterator[SkillDiff]:
    """Judge the drafts together, and yield each as the document tells it."""
    names = _case_names((before, after))
    keys = [draft.present.key for draft in drafts]
    judgements = _judgements(drafts, terms)
    for draft, judged, title in zip(drafts, judgements, titles(keys), strict=True):
        commands = _commands(judged, draft.present.key, before, after)
        yield draft.finished(title, judged, commands, names)


def _judgements(drafts: Sequence[Draft], terms: Terms) -> list[Judged]:
    """Judge each draft that a difference would say something about."""
    weighed = [draft.weighed for draft in drafts if draft.is_judged]
    judgements = iter(judge(weighed, terms.max_drop, any_loss=terms.any_loss))
    return [next(judgements) if draft.is_judged else Judged(Regression.NOT_JUDGED) for draft in drafts]


def _case_names(reports: Sequence[Report]) -> Names:
    """Return the names of cases that are not just their ids; the later report counts."""
    names: dict[tuple[str, str], str] = {}
    for report in reports:
        for case in report.view.cases():
            if case.name and case.name != case.id:
                names[case.suite_id, case.id] = case.name
    return names


def _exit_code(regression: Regression, refused: Sequence[str], unproven: Sequence[str], *, is_gate: bool) -> ExitCode:
    if not is_gate:
        return ExitCode.OK
    if regression is Regression.YES and not refused:
        return ExitCode.GATE_MISSED
    if unproven:
        return ExitCode.INVALID_RUN
    return ExitCode.OK


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


def _facts(report: Report, skills: Iterable[SkillTally]) -> ReportFacts:
    view = report.view
    repeats = [task.total for skill in skills for task in skill.tasks.values() if task.total]
    return ReportFacts(
        label=report.label,
        file=report.file,
        run_id=view.run.run_id,
        started_at=view.run.started_at,
        suites=tuple(f"{suite.id} {suite.version}" if suite.version else suite.id for suite in view.head.suites),
        repeats=max(repeats, default=view.head.runs),
        fewest_repeats=min(repeats, default=view.head.runs),
    )


def _refused(reports: Sequence[Report]) -> Iterable[str]:
    """Return the reason why nothing at all can be concluded from a report."""
    for report in reports:
        view, label = report.view, plain(report.label, 60)
        if view.run.state is not RunState.FINISHED:
            yield f"the run of {label} is {view.run.state}"
        if view.head.is_chosen:
            yield f"the run of {label} is of cases or sessions that were chosen for their results, or may be"
        for validity in view.summary.validity:
            if not validity.valid:
                yield f"{plain(validity.suite_id, 60)} is invalid in {label}: {plain(validity.reason)}"


def _unproven(skills: Sequence[SkillDiff]) -> Iterable[str]:
    """Yield why finding no regression would prove nothing."""
    shared = [skill for skill in skills if skill.presence is Presence.BOTH and skill.role is Role.CANDIDATE]
    if not any(skill.tasks.compared for skill in shared):
        is_changed = any(skill.tasks.changed for skill in shared)
        yield f"the reports have no {'unchanged ' if is_changed else ''}case of a skill in common"
        return
    for skill in shared:
        reason = _doubt(skill)
        if reason is not None:
            yield reason


def _doubt(skill: SkillDiff) -> str | None:
    """Return why nothing can be concluded for a skill of both reports; `None` if something can."""
    title, tasks = plain(skill.title, 60), skill.tasks
    lost, all_common = len(tasks.ungraded), tasks.compared + len(tasks.ungraded)
    if skill.barred_by:
        options = f"--across {','.join(skill.barred_by)}"
        changed = ", ".join(skill.also_changed)
        return f"{title} is not judged, because this is not as it was: {changed}; {options} judges it all the same"
    if all_common == 0:
        return f"{title} has no {'unchanged ' if tasks.changed else ''}case in common"
    if lost / all_common > MAX_LOST:
        return f"{title}: {lost} of {all_common} shared cases have errors only"
    return None


def _verdict(skills: Sequence[SkillDiff], regression: Regression, unproven: Sequence[str], *, is_gate: bool) -> str:
    """The comparison in one sentence: what regressed, or how much was compared."""
    text = "; ".join(_told_of(skills, regression))
    match regression:
        case Regression.YES:
            verdict = f"regressed: {text}"
        case Regression.UNDECIDED:
            verdict = f"undecided: {text}"
        case Regression.NO:
            verdict = f"no regression: {_extent(skills)}{f'; {text}' if text else ''}"
        case Regression.NOT_JUDGED:
            verdict = "nothing was compared"
    if unproven:
        verdict = f"{'invalid' if is_gate else 'proves nothing'}: {'; '.join(unproven)} ({verdict})"
    return verdict


def _told_of(skills: Sequence[SkillDiff], regression: Regression) -> Iterator[str]:
    """Describe the skills with this judgement; many without a loss are counted and not listed."""
    judged = [skill for skill in skills if skill.regression is regression and skill.regression_reasons]
    unlisted = _unlisted(judged) if regression is Regression.UNDECIDED else []
    for skill in judged:
        if skill not in unlisted:
            yield _sentence(skill)
    if unlisted:
        most = max(skill.possible_loss or 0.0 for skill in unlisted) * 100
        number = _skill_count(unlisted)
        subject = f"{counted(number, 'skill')} {'shows' if number == 1 else 'show'}"
        yield f"{subject} no loss, but one of up to {most:.1f} points cannot be excluded"


def _unlisted(undecided: Sequence[SkillDiff]) -> list[SkillDiff]:
    """Return the skills without a loss, if they are too many to be listed."""
    without_loss = [skill for skill in undecided if not skill.loss_seen]
    return without_loss if len(without_loss) > _LISTED else []


def _sentence(skill: SkillDiff) -> str:
    text = f"{plain(skill.title, 60)}: {', '.join(skill.regression_reasons)}"
    if skill.also_changed:
        text += f" (this changed, too, so it may be none of the skill: {', '.join(skill.also_changed)})"
    if skill.regression is not Regression.UNDECIDED:
        return text
    if skill.decided_by is None:
        return f"{text}; more cases would decide"
    if not skill.confirm:
        evaluation = "the second evaluation" if Side.AFTER in skill.decided_in else "the first evaluation"
        again = "both evaluations" if len(skill.decided_in) > 1 else evaluation
        return f"{text}; repeating {again} with {skill.decided_by} would decide"
    return f"{text}; this would decide: {_in_words(skill.confirm)}"


def _in_words(commands: Sequence[str]) -> str:
    if len(commands) == 1:
        return commands[0]
    return f"{commands[0]} (with the skill as it was then) and {commands[1]} (with the skill as it is)"


def _extent(skills: Sequence[SkillDiff]) -> str:
    compared = [skill for skill in skills if skill.difference and skill.regression is not Regression.NOT_JUDGED]
    tasks = sum(skill.tasks.compared for skill in compared)
    fixed = sum(change.turn is Turn.FIXED for skill in compared for change in skill.changes)
    parts = [f"{counted(_skill_count(compared), 'skill')} compared on {counted(tasks, 'case')}"]
    if fixed:
        parts.append(f"{fixed} fixed")
    for presence in (Presence.NEW, Presence.REMOVED):
        count = _skill_count([skill for skill in skills if skill.presence is presence])
        if count:
            parts.append(f"{count} {presence}, not judged")
    return ", ".join(parts)


def _skill_count(skills: Iterable[SkillDiff]) -> int:
    """Count skills once, however many suites, arms and models they have; what has no skill counts by its suite."""
    return len({skill.skill or skill.suite for skill in skills})
