"""The checks that are graded again, the graders, and the changes since the run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    CaseHead,
    Execution,
    Identity,
    Plan,
    PlanHead,
    Problem,
    RunOrigin,
    Suite,
    SuiteHead,
    Target,
    Trial,
    TrialResult,
    Usage,
    UsageError,
    did_you_mean,
    digest,
    plain,
)
from skillgauge.api.report import RunState, RunView, listed
from skillgauge.api.run import Asked, Evaluation, Invocation


def asked_for(request: Asked, view: RunView, *, here: bool) -> Asked:
    """Return the settings of the user, and those of the run where he sets none.

    Args:
        request: what he asks for.
        view: the run.
        here: whether he names nothing to grade it by.

    Raises:
        UsageError: the run cannot be graded again; with all reasons.
    """
    if problems := list(_unfit(view)):
        raise UsageError(problems)
    subject, who = request.options.what, request.options.who
    if here and not subject.format_paths:
        subject = replace(subject, paths=tuple(dict.fromkeys(Path(suite.root) for suite in view.head.suites)))
    judges = view.head.judges
    if judges and not (who.judges or who.judge_models):
        who = replace(who, judges=tuple(judge.name for judge in judges))
        models = _models_of(judges)
        if len(models) == len(judges):
            who = replace(who, judge_models=models)
    return replace(request, options=replace(request.options, what=subject, who=replace(who, executes=False)))


def _models_of(judges: Iterable[Identity]) -> tuple[str, ...]:
    """Return the models of the judges that have one."""
    models = (judge.model or judge.settings.get("model") for judge in judges)
    return tuple(str(model) for model in models if model)


Part = Mapping[str, Collection[str]]
"""Ids of the checks to grade again, by the id of their trial."""


async def regrade(call: Invocation, request: Asked, view: RunView, part: Part | None = None) -> Evaluation:
    """The evaluation that grades a run again.

    Args:
        call: the command line.
        request: the settings, as `asked_for` returns them.
        view: the run.
        part: the part of it that is graded; `None` for all.

    Raises:
        SkillgaugeError: with everything that is missing, or that is not what it was; nothing has run.
    """
    evaluation = await Evaluation.prepare(call, request)
    prepared = evaluation.prepared
    suites = {suite.suite.id: _Known.of(suite.suite) for suite in prepared.plan.suites}
    if problems := list(_differences(view, suites)):
        raise UsageError(problems)
    stored: dict[str, Execution] = {}
    plan = _Again(
        _head(view, prepared.plan.head, part),
        prepared.plan.suites,
        prepared.plan.limits,
        prepared.plan.paid_scorers,
        view=view,
        known=suites,
        executions=stored,
        part=part,
    )

    @asynccontextmanager
    async def stage(trial: Trial) -> AsyncIterator[_Stored]:
        yield _Stored(stored.pop(trial.trial_id))

    retry = replace(prepared.job.retry, retries=0)  # what failed then would fail again
    job = replace(prepared.job, stages={ArmKind.DIRECT: stage, ArmKind.AGENT: stage}, retry=retry)
    return evaluation.instead(plan, job)


@dataclass(frozen=True)
class _Stored:
    """A stage on which nothing happens: the execution is known, and the workspace is gone."""

    execution: Execution
    workspace: None = None
    scores: tuple[()] = ()

    async def furnish(self, trial: Trial) -> None:
        """There is no place for anything."""

    async def execute(self, trial: Trial) -> Execution:
        return self.execution

    async def prepare_grading(self, trial: Trial) -> tuple[str, ...]:
        """There is nothing to put graders' files into, and nothing in their way."""
        return ()


@dataclass(frozen=True)
class _Known:
    """The present parts of a suite, by id or name."""

    cases: dict[str, Case]
    targets: dict[str, Target]
    arms: dict[str, Arm]

    @classmethod
    def of(cls, suite: Suite) -> _Known:
        return cls(
            {case.id: case for case in suite.cases},
            {target.id: target for target in suite.targets},
            {arm.name: arm for arm in suite.arms},
        )


@dataclass(frozen=True)
class _Again(Plan):
    """The trials of a run, each with its case as it is now."""

    view: RunView = field(kw_only=True)
    known: dict[str, _Known] = field(kw_only=True)
    executions: dict[str, Execution] = field(kw_only=True)
    """Gets what happened in each trial that is given, by its id."""
    part: Part | None = None
    """The part that is graded; `None` for all."""

    def trials(self) -> Iterator[Trial]:
        runners = {runner.name: runner for runner in self.view.head.runners}
        for result in self.view.results():
            if self.part is not None and result.trial_id not in self.part:
                continue
            self.executions[result.trial_id] = _as_recorded(result.execution)
            yield self._trial(result, runners)

    def _trial(self, result: TrialResult, runners: dict[str, Identity]) -> Trial:
        suite = self.known[result.suite_id]
        case = suite.cases[result.case_id]
        if self.part is not None:
            checks = tuple(check for check in case.checks if check.id in self.part[result.trial_id])
            case = case.model_copy(update={"checks": checks})
        return Trial(
            trial_id=result.trial_id,
            execution_id=result.execution_id,
            ordinal=result.ordinal,
            suite_id=result.suite_id,
            case=case,
            case_index=result.case_index,
            target=suite.targets[result.target_id] if result.target_id else None,
            arm=suite.arms[result.arm],
            runner=runners.get(result.runner) or Identity(name=result.runner),
            model=result.model,
            repeat=result.repeat,
            seed=0,
            limits=case.limits,
            paid=self.is_paid(case),
        )


