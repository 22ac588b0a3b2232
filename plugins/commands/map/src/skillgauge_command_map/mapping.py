"""The two parts of a map, each a run of its own: everything installed, then suspects left out one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from skillgauge.api import Fact, PluginError, Problem, RunQuery, Severity, SkillgaugeError, UsageError
from skillgauge.api.report import RunInfo, RunState, RunView, counted
from skillgauge.api.run import Asked, Evaluation, Invocation, eval_options, opened_store, run_reports
from skillgauge_skill_maps import PlannedSessions, QueryRow

from .catalogue import Catalogue
from .findings import Pair, Screened
from .overlap import Likeness
from .queries import MapSuites
from .sessions import Answers


@dataclass(frozen=True)
class Part:
    """A part of a map that was run, or read from the store."""

    info: RunInfo
    answers: Answers
    queries: tuple[QueryRow, ...]
    """What was asked."""


@dataclass(frozen=True)
class Mapped:
    """A map as far as it came."""

    catalogue: Catalogue
    first: Evaluation
    sessions: PlannedSessions
    screening: Part
    screened: Screened
    tested: tuple[Pair, ...] = ()
    again: Part | None = None
    """`None` without suspects, or where the first part did not finish."""
    notices: tuple[str, ...] = ()
    out_of_budget: bool = False
    """True if nothing was left for the second part."""

    @property
    def state(self) -> RunState:
        """The state of the part that came last."""
        if self.out_of_budget:
            return RunState.STOPPED
        return (self.again or self.screening).info.state


@dataclass(frozen=True)
class MapMaker:
    """Makes a map.

    Args:
        call: the command line.
        values: parsed options.
        catalogue: the skills.
        most: skills that are left out, at most, for each one that fires too seldom.
    """

    call: Invocation
    values: Mapping[str, Any]
    catalogue: Catalogue
    most: int

    @property
    def likeness(self) -> Likeness:
        """The likeness of the skills' names and descriptions."""
        return Likeness({member.name: f"{member.name} {member.description}" for member in self.catalogue.members})

    async def prepare(self) -> Evaluation:
        """Check everything that the first part needs.

        Raises:
            SkillgaugeError: with every problem that was found; nothing has run.
        """
        request = self._request(MapSuites(self.catalogue.members))
        if not request.options.how.dry_run:
            UsageError.raise_for(replace(request.reports, own=True, file=None).unwritable())
        evaluation = await Evaluation.prepare(self.call, request)
        require_agent(evaluation)
        return evaluation

    def _request(self, suites: MapSuites, spent: Answers | None = None) -> Asked:
        """Return what is asked of `eval`, with the limits that a part before has left."""
        request = eval_options(self.call, self.values)
        if request.options.how.detect is not None:
            hint = "Give the number of sessions of each query: --runs 3."
            message = "a map compares no arms with and without a skill, so --runs takes a number here"
            raise UsageError(Problem("usage.runs", message, hint=hint))
        subject = replace(request.options.what, paths=self.catalogue.paths, revise=suites)
        reports = replace(request.reports, names=(), own=False)  # a map has reports of its own
        how, limits = request.options.how, request.options.how.budget
        if spent is not None:
            cost = None if limits.cost_usd is None else limits.cost_usd - spent.cost_usd
            tokens = None if limits.tokens is None else limits.tokens - spent.tokens
            how = replace(how, budget=replace(limits, cost_usd=cost, tokens=tokens))
        return replace(request, options=replace(request.options, what=subject, how=how), reports=reports, words=())

    def planned(self, evaluation: Evaluation) -> PlannedSessions:
        """Return the sessions of the first part, and the most of the second one."""
        head = evaluation.prepared.plan.head
        most = min(self.most, len(self.catalogue.members) - 1)
        return PlannedSessions(
            screening=head.trial_count,
            leave_one_out=head.trial_count * (1 + most) if most else 0,
            skills=len(self.catalogue.members),
            queries=sum(suite.case_count for suite in head.suites),
            runs=head.runs,
        )

    async def carry_out(self, first: Evaluation) -> Mapped:
        """Run both parts, or what an earlier command has left of them."""
        notices: list[str] = []
        screening = None if self.values["fresh"] else await self._unfinished(first)
        if screening is None:
            screening = await self._run(first)
        else:
            await first.prepared.job.store.close()
            notices.append(f"went on with the map that run {screening.info.run_id} began (--fresh starts a new one)")
        screened = Screened.of(self.likeness, screening.answers.sessions)
        mapped = Mapped(self.catalogue, first, self.planned(first), screening, screened, notices=tuple(notices))
        if screening.info.state is not RunState.FINISHED:
            return mapped
        suites = self._second(screened)
        tested = tuple((name, owner) for owner, names in suites.left_out for name in names)
        if not tested:
            return replace(mapped, sessions=mapped.sessions.model_copy(update={"leave_one_out": 0}))
        request = self._request(suites, screening.answers)
        if _has_nothing_left(request):
            return replace(mapped, tested=tested, out_of_budget=True)
        evaluation = await Evaluation.prepare(self._quiet(), request)
        count = evaluation.prepared.plan.head.trial_count
        pairs = counted(len(tested), "suspicious pair")
        self.call.output.notice(f"[2/2] {pairs}: {counted(count, 'session')} with suspects left out, and beside that")
        sessions = mapped.sessions.model_copy(update={"leave_one_out": count})
        return replace(mapped, tested=tested, sessions=sessions, again=await self._run(evaluation))

    def _second(self, screened: Screened) -> MapSuites:
        """Return the suites of the second part, without any `left_out` if no pair is suspicious."""
        suspects = {member.name: screened.suspects(member.name, self.most) for member in self.catalogue.members}
        left_out = tuple((owner, names) for owner, names in suspects.items() if names)
        return MapSuites(self.catalogue.members, left_out)

    def _quiet(self) -> Invocation:
        """Return the same command line for the second part, whose warnings are those of the first."""
        return replace(self.call, listener=_WithoutProblems(self.call.listener))

    async def _run(self, evaluation: Evaluation) -> Part:
        outcome = await evaluation.carry_out()
        return await asyncio.to_thread(_part_of, outcome.view)

    async def _unfinished(self, first: Evaluation) -> Part | None:
        """Return the first part of a map that an earlier command has begun and not finished; `None` if there is none.

        A first part that did not finish is resumed as every run is.
        """
        if not self.call.has_store:
            return None
        part = await asyncio.to_thread(self._stored, first.prepared.plan.head.plan_id)
        if part is None:
            return None
        suites = self._second(Screened.of(self.likeness, part.answers.sessions))
        if not suites.left_out:
            return None
        second = await Evaluation.prepare(self._quiet(), self._request(suites))
        await second.prepared.job.store.close()
        done = await asyncio.to_thread(self._stored, second.prepared.plan.head.plan_id)
        if done is not None and done.info.started_at >= part.info.started_at:
            return None
        return part

    def _stored(self, plan_id: str) -> Part | None:
        """Return the newest stored run of a plan, if it is finished and this user's own."""
        with suppress(SkillgaugeError):
            with opened_store(self.call) as store:
                views = [view.run for view in store.scan(RunQuery(plan_id=plan_id, limit=1))]
            if views and views[0].state is RunState.FINISHED:
                run_id = views[0].run_id
                with run_reports(self.call, [run_id], counted_in=[run_id]) as (view,):
                    return _part_of(view)
        return None


