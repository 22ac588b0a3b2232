"""The contract of executors: every trial once, no faster than results are taken, an end whenever it is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from skillgauge.api import Executor, Failure, GivenUp, Results, RunTrial, Trial, TrialResult, Verdict
from skillgauge.config.chosen_plugins import ChosenPlugins
from skillgauge.evaluation.elsewhere.recipes import recipe_of
from skillgauge.plan.options import EvalOptions, What
from skillgauge.plan.preparing import prepare
from skillgauge.run.trials import RetryPolicy, TrialRunner

from ..clauses import MIDWAY_S, PATIENCE_S, answered, called, require, run, shown
from ..shapes import require_shape
from . import parts

MakeExecutor = Callable[[int], Executor]
_PLUGINS = ChosenPlugins(only=frozenset(), files=(Path(parts.__file__),))


def check_executor(make: MakeExecutor, *, patience_s: float = PATIENCE_S) -> None:
    """Check an executor: each trial runs once, wherever that is, and whoever stops it waits for nothing that goes on.

    What it is given is a `PortableRunTrial`, whose recipe other processes on this machine can use.

    Example::

        def test_executor():
            make = Maker(EXECUTORS, "acme_cluster.plugin")
            check_executor(lambda concurrency: make({"queue": "test"}))

    Args:
        make: makes an executor for a run of some concurrency; one that learns it from `run_trial` ignores it.
        patience_s: how long to wait for what should be immediate.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    require_shape(called("making an executor", make, 1), Executor)
    with TemporaryDirectory(prefix="skillgauge-contract-") as name:
        folder = Path(name)
        suite = folder / f"suite{parts.SUFFIX}"
        suite.touch()
        trying = _Trying(make, EvalOptions(cwd=Path.cwd(), what=What(paths=(suite,))), folder, patience_s)
        for clause in (_runs_each_once, _keeps_order, _draws_no_faster, _hands_errors_on, _runs_nothing):
            run(clause(trying))
        for stopped in (True, False):
            run(_ends_midway(replace(trying, folder=folder / f"stopped-{stopped}"), stopped=stopped))


@dataclass
class _RunTrial:
    """A `PortableRunTrial` that counts and, if it is told so, raises."""

    runner: TrialRunner
    concurrency: int
    recipe: bytes
    begun: list[int] = field(default_factory=list)
    broken_at: int | None = None

    async def __call__(self, trial: Trial) -> TrialResult:
        self.begun.append(trial.ordinal)
        if trial.ordinal == self.broken_at:
            raise _Broken("run_trial is broken")
        return await self.runner(trial)

    def spent(self, trial_id: str, attempt: GivenUp) -> None:
        """The trials of the contract cost nothing."""

    def elsewhere(self, attempt: Callable[[Trial], Awaitable[TrialResult | Failure]]) -> RunTrial:
        return replace(self, runner=self.runner.elsewhere(attempt))


class _Broken(Exception):  # noqa: N818 - a sign, not an error of anybody
    """The exception that must arrive where results are read."""


@dataclass(frozen=True)
class _Trying:
    """The parts from which a run of trials is made."""

    make: MakeExecutor
    options: EvalOptions
    folder: Path
    patience_s: float

    async def run(
        self, concurrency: int, trials: AsyncIterator[Trial], *, broken_at: int | None = None
    ) -> tuple[Results, _RunTrial]:
        """Results of trials that are run as the kernel runs them."""
        prepared = await prepare(self.options, _PLUGINS.registry())
        runner = TrialRunner(prepared.job.stages, prepared.job.grading, retry=RetryPolicy())
        run_trial = _RunTrial(runner, concurrency, recipe_of(self.options, prepared, _PLUGINS), broken_at=broken_at)
        executor = called("making an executor", self.make, concurrency)
        results = called("Executor.run", executor.run, trials, run_trial)
        require_shape(results, Results)
        return results, run_trial

    async def trials(self, ordinals: Iterable[int], *, waiting: Callable[[int], bool] = lambda _: False) -> list[Trial]:
        """Trials with these ordinals, some of which never answer."""
        (pattern,) = (await prepare(self.options, _PLUGINS.registry())).plan.trials()
        return [self.trial_like(pattern, one, waits=waiting(one)) for one in ordinals]

    def trial_like(self, pattern: Trial, ordinal: int, *, waits: bool = False) -> Trial:
        """One of them."""
        marker = str(self.folder / str(ordinal)) if waits else None
        case = pattern.case.model_copy(update={"id": f"case-{ordinal}", "input": marker})
        return pattern.model_copy(update={"trial_id": f"{ordinal:032x}", "ordinal": ordinal, "case": case})

    async def all_of(self, results: Results) -> list[TrialResult]:
        """The results to their end."""

        async def read() -> list[TrialResult]:
            return [one async for one in results]

        return await answered("iterating Results", self.patience_s, read)

    async def close(self, results: Results) -> None:
        """Free what the results hold."""
        await answered("Results.aclose", self.patience_s, results.aclose)

    async def until(self, condition: str, holds: Callable[[], bool]) -> None:
        """Wait for something that must happen."""
        try:
            async with asyncio.timeout(self.patience_s):
                while not holds():
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"{condition} must happen, but did not within {self.patience_s:g} s") from None


async def _each(trials: Iterable[Trial], drawn: list[int] | None = None) -> AsyncIterator[Trial]:
    for trial in trials:
        if drawn is not None:
            drawn.append(trial.ordinal)
            await asyncio.sleep(0)  # so that who draws without end is found out by the clock
        yield trial


