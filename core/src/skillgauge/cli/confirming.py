"""`eval --confirm RUN`: run again what a run leaves in doubt, and join that with the rest of the run.

What raised a doubt is not counted again: cases that were chosen because they looked bad would go on looking bad. So the
joined run has the new results of the cases that are run again, and of all others those that are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import cast

from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import digest
from skillgauge_documents.phrases import listed

from ..contract.stores import RunLog, RunQuery, Store
from ..errors import Problem, UsageError
from ..plan.options import EvalOptions
from ..plan.preparing import Prepared
from ..report.answer import compared
from ..stats import Finding, repeats_for
from ..types.comparison import GroupKey
from ..types.plan import Plan, Selection
from ..types.result import RunState, RunView, TrialResult
from ..types.suite import DIRECT, Case
from ..types.trial import CaseHead, Identity, PlanHead, RunOrigin, SuiteHead, Trial
from .evaluation import Evaluation

RUNS = 5
"""Repeats of cases that the user names, where he gives no number."""
Place = tuple[str, str]
"""Suite and case, by their ids."""


@dataclass(frozen=True)
class Doubt:
    """What of a run is to be run again."""

    view: RunView
    cases: Mapping[Place, CaseHead]
    runs: int

    @cached_property
    def results(self) -> tuple[TrialResult, ...]:
        """All results of the run, in the order of its plan."""
        return tuple(self.view.results())

    def options(self, options: EvalOptions, *, here: bool) -> EvalOptions:
        """What to evaluate: what the run evaluated, with the same engines, models and judges, unless the user says so.

        Args:
            options: what the user says.
            here: whether he names nothing to evaluate.
        """
        head, what, who = self.view.head, options.what, options.who
        suites = {suite for suite, _ in self.cases}
        if here:
            roots = dict.fromkeys(Path(suite.root) for suite in head.suites if suite.id in suites)
            what = replace(what, paths=tuple(roots))
        groups = [group for group in self.view.summary.groups if group.suite_id in suites and group.arm != DIRECT.name]
        pairs = list(dict.fromkeys((group.runner, group.model) for group in groups))
        if pairs and not (who.engines or who.replay):
            who = replace(who, engines=tuple(engine for engine, _ in pairs))
            if not who.models and all(model for _, model in pairs):
                who = replace(who, models=tuple(model or "" for _, model in pairs))
        if head.judges and not (who.judges or who.judge_models):
            who = replace(who, judges=tuple(judge.name for judge in head.judges))
            told = [judge.model or judge.settings.get("model") for judge in head.judges]
            who = replace(who, judge_models=tuple(map(str, told))) if all(told) else who
        baseline = any(suite.compared for suite in head.suites if suite.id in suites) or None
        how = replace(options.how, runs=self.runs, detect=None, baseline=baseline)
        return replace(options, what=what, who=who, how=how)


def doubt_of(view: RunView, selection: Selection, runs: int | None) -> Doubt:
    """The cases that the user selects, else those of comparisons that a run leaves undecided, with enough repeats.

    Args:
        view: the run.
        selection: what the user selects.
        runs: repeats that he asks for.

    Raises:
        UsageError: the run cannot be added to, or nothing of it is in doubt.
    """
    name = f"run {plain(view.run.run_id)}"
    cases = {(case.suite_id, case.id): case for case in view.cases()}
    if problems := list(_unfit(view, name, cases.values())):
        raise UsageError(problems)
    if selection.model_copy(update={"targets": ()}).is_given:
        chosen = {place: case for place, case in cases.items() if selection.admits(cast("Case", case))}
        if not chosen:
            hint = f"Its cases are: {listed(case.id for case in cases.values())}."
            raise UsageError(Problem("confirm.no-case", f"{name} has no case that is selected", hint=hint))
        return Doubt(view, chosen, runs or RUNS)
    pairs = compared(view)
    if not pairs:
        hint = "`report diff BEFORE RUN` prints the command that decides a comparison with another run; or name --case."
        message = f"{name} compares no arms, so by itself it leaves nothing in doubt"
        raise UsageError(Problem("confirm.no-pairs", message, hint=hint))
    open_ = [(pair.candidate, one) for pair in pairs if (one := pair.evidence) and one.finding is Finding.UNDECIDED]
    if not open_:
        hint = "Name the cases with --case, to run them again anyway."
        raise UsageError(Problem("confirm.decided", f"{name} leaves nothing in doubt", hint=hint))
    suites = {group.suite_id for group, _ in open_}
    enough = [runs or (repeats_for(one.n, abs(one.estimate)) if one.estimate else None) for _, one in open_]
    known = [number for number in enough if number]
    if not known:
        message = f"{name} shows too little for repeats to decide: more cases would"
        raise UsageError(Problem("confirm.too-little", message, hint="Give --runs N, to repeat it anyway."))
    return Doubt(view, {place: case for place, case in cases.items() if place[0] in suites}, max(known))


def joined(evaluation: Evaluation, doubt: Doubt) -> Evaluation:
    """The evaluation that runs the doubtful cases again and takes the other results of the run.

    Args:
        evaluation: what was prepared by `Doubt.options`.
        doubt: what is run again.

    Raises:
        UsageError: what would run is not what the run did; with everything that differs. Nothing has run.
    """
    prepared = evaluation.prepared
    if problems := list(dict.fromkeys(_differences(prepared, doubt))):
        raise UsageError(problems)
    again = _Again.of(prepared.plan, doubt)
    fresh = Counter(trial.suite_id for trial in again.trials())
    groups = {(_group(trial), trial.case.id) for trial in again.trials()}
    kept = [one for one in doubt.results if (one.group, one.case_id) not in groups]
    kept = [one.model_copy(update={"ordinal": fresh.total() + at}) for at, one in enumerate(kept)]
    cases = [case for case in doubt.view.cases() if (case.suite_id, case.id) not in doubt.cases]
    head = _head(prepared.plan.head, doubt, fresh + Counter(one.suite_id for one in kept))
    job = replace(prepared.job, store=_Continuing(prepared.job.store, tuple(kept), tuple(cases)))
    return evaluation.instead(replace(again, head=head), job, kept=len(kept))


def notice(doubt: Doubt) -> str:
    """What is about to happen."""
    return f"{_change(doubt)}; the other results are those of run {plain(doubt.view.run.run_id)}"


def _change(doubt: Doubt) -> str:
    times = "once" if doubt.runs == 1 else f"{doubt.runs} times"
    return f"{listed(case for _, case in doubt.cases)} run again, {times} each, and counted by that alone"


def _unfit(view: RunView, name: str, cases: Iterable[CaseHead]) -> Iterator[Problem]:
    """Why nothing can be added to a run."""
    if view.run.state is not RunState.FINISHED:
        hint = "The command that began it resumes it."
        yield Problem("confirm.unfinished", f"{name} is {view.run.state}", hint=hint)
    for one in view.summary.validity:
        if not one.valid:
            message = f"{name} is invalid: {plain(one.suite_id)}: {plain(one.reason)}"
            yield Problem("confirm.invalid", message, hint="Evaluate again.")
    if not view.head.runners or not all(case.digest for case in cases):
        hint = "Name a run of the store, or its record."
        yield Problem("confirm.untold", f"{name} does not say exactly what was executed", hint=hint)


def _differences(prepared: Prepared, doubt: Doubt) -> Iterator[Problem]:
    """Everything that would not be as it was in the run."""
    was, now = doubt.view.head, prepared.plan.head
    name = f"run {plain(doubt.view.run.run_id)}"
    suites = {suite.id: suite for suite in now.suites}
    for suite in was.suites:
        if not any(suite.id == one for one, _ in doubt.cases):
            continue
        if suite.id not in suites:
            hint = "Name what that run evaluated, as it was named then."
            message = f"{name} is of suite {plain(suite.id)!r}, and what is named here is {listed(suites) or 'none'}"
            yield Problem("confirm.other-suite", message, hint=hint)
            continue
        yield from _other_arms(suite, suites[suite.id], name)
    if {judge.digest for judge in was.judges} != {judge.digest for judge in now.judges}:
        message = f"{name} was graded by {_named(was.judges)}, and this one would be by {_named(now.judges)}"
        yield Problem("confirm.other-judge", message, hint="Name that judge: --judge NAME --judge-model ID.")
    yield from _other_trials(prepared, doubt, name)


def _other_arms(was: SuiteHead, now: SuiteHead, name: str) -> Iterator[Problem]:
    for arm in was.arms:
        if arm not in now.arms:
            message = (
                f"{name} has an arm {plain(arm)!r}, which {plain(now.id)} no longer has (it has: {listed(now.arms)})"
            )
            yield Problem("confirm.unknown-arm", message, hint="Evaluate again.")


def _other_trials(prepared: Prepared, doubt: Doubt, name: str) -> Iterator[Problem]:
    """Cases that ask or check something else, and sessions that would not be the same."""
    stored = {(one.group, one.case_id, one.repeat): one.execution_id for one in doubt.results}
    groups, found = {group for group, *_ in stored}, set[Place]()
    hint = "Put it back as it was, or evaluate everything again."
    for trial in _Again.of(prepared.plan, doubt).trials():
        place, group = (trial.suite_id, trial.case.id), _group(trial)
        found.add(place)
        if CaseHead.of(trial).digest != doubt.cases[place].digest:
            message = f"case {plain(trial.case.id)!r} asks or checks something else now than in {name}"
            yield Problem("confirm.changed-case", message, origin=trial.case.origin, hint=hint)
        elif group not in groups:
            who = f"{plain(group.runner)}{f' with model {plain(group.model)}' if group.model else ''}"
            message = (
                f"{name} has no trial of {plain(group.target_id or group.suite_id)} by {who}, arm {plain(group.arm)}"
            )
            known = listed(dict.fromkeys(f"{one.runner} {one.model or ''}".strip() for one in groups))
            yield Problem("confirm.other-runner", message, hint=f"Name who ran it: {known}.")
        elif stored.get((group, trial.case.id, trial.repeat), trial.execution_id) != trial.execution_id:
            what = f"{plain(group.target_id or group.suite_id)}, arm {plain(group.arm)}"
            message = f"{what}: the skill, its limits or settings, or a version are not as in {name}"
            yield Problem("confirm.changed", message, hint=hint)
    for suite, case in doubt.cases.keys() - found:
        if any(one.id == suite for one in prepared.plan.head.suites):
            message = f"case {plain(case)!r} of {name} is not in {plain(suite)} any more"
            yield Problem("confirm.changed-case", message, hint=hint)


def _named(judges: Iterable[Identity]) -> str:
    return listed(f"{one.name} ({one.model})" if one.model else one.name for one in judges) or "no judge"


def _group(trial: Trial) -> GroupKey:
    target = trial.target.id if trial.target else None
    return GroupKey(trial.suite_id, target, trial.arm.name, trial.runner.name, trial.model)


def _head(fresh: PlanHead, doubt: Doubt, trials: Mapping[str, int]) -> PlanHead:
    """The head of the joined run: that of the run before, with what is run again."""
    was, runs = doubt.view.head, {suite.id: suite for suite in fresh.suites}
    suites = []
    for suite in was.suites:
        changes: dict[str, object] = {"trial_count": trials[suite.id]}
        if any(suite.id == one for one, _ in doubt.cases):
            changes["runs"] = max(suite.runs, doubt.runs)
            changes["quarantined"] = runs[suite.id].quarantined
            changes["content_digest"] = digest(suite.content_digest, runs[suite.id].content_digest)
        suites.append(suite.model_copy(update=changes))
    return was.model_copy(
        update={
            "plan_id": digest("confirm", doubt.view.run.run_id, fresh.plan_id, sorted(doubt.cases)),
            "suites": tuple(suites),
            "trial_count": sum(trials.values()),
            "runs": max(suite.runs for suite in suites),
            "provenance": fresh.provenance,
            "origin": RunOrigin(run_id=doubt.view.run.run_id, change=_change(doubt)),
        }
    )


@dataclass(frozen=True)
class _Again(Plan):
    """The trials of a plan that are in doubt, each case at its place in the run."""

    doubt: Doubt = field(kw_only=True)

    @classmethod
    def of(cls, plan: Plan, doubt: Doubt) -> _Again:
        return cls(plan.head, plan.suites, plan.limits, plan.paid_scorers, doubt=doubt)

    def trials(self) -> Iterator[Trial]:
        wanted = (trial for trial in super().trials() if (trial.suite_id, trial.case.id) in self.doubt.cases)
        for ordinal, trial in enumerate(wanted):
            index = self.doubt.cases[trial.suite_id, trial.case.id].index
            yield trial.model_copy(update={"ordinal": ordinal, "case_index": index})


@dataclass(frozen=True)
class _Continuing:
    """A store whose next run begins with results that are there already."""

    store: Store
    kept: tuple[TrialResult, ...]
    cases: tuple[CaseHead, ...]

    @property
    def durable(self) -> bool:
        return self.store.durable

    async def begin(self, head: PlanHead, *, fresh: bool) -> RunLog:
        """Again in a run that is resumed: what is there is replaced, and what a crash left out is added."""
        log = await self.store.begin(head, fresh=fresh)
        await log.claim((), self.cases)
        for start in range(0, len(self.kept), _BATCH):
            await log.commit(self.kept[start : start + _BATCH], paid=False)
        return log

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        return self.store.scan(query)

    async def close(self) -> None:
        await self.store.close()


_BATCH = 200
