"""Runs of trials as the kernel makes them, for the clauses of the contract of executors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from uuid import uuid4

from skillgauge.api import (
    Executor,
    Failure,
    GivenUp,
    KeptExecution,
    Results,
    RunFiles,
    RunTrial,
    TrajectoryEvent,
    Trial,
    TrialResult,
    Verdict,
)
from skillgauge.run.trials import RetryPolicy, TrialRunner

from ..clauses import answered, called, require, shown
from ..shapes import require_shape
from .bundle import Bundle
from .marks import LOOPBACK, Marks

MakeExecutor = Callable[[int], Executor]
"""Makes an executor for a run of some concurrency."""

ChangeRecipe = Callable[[bytes], bytes]
"""Makes another recipe of a run's."""

AGAIN = RetryPolicy(retries=20, base_s=0)
"""Where workers die or are bad, attempts that another can help are made again."""


@dataclass
class Shelf:
    """Keeps sessions in this process."""

    sessions: dict[str, KeptExecution] = field(default_factory=dict)
    """By trial."""

    async def keep(self, kept: KeptExecution) -> None:
        """See `Keeper.keep`."""
        self.sessions[kept.trial_id] = kept

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """See `Keeper.kept`."""
        return self.sessions.get(trial.trial_id)


@dataclass
class CountingRunTrial:
    """A `PortableRunTrial` that counts and, if it is told so, raises."""

    runner: TrialRunner
    concurrency: int
    recipe: bytes
    files: Callable[[], RunFiles]
    shelf: Shelf
    run_id: str = field(default_factory=lambda: uuid4().hex)
    begun: list[int] = field(default_factory=list)
    broken_at: int | None = None

    async def __call__(self, trial: Trial) -> TrialResult:
        """Run one in this process."""
        self.begun.append(trial.ordinal)
        if trial.ordinal == self.broken_at:
            raise Broken("run_trial is broken")
        return await self.runner(trial)

    def spent(self, trial_id: str, attempt: GivenUp) -> None:
        """The trials of the contract cost nothing."""

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """They have no agents."""

    async def keep(self, kept: KeptExecution) -> None:
        """Keep a session that somebody else has made."""
        await self.shelf.keep(kept)

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """Return the session of an earlier attempt."""
        return await self.shelf.kept(trial)

    def elsewhere(self, attempt: Callable[[Trial], Awaitable[TrialResult | Failure]]) -> RunTrial:
        """See `PortableRunTrial.elsewhere`."""
        return replace(self, runner=self.runner.elsewhere(attempt))


class Broken(Exception):  # noqa: N818 - a sign, not an error of anybody
    """The exception that must arrive where results are read."""


@dataclass(frozen=True)
class Bench:
    """The parts from which a run of trials is made."""

    make: MakeExecutor
    bundle: Bundle
    patience_s: float
    host: str = LOOPBACK
    """Where workers reach this process."""

    def marks(self) -> Marks:
        """A place where attempts tell that they have begun."""
        return Marks(self.host)

    def of_sessions(self) -> Bench:
        """Return the same, of trials that are paid sessions of an agent."""
        return replace(self, bundle=self.bundle.of_sessions())

    def executor(self, concurrency: int) -> Executor:
        """A new one."""
        return called("making an executor", self.make, concurrency)

    async def run(
        self,
        concurrency: int,
        trials: AsyncIterator[Trial],
        *,
        executor: Executor | None = None,
        broken_at: int | None = None,
        retry: RetryPolicy | None = None,
        recipe: ChangeRecipe = bytes,
    ) -> tuple[Results, CountingRunTrial]:
        """Results of trials that are run as the kernel runs them."""
        prepared, elsewhere = await self.bundle.prepared()
        shelf = Shelf()
        job = prepared.job
        runner = TrialRunner(job.stages, job.grading, retry=retry or RetryPolicy(), keeper=shelf)
        changed = recipe(elsewhere.recipe)
        run_trial = CountingRunTrial(runner, concurrency, changed, elsewhere.files, shelf, broken_at=broken_at)
        executor = executor or self.executor(concurrency)
        results = called("Executor.run", executor.run, trials, run_trial)
        require_shape(results, Results)
        return results, run_trial

    async def trials(
        self, ordinals: Iterable[int], *, marks: Marks | None = None, waiting: Callable[[int], bool] = lambda _: True
    ) -> list[Trial]:
        """Trials with these ordinals, some of which wait at marks if there are any."""
        prepared, _ = await self.bundle.prepared()
        (pattern,) = prepared.plan.trials()
        address = marks.address if marks else ""
        return [trial_like(pattern, one, address if waiting(one) else "") for one in ordinals]

    async def all_of(self, results: Results, when: str = "") -> list[TrialResult]:
        """The results to their end; `when` says in a message what happens meanwhile."""

        async def read() -> list[TrialResult]:
            return [one async for one in results]

        return await answered(f"{when}iterating Results", self.patience_s, read)

    async def close(self, results: Results) -> None:
        """Free what the results hold."""
        await answered("Results.aclose", self.patience_s, results.aclose)

    async def until(
        self, condition: str, holds: Callable[[], bool], *, within_s: float | None = None, pause_s: float = 0.01
    ) -> None:
        """Wait for something that must happen."""
        limit_s = self.patience_s if within_s is None else within_s
        try:
            async with asyncio.timeout(limit_s):
                while not holds():
                    await asyncio.sleep(pause_s)
        except TimeoutError:
            raise AssertionError(f"{condition} must happen, but did not within {limit_s:g} s") from None


def trial_like(pattern: Trial, ordinal: int, address: str = "") -> Trial:
    """A trial of the contract, which waits at an address if it has one."""
    waits_at = f"{address} {ordinal}" if address else None
    case = pattern.case.model_copy(update={"id": f"case-{ordinal}", "input": waits_at})
    return pattern.model_copy(update={"trial_id": f"{ordinal:032x}", "ordinal": ordinal, "case": case})


def session_like(pattern: Trial, ordinal: int, session: str, grading: str) -> Trial:
    """A paid session that tells the one address when it begins, and waits at the other when it is graded."""
    trial = trial_like(pattern, ordinal)
    case = trial.case.model_copy(update={"prompt": f"{session} {grading} {ordinal}"})
    return trial.model_copy(update={"case": case})


async def each(trials: Iterable[Trial], drawn: list[int] | None = None) -> AsyncIterator[Trial]:
    """Yield them as the kernel does, and note which were drawn."""
    for trial in trials:
        if drawn is not None:
            drawn.append(trial.ordinal)
            await asyncio.sleep(0)  # so that who draws without end is found out by the clock
        yield trial


def require_all_passed(results: Iterable[TrialResult], count: int, where: str) -> None:
    """Every one of that many trials has one result, and passed."""
    in_order = sorted(results, key=lambda one: one.ordinal)
    came = [one.ordinal for one in in_order]
    require(came == list(range(count)), f"{where}, every trial must give one result, but there came {shown(came)}")
    bad = [one for one in in_order if one.verdict is not Verdict.PASS]
    why = [one.execution.failure and one.execution.failure.message for one in bad]
    require(not bad, f"{where}, every trial must be made in the end, but {len(bad)} were not: {shown(why)}")