def _as_recorded(execution: Execution) -> Execution:
    """Its time and cost are not this run's; a failure stays what it was, and is none of a replay."""
    if execution.failure is None:
        return execution.model_copy(update={"replayed": True})
    return execution.model_copy(update={"usage": _NOTHING})


_NOTHING = Usage(total_tokens=0, cost_usd=0.0, cost_basis="not executed")
"""Known, and not unknown: nothing ran."""


def _unfit(view: RunView) -> Iterator[Problem]:
    """Return the reason why a run cannot be graded again."""
    name = f"run {plain(view.run.run_id)}"
    if view.run.state is not RunState.FINISHED:
        message = f"{name} is {view.run.state}"
        yield Problem("rescore.unfinished", message, hint="The command that began it resumes it.")
    if not all(case.executes for case in view.cases()) or not view.summary.counts.total:
        hint = "Name a run of the store or its record, or evaluate again; `eval --replay DIR` grades recordings."
        yield Problem("rescore.untold", f"{name} does not hold what exactly was executed", hint=hint)


def _differences(view: RunView, suites: dict[str, _Known]) -> Iterator[Problem]:
    """Everything of a run that is not what it was."""
    name = f"run {plain(view.run.run_id)}"
    for suite in view.head.suites:
        if suite.id not in suites:
            message = f"{name} is of suite {plain(suite.id)!r}, and what is named here is {listed(suites) or 'none'}"
            yield Problem("rescore.other-suite", message, hint="Name what that run evaluated, as it was named then.")
            continue
        present = suites[suite.id]
        groups = [group for group in view.summary.groups if group.suite_id == suite.id]
        yield from _gone("arm", suite, dict.fromkeys(group.arm for group in groups), present.arms)
        targets = dict.fromkeys(group.target_id for group in groups if group.target_id)
        yield from _gone("target", suite, targets, present.targets)
    for head in view.cases():
        if head.suite_id in suites:
            yield from _changed_case(head, suites[head.suite_id].cases.get(head.id), name)


def _changed_case(head: CaseHead, now: Case | None, run: str) -> Iterator[Problem]:
    """Yield a problem if a case is gone or asks something else; `run` names the run that had it."""
    if now is None:
        message = f"case {plain(head.id)!r} of {run} is not in {plain(head.suite_id)} any more"
        yield Problem("rescore.changed-case", message, hint="Put it back, or evaluate again.")
    elif now.execution_digest != head.executes:
        message = f"case {plain(head.id)!r} asks something else now than in {run}, or with other files"
        hint = "Put it back as it was, or evaluate again: other checks are no matter."
        yield Problem("rescore.changed-case", message, origin=now.origin, hint=hint)


def _gone(subject: str, suite: SuiteHead, required: Iterable[str], present: Iterable[str]) -> Iterator[Problem]:
    names = [*present]
    for name in required:
        if name not in names:
            message = (
                f"suite {plain(suite.id)} has no {subject} {plain(name)!r} any more{plain(did_you_mean(name, names))}"
            )
            yield Problem(f"rescore.unknown-{subject}", message, hint=f"It has: {listed(names) or 'none'}.")


def _head(view: RunView, now: PlanHead, part: Part | None) -> PlanHead:
    """The head of the run with what decides how it is graded now."""
    trial_count = view.head.trial_count if part is None else len(part)
    grading = {suite.id: suite for suite in now.suites}
    suites = tuple(
        suite.model_copy(
            update={
                "content_digest": digest(suite.content_digest, grading[suite.id].content_digest),
                **{
                    name: getattr(grading[suite.id], name)
                    for name in ("comparisons", "document", "gates", "completion", "parameters", "quarantined")
                },
            }
        )
        for suite in view.head.suites
    )
    return view.head.model_copy(
        update={
            "plan_id": digest("rescore", view.run.run_id, now.plan_id),
            "suites": suites,
            "trial_count": trial_count,
            "judges": now.judges,
            "provenance": now.provenance,
            "origin": RunOrigin(run_id=view.run.run_id, change="graded again; nothing was executed"),
        }
    )