@dataclass(frozen=True)
class _WithoutProblems:
    """Hears of an evaluation and keeps problems to itself, which were reported before."""

    listener: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.listener, name)

    def problems(self, problems: Iterable[Problem]) -> None:
        """Report errors only."""
        self.listener.problems([problem for problem in problems if problem.severity is Severity.ERROR])


def _part_of(view: RunView) -> Part:
    queries = (QueryRow(query_of=case.suite_id, id=case.id, prompt=case.prompt or "") for case in view.cases())
    return Part(view.run, Answers.of(view), tuple(queries))


def _has_nothing_left(request: Asked) -> bool:
    limits = request.options.how.budget
    return any(limit is not None and limit <= 0 for limit in (limits.cost_usd, limits.tokens))


def require_agent(evaluation: Evaluation) -> None:
    """Refuse what no map can be made with.

    Raises:
        PluginError: the engine does not tell which skills it offered or which fired.
        UsageError: there are several agents.
    """
    needed = (Fact.OFFERED, Fact.FIRED)
    problems = []
    for name, traits in evaluation.prepared.cast.engines.traits().items():
        if not traits.tells.issuperset(needed):
            lacking = "which skills it offered and which of them fired"
            message = f"engine {name!r} does not tell {lacking}, so no map can be made with it; nothing was run"
            hint = "Use an engine that does: `skillgauge plugins info engines NAME` lists what each tells."
            problems.append(Problem("map.cannot-tell", message, hint=hint))
    if problems:
        raise PluginError(problems)
    head = evaluation.prepared.plan.head
    if len(head.runners) > 1 or len(head.models) > 1:
        names = ", ".join([*(runner.name for runner in head.runners), *head.models])
        message = f"a map is of one agent with one model, and here are several: {names}"
        raise UsageError(Problem("map.one-agent", message, hint="Make a map for each: --engine NAME --model ID."))
