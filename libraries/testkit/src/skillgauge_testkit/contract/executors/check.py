"""The contract of executors: every trial once, no faster than results are taken, an end whenever it is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from itertools import count

from skillgauge.api import Executor, Trial, TrialResult, Verdict

from ..clauses import MIDWAY_S, PATIENCE_S, answered, called, require, run, shown
from ..shapes import require_shape
from .admission import AdmissionClauses
from .bench import Bench, Broken, MakeExecutor, each, trial_like
from .bundle import new_bundle
from .dying import first_process_dies
from .marks import LOOPBACK
from .workers import FindWorkers, WorkerClauses


def check_executor(
    make: MakeExecutor, *, workers: FindWorkers | None = None, host: str = LOOPBACK, patience_s: float = PATIENCE_S
) -> None:
    """Check an executor: each trial runs once, wherever that is, and whoever stops it waits for nothing that goes on.

    What it is given is a `PortableRunTrial`, whose recipe other processes can use that have this kit and the suite, an
    empty temporary file, at the same places. Its trials tell over a connection when they begin and end.

    Example::

        def test_executor():
            make = Maker(EXECUTORS, "acme_cluster.plugin")
            check_executor(with_options(make, {"queue": "test"}), workers=AcmeWorkers)

    Args:
        make: makes an executor for a run of some concurrency; one that learns it from `run_trial` ignores it. With
            `workers` it must be possible to pickle it, because a process that uses it is killed; `with_options` makes
            such ones.
        workers: finds the workers of an executor, so that one of them can be killed. Without it the clauses about
            workers, and about the death of the process that runs the evaluation, are left out: for executors that have
            no workers.
        host: address of this machine as workers reach it, to listen at.
        patience_s: how long to wait for what should be immediate.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    require_shape(called("making an executor", make, 1), Executor)
    with new_bundle() as bundle:
        bench = Bench(make, bundle, patience_s, host)
        for clause in (_runs_each_once, _keeps_order, _draws_no_faster, _hands_errors_on, _runs_nothing):
            run(clause(bench))
        for stopped in (True, False):
            run(_ends_midway(bench, stopped=stopped))
        if workers:
            several = WorkerClauses(bench, workers)
            dying = several.one_dies, several.one_dies_grading
            for about in (*dying, several.one_joins, several.one_is_bad, several.one_repeats):
                run(about())
            admission = AdmissionClauses(bench, workers)
            for about in (admission.one_lacks_something, admission.all_lack_something):
                run(about())
            run(first_process_dies(bench))


async def _runs_each_once(bench: Bench) -> None:
    """Sixty trials, four at a time."""
    results, run_trial = await bench.run(4, each(await bench.trials(range(60))))
    results_seen = await bench.all_of(results)
    came = sorted(one.ordinal for one in results_seen)
    require(came == list(range(60)), f"every trial must give one result, but of 60 trials came {shown(came)}")
    begun = sorted(run_trial.begun)
    require(begun == came, f"run_trial must be called once for each trial, but was called for {shown(begun)}")
    bad = [one for one in results_seen if one.verdict is not Verdict.PASS or one.execution.output != one.case_id]
    require(not bad, f"results must be what run_trial gave, but one was {shown(bad[:1])}")
    require(results.complete is True, "Results.complete must be True once every trial has given a result")
    await bench.close(results)


async def _keeps_order(bench: Bench) -> None:
    """With a concurrency of 1 trials run one after another, in the order in which they come."""
    results, run_trial = await bench.run(1, each(await bench.trials(range(12))))
    came = [one.ordinal for one in await bench.all_of(results)]
    for order in (run_trial.begun, came):
        require(
            order == list(range(12)), f"with a concurrency of 1 trials must run in order, but ran as {shown(order)}"
        )
    await bench.close(results)


