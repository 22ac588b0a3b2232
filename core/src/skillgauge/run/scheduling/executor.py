"""The scheduler of this process: how many trials are under way at once, and how they are stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Self, cast

from ...contract.executors import Results, RunTrial
from ...types.results.trials import TrialResult
from ...types.trial import Trial

_AHEAD = 256
"""Results that may wait for the ledger before the workers do."""


class _Feed:
    """Lets several workers draw from one iterator.

    A lock would make the workers take turns, one event-loop round per trial; here they only wait while the
    iterator really waits, and then all go on at once.
    """

    def __init__(self, trials: AsyncIterator[Trial]) -> None:
        self._trials = trials
        self._drawing = False
        self._drawn = asyncio.Event()

    async def next(self) -> Trial | None:
        while self._drawing:
            self._drawn.clear()
            await self._drawn.wait()
        self._drawing = True
        try:
            return await anext(self._trials, None)
        finally:
            self._drawing = False
            self._drawn.set()


class LocalExecutor:
    """Runs trials in this process, a bounded number at a time.

    With a concurrency of 1 trials run strictly one after another, in plan order.
    """

    def __init__(self, concurrency: int) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self._concurrency = concurrency

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> LocalResults:
        """See `Executor.run`."""
        return LocalResults(trials, run_trial, self._concurrency)


class LocalResults:
    """The results of a run in this process, as they come."""

    def __init__(self, trials: AsyncIterator[Trial], run_trial: RunTrial, concurrency: int) -> None:
        self._feed = _Feed(trials)
        self._run_trial = run_trial
        self._finished: asyncio.Queue[TrialResult | None] = asyncio.Queue(concurrency + _AHEAD)
        self._at_work = concurrency
        self._workers: list[asyncio.Task[None]] = []
        self._busy: set[asyncio.Task[None]] = set()
        self._stopped = False
        self._cut_short = False
        self._error: Exception | None = None
        self.complete = False
        """See `Results.complete`."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TrialResult:
        if not self._workers:
            self._workers = [asyncio.create_task(self._work()) for _ in range(self._at_work)]
        while self._at_work:
            if self._error is not None and self._finished.empty():
                raise self._error
            item = await self._finished.get()
            if item is not None:
                return item
            self._at_work -= 1
        if self._error is not None:
            raise self._error
        raise StopAsyncIteration

    def stop(self) -> None:
        """See `Results.stop`."""
        self._stopped = True
        for worker in self._busy:
            worker.cancel()

    async def aclose(self) -> None:
        """See `Results.aclose`."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def _work(self) -> None:
        try:
            while not self._stopped:
                trial = await self._feed.next()
                if trial is None:
                    self.complete = not self._cut_short
                    break
                if self._stopped or (result := await self._run(trial)) is None:
                    self._cut_short, self.complete = True, False
                    break
                await self._finished.put(result)
        except Exception as error:  # noqa: BLE001 - handed to whoever reads the results, and raised there
            self._error = self._error or error
            self._cut_short, self.complete = True, False
        # A full queue has items in it, so whoever reads will look again and see the error.
        if self._error is None or not self._finished.full():
            await self._finished.put(None)

    async def _run(self, trial: Trial) -> TrialResult | None:
        """Run a trial; `None` if a stop cut it off."""
        worker = cast("asyncio.Task[None]", asyncio.current_task())
        self._busy.add(worker)
        try:
            return await self._run_trial(trial)
        except asyncio.CancelledError:
            if self._stopped and worker.uncancel() == 0:
                return None
            raise
        finally:
            self._busy.discard(worker)


async def run_all(results: Results, record: Callable[[TrialResult], Awaitable[None]], stop: asyncio.Event) -> bool:
    """Record results as they come, until all are there or a stop is asked for.

    Returns:
        True if nothing was cut short; False if it was stopped: what was under way has then been cancelled, and what
        had finished is recorded.
    """

    async def watch() -> None:
        await stop.wait()
        results.stop()

    watcher = asyncio.create_task(watch())
    try:
        async with aclosing(results):
            async for result in results:
                await record(result)
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
    return results.complete
