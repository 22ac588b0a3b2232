"""Carry a plan out: claim, execute, score, commit, aggregate. The stages wired together, and nothing else.

What takes part (adapters, engines, scorers, sandbox, store) arrives ready-made in a `Job`; `skillgauge.plan.job`
makes one from plugins and configuration, tests make one from fakes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field, replace
from functools import partial

from skillgauge_documents.immutables import immutable

from ..contract.executors import Executor, Keeper, RunFiles, RunTrial
from ..contract.providers import Clean
from ..contract.stores import BudgetingStore, LimitingStore, RunLog, Store
from ..plugins.events import Events
from ..report.summary import FigureSource, summarize
from ..types.arms import ArmKind
from ..types.kept import KeptExecution
from ..types.plan import Plan
from ..types.results.runs import ResultOrder, RunInfo, RunState, RunView
from ..types.results.summaries import Summary
from ..types.results.trials import GivenUp, TrialResult
from ..types.trajectory import TrajectoryEvent
from ..types.trial import Failure, Trial
from ..types.usage import BudgetStanding
from .agents import OnStep
from .budget import Budget, BudgetLimits, LastSteps
from .grading import Grading
from .keeping.memory import MemoryStore
from .ledger import Ledger
from .scheduling.executor import LocalExecutor, run_all
from .scheduling.rounds import Rounds
from .scorers import Scorers
from .services import Services
from .stage import OpenStage
from .trials import RetryPolicy, TrialRunner


@immutable
class Job:
    """Everything that takes part in carrying out a plan."""

    stages: Mapping[ArmKind, OpenStage]
    grading: Grading
    figures: FigureSource
    store: Store = field(default_factory=MemoryStore)
    executor: Executor | None = None
    """`None` runs in this process."""
    concurrency: int = 1
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    services: Services | None = None
    """What the services bear that engines and judges ask; `None`: anything."""
    budget: BudgetLimits = field(default_factory=BudgetLimits)
    events: Events = field(default_factory=lambda: Events({}, lambda _name, _problem: None))
    clean: Clean | None = None
    """Takes secrets out of results, and out of what is kept of cases."""
    progress: Callable[[TrialResult], None] | None = None
    fresh: bool = False
    on_begin: Callable[[RunInfo], None] | None = None
    """Told once, after the run was opened and before the first trial."""
    close: Callable[[], Awaitable[None]] | None = None
    """Frees what the stages hold; called once, also when the run is stopped."""
    recipe: bytes = b""
    """See `PortableRunTrial.recipe`."""
    files: Callable[[], RunFiles] | None = None
    """See `PortableRunTrial.files`; there where there is a recipe."""
    watch_agents: Callable[[OnStep], None] | None = None
    """Takes who is told of what agents do."""
    on_step: OnStep | None = None
    """Told of what agents do, here and elsewhere."""

    def watched(
        self, progress: Callable[[TrialResult], None], on_begin: Callable[[RunInfo], None], on_step: OnStep
    ) -> Job:
        """This job, telling somebody how far it is."""
        return replace(self, progress=progress, on_begin=on_begin, on_step=on_step)


@immutable
class Conclusion:
    """The result of carrying out a plan."""

    view: RunView
    complete: bool
    """False if the run was stopped before every trial had run."""
    already_done: int
    """Trials that an earlier, interrupted run had committed."""
    standing: BudgetStanding | None = None
    """The state of the budget that several runs share, if it ended this one."""


async def carry_out(plan: Plan, job: Job, stop: asyncio.Event | None = None) -> Conclusion:
    """Run every trial of a plan that has no committed result yet, and summarise all of them.

    Args:
        plan: what to do.
        job: who does it.
        stop: when set, trials under way are cancelled, what is finished is kept and summarised.

    Raises:
        PolicyError: an extension forbids the plan; nothing has run.
        PluginError: a scorer cannot be made or opened; nothing has run.
        StoreError: results cannot be kept; what is committed stays.
    """
    try:
        if job.clean:
            plan = replace(plan, head=job.clean(plan.head))
        job.events.plan_ready(plan.head)
        stop = stop or asyncio.Event()
        async with _open(job.grading.scorers, stop):
            return await _carry_out(plan, job, stop)
    finally:
        await asyncio.to_thread(job.events.close)


@asynccontextmanager
async def _open(scorers: Scorers, stop: asyncio.Event) -> AsyncIterator[None]:
    """The scorers made and opened, and closed however the run ends; a stop waits for none that is slow to open.

    One task opens and closes them, because some connections cannot be closed by another.
    """
    ready, over = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        try:
            await scorers.open()
            ready.set()
            await over.wait()
        finally:
            await scorers.close()

    holding = asyncio.create_task(hold())
    waiting = [asyncio.create_task(event.wait()) for event in (ready, stop)]
    try:
        await asyncio.wait((holding, *waiting), return_when=asyncio.FIRST_COMPLETED)
        if not ready.is_set() and not holding.cancel():  # it has ended already, that is, failed
            holding.result()
        yield
    finally:
        over.set()
        for task in waiting:
            task.cancel()
        await asyncio.gather(holding, *waiting, return_exceptions=True)


async def _carry_out(plan: Plan, job: Job, stop: asyncio.Event) -> Conclusion:
    log = await job.store.begin(plan.head, fresh=job.fresh)
    if job.on_begin:
        job.on_begin(log.info)
    ledger = Ledger(log, concurrency=job.concurrency, on_commit=partial(_tell, job), clean=job.clean)
    async with AsyncExitStack() as ending:
        ending.push_async_callback(ledger.close)
        if job.services and isinstance(job.store, LimitingStore):
            job.services.share(job.store, log.info.run_id)
            ending.push_async_callback(job.services.close)
        if job.close:
            ending.push_async_callback(job.close)
        budget, rounds = await asyncio.to_thread(lambda: (_budget(job, log), _rounds(plan, log)))
        state = await _execute(plan, job, ledger, stop, budget, rounds)
    summary = await asyncio.to_thread(_summary, plan, job, log, ledger)
    info = await log.finish(state, summary)
    job.events.run_finished(info, summary)
    view = RunView(info, plan.head, summary, log)
    is_complete = state is RunState.FINISHED
    return Conclusion(view, is_complete, already_done=ledger.already_done, standing=budget.standing)


def _budget(job: Job, log: RunLog) -> Budget:
    """Return the budget that is left: earlier commands of the same run count."""
    hold = None
    if job.budget.shared and isinstance(job.store, BudgetingStore):  # else nothing of the plan is paid, see its checks
        hold = partial(job.store.hold, job.budget.shared, log.info.run_id)
    if not log.info.resumed or not job.budget.are_given:
        return Budget(job.budget, hold=hold)
    return Budget(job.budget, log.results(ResultOrder.PLAN), log.unfinished(), hold)


async def _execute(
    plan: Plan, job: Job, ledger: Ledger, stop: asyncio.Event, budget: Budget, rounds: Rounds | None
) -> RunState:
    steps = LastSteps(ledger.spent)

    def on_step(trial: Trial, event: TrajectoryEvent) -> None:
        steps.stepped(trial, event)
        if job.on_step:
            job.on_step(trial, event)

    if job.watch_agents:
        job.watch_agents(on_step)
    runner = TrialRunner(
        job.stages,
        job.grading,
        retry=job.retry,
        on_start=job.events.trial_started,
        clean=job.clean,
        services=job.services,
        affords=budget.affords_retry,
        on_spent=steps.spent,
        keeper=ledger,
    )
    executor = job.executor or LocalExecutor(job.concurrency)
    run_trial = _RunTrial(runner, budget, job.concurrency, job.recipe, ledger.run_id, ledger, job.files, on_step)

    async def write(result: TrialResult, *, paid: bool) -> None:
        await ledger.record(result, paid=paid)
        if paid:
            await budget.share()
        if rounds:
            rounds.add(result)

    async def record(result: TrialResult) -> None:
        result = ledger.whole(result)
        steps.ended(result)
        if budget.settle(result):
            # Not awaited, so that those that come during a write are written together: a claim waits for it anyway.
            writing.create_task(write(result, paid=True))
        else:
            await write(result, paid=False)

    pending = _by_rounds(rounds, ledger, budget) if rounds else ledger.pending(plan.trials(), budget.admit)
    results = executor.run(pending, run_trial)
    closing = asyncio.create_task(_close_at(stop, budget))
    try:
        async with asyncio.TaskGroup() as writing:
            complete = await run_all(results, record, stop)
    except BaseExceptionGroup as group:
        raise group.exceptions[0]  # noqa: B904 - the group says nothing more
    finally:
        closing.cancel()
    await budget.share()
    if not complete or (stop.is_set() and budget.exhausted):  # stopped while it waited for money, nothing was cut short
        return RunState.INTERRUPTED
    return RunState.STOPPED if budget.exhausted else RunState.FINISHED


async def _close_at(stop: asyncio.Event, budget: Budget) -> None:
    """Have no trial wait for money that other runs may leave, once the run is stopped."""
    await stop.wait()
    budget.close()


def _rounds(plan: Plan, log: RunLog) -> Rounds | None:
    """Return the choice of trials by their results, if any suite of a plan stops once it is decided."""
    return Rounds(plan, log.results(ResultOrder.PLAN)) if plan.head.until_decided else None


async def _by_rounds(rounds: Rounds, ledger: Ledger, budget: Budget) -> AsyncIterator[Trial]:
    """The trials that are chosen by the results, each claimed before it is handed out."""
    async for batch in rounds.batches():
        async for trial in ledger.pending(batch, budget.admit):
            yield trial
        if ledger.has_ended:
            return


@immutable
class _RunTrial:
    """The function that executors get: see `RunTrial` and `PortableRunTrial`."""

    runner: TrialRunner
    budget: Budget
    concurrency: int
    recipe: bytes
    run_id: str
    keeper: Keeper
    files_of_run: Callable[[], RunFiles] | None
    on_step: OnStep

    async def __call__(self, trial: Trial) -> TrialResult:
        try:
            return await self.runner(trial)
        except asyncio.CancelledError:
            self.budget.close()
            raise

    def spent(self, trial_id: str, attempt: GivenUp) -> None:
        meter = self.runner.meters.get(trial_id)
        if meter:
            meter.used_elsewhere(attempt)

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        self.on_step(trial, event)

    async def keep(self, kept: KeptExecution) -> None:
        await self.keeper.keep(kept)

    async def kept(self, trial: Trial) -> KeptExecution | None:
        return await self.keeper.kept(trial)

    def files(self) -> RunFiles:
        assert self.files_of_run  # as there is a recipe
        return self.files_of_run()

    def elsewhere(self, attempt: Callable[[Trial], Awaitable[TrialResult | Failure]]) -> RunTrial:
        return replace(self, runner=self.runner.elsewhere(attempt))


def _tell(job: Job, result: TrialResult) -> None:
    job.events.trial_finished(result)
    if job.progress:
        job.progress(result)


def _summary(plan: Plan, job: Job, log: RunLog, ledger: Ledger) -> Summary:
    return summarize(
        plan.head,
        log.results(ResultOrder.CASE),
        figures=job.figures,
        interrupted_attempts=ledger.interrupted_attempts + ledger.under_way,
        unfinished=log.unfinished(),
    )