async def _draws_no_faster(bench: Bench) -> None:
    """Of endless trials results come while nobody has drawn them all, and unread results hold everything up."""
    drawn: list[int] = []
    (pattern,) = await bench.trials([0])
    endless = (trial_like(pattern, ordinal) for ordinal in count())
    results, _ = await bench.run(2, each(endless, drawn))
    iterator = aiter(results)
    first = await answered("the first result of endless trials", bench.patience_s, lambda: anext(iterator))
    require(isinstance(first, TrialResult), f"Results must give TrialResults, not {shown(first)}")
    before = -1

    async def settles() -> None:
        nonlocal before
        while before != len(drawn):
            before = len(drawn)
            await asyncio.sleep(2 * MIDWAY_S)

    await answered("drawing trials while nobody takes results: an end to it", bench.patience_s, settles)
    await bench.close(results)


async def _hands_errors_on(bench: Bench) -> None:
    """An exception of run_trial, or of the trials themselves, is raised where results are read."""

    async def broken() -> AsyncIterator[Trial]:
        for trial in await bench.trials(range(3)):
            yield trial
        raise Broken("the trials are broken")

    good = each(await bench.trials(range(9)))
    for place, trials, broken_at in (("run_trial", good, 3), ("the trials", broken(), None)):
        results, _ = await bench.run(2, trials, broken_at=broken_at)
        error = await answered("iterating Results", bench.patience_s, _error_of, results)
        require(
            isinstance(error, Broken),
            f"an exception of {place} must be raised where results are read, but there was {shown(error)}",
        )
        require(not results.complete, "Results.complete must be False after an exception")
        await bench.close(results)


async def _error_of(results: AsyncIterable[TrialResult]) -> BaseException | None:
    try:
        async for _ in results:
            pass
    except Exception as error:  # noqa: BLE001 - what it is decides
        return error
    return None


async def _runs_nothing(bench: Bench) -> None:
    """Without trials it ends at once; closed, or stopped, before anybody has read, it runs nothing."""
    results, _ = await bench.run(2, each(()))
    require(await bench.all_of(results) == [] and results.complete is True, "no trials must give no results, complete")
    await bench.close(results)
    results, run_trial = await bench.run(2, each(await bench.trials(range(4))))
    called("Results.stop", results.stop)
    results_seen = await bench.all_of(results)
    require(
        not results_seen and not results.complete,
        f"stopped before it began, a run must give nothing, not {shown(results_seen)}",
    )
    require(not run_trial.begun, "stopped before it began, a run must begin no trial")
    await bench.close(results)
    results, run_trial = await bench.run(2, each(await bench.trials(range(4))))
    await bench.close(results)
    require(not run_trial.begun, "a run of which nobody has read a result must begin no trial when it is closed")


async def _ends_midway(bench: Bench, *, stopped: bool) -> None:
    """Two trials give results, the next wait for ever: stopped or closed, it cancels them wherever they run."""
    async with bench.marks() as marks:
        trials = await bench.trials(range(50), marks=marks, waiting=lambda ordinal: ordinal > 1)
        results, run_trial = await bench.run(2, each(trials))
        came: list[int] = []

        async def read() -> None:
            async for one in results:
                came.append(one.ordinal)

        reading = asyncio.create_task(read())

        def begun() -> bool:
            if reading.done():
                reading.result()  # raises what ended it
            return bool(marks.under_way)

        await bench.until("the start of a trial that waits", begun)
        await bench.until("the results of two trials that had finished", lambda: sorted(came) == [0, 1])
        if stopped:
            called("Results.stop", results.stop)
            await answered("iterating Results after a stop", bench.patience_s, lambda: reading)
            begun_by_then = len(run_trial.begun)
            await bench.close(results)
        else:
            await bench.close(results)  # a worker that joins meanwhile may begin a trial
            begun_by_then = len(run_trial.begun)
        reading.cancel()
        await asyncio.wait({reading})
        await asyncio.sleep(MIDWAY_S)  # the end of a connection whose process was killed is heard a moment later
        unfinished = sorted(one.ordinal for one in marks.under_way)
    require(not results.complete, "Results.complete must be False if trials were cut off")
    require(len(run_trial.begun) == begun_by_then, "after its end no further trial must be begun")
    require(
        not unfinished, f"trials under way must be cancelled where they run, and had stopped then, but not {unfinished}"
    )