async def _runs_each_once(trying: _Trying) -> None:
    """Sixty trials, four at a time."""
    results, run_trial = await trying.run(4, _each(await trying.trials(range(60))))
    results_seen = await trying.all_of(results)
    came = sorted(one.ordinal for one in results_seen)
    require(came == list(range(60)), f"every trial must give one result, but of 60 trials came {shown(came)}")
    begun = sorted(run_trial.begun)
    require(begun == came, f"run_trial must be called once for each trial, but was called for {shown(begun)}")
    bad = [one for one in results_seen if one.verdict is not Verdict.PASS or one.execution.output != one.case_id]
    require(not bad, f"results must be what run_trial gave, but one was {shown(bad[:1])}")
    require(results.complete is True, "Results.complete must be True once every trial has given a result")
    await trying.close(results)


async def _keeps_order(trying: _Trying) -> None:
    """With a concurrency of 1 trials run one after another, in the order in which they come."""
    results, run_trial = await trying.run(1, _each(await trying.trials(range(12))))
    came = [one.ordinal for one in await trying.all_of(results)]
    for order in (run_trial.begun, came):
        require(
            order == list(range(12)), f"with a concurrency of 1 trials must run in order, but ran as {shown(order)}"
        )
    await trying.close(results)


async def _draws_no_faster(trying: _Trying) -> None:
    """Of endless trials results come while nobody has drawn them all, and unread results hold everything up."""
    drawn: list[int] = []
    (pattern,) = await trying.trials([0])
    endless = (trying.trial_like(pattern, ordinal) for ordinal in count())
    results, _ = await trying.run(2, _each(endless, drawn))
    iterator = aiter(results)
    first = await answered("the first result of endless trials", trying.patience_s, lambda: anext(iterator))
    require(isinstance(first, TrialResult), f"Results must give TrialResults, not {shown(first)}")
    before = -1

    async def settles() -> None:
        nonlocal before
        while before != len(drawn):
            before = len(drawn)
            await asyncio.sleep(2 * MIDWAY_S)

    await answered("drawing trials while nobody takes results: an end to it", trying.patience_s, settles)
    await trying.close(results)


async def _hands_errors_on(trying: _Trying) -> None:
    """An exception of run_trial, or of the trials themselves, is raised where results are read."""

    async def broken() -> AsyncIterator[Trial]:
        for trial in await trying.trials(range(3)):
            yield trial
        raise _Broken("the trials are broken")

    good = _each(await trying.trials(range(9)))
    for place, trials, broken_at in (("run_trial", good, 3), ("the trials", broken(), None)):
        results, _ = await trying.run(2, trials, broken_at=broken_at)
        error = await answered("iterating Results", trying.patience_s, _error_of, results)
        require(
            isinstance(error, _Broken),
            f"an exception of {place} must be raised where results are read, but there was {shown(error)}",
        )
        require(not results.complete, "Results.complete must be False after an exception")
        await trying.close(results)


async def _error_of(results: AsyncIterable[TrialResult]) -> BaseException | None:
    try:
        async for _ in results:
            pass
    except Exception as error:  # noqa: BLE001 - what it is decides
        return error
    return None


async def _runs_nothing(trying: _Trying) -> None:
    """Without trials it ends at once; closed, or stopped, before anybody has read, it runs nothing."""
    results, _ = await trying.run(2, _each(()))
    require(await trying.all_of(results) == [] and results.complete is True, "no trials must give no results, complete")
    await trying.close(results)
    results, run_trial = await trying.run(2, _each(await trying.trials(range(4))))
    called("Results.stop", results.stop)
    results_seen = await trying.all_of(results)
    require(
        not results_seen and not results.complete,
        f"stopped before it began, a run must give nothing, not {shown(results_seen)}",
    )
    require(not run_trial.begun, "stopped before it began, a run must begin no trial")
    await trying.close(results)
    results, run_trial = await trying.run(2, _each(await trying.trials(range(4))))
    await trying.close(results)
    require(not run_trial.begun, "a run of which nobody has read a result must begin no trial when it is closed")


async def _ends_midway(trying: _Trying, *, stopped: bool) -> None:
    """Two trials give results, the next wait for ever: stopped or closed, it cancels them wherever they run."""
    trying.folder.mkdir()
    trials = await trying.trials(range(50), waiting=lambda ordinal: ordinal > 1)
    results, run_trial = await trying.run(2, _each(trials))
    came: list[int] = []

    async def read() -> None:
        async for one in results:
            came.append(one.ordinal)

    reading = asyncio.create_task(read())
    await trying.until("the start of a trial that waits", lambda: any(trying.folder.glob("*.begun")))
    await trying.until("the results of two trials that had finished", lambda: sorted(came) == [0, 1])
    if stopped:
        called("Results.stop", results.stop)
        await answered("iterating Results after a stop", trying.patience_s, lambda: reading)
    begun_by_then = len(run_trial.begun)
    await trying.close(results)
    reading.cancel()
    await asyncio.wait({reading})
    require(not results.complete, "Results.complete must be False if trials were cut off")
    require(len(run_trial.begun) == begun_by_then, "after its end no further trial must be begun")
    marks = {kind: {one.stem for one in trying.folder.glob(f"*.{kind}")} for kind in ("begun", "stopped")}
    unfinished = sorted(marks["begun"] - marks["stopped"])
    require(
        not unfinished, f"trials under way must be cancelled where they run, and had stopped then, but not {unfinished}"
    )
