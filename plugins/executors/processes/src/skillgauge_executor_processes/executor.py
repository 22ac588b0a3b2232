"""Trials scheduled in this process, and attempted in several others."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Self, cast

from skillgauge.api import PluginError, PortableRunTrial, Problem, Results, RunTrial, Trial, TrialResult
from skillgauge.api.run import LocalExecutor

from .options import ProcessesOptions
from .pool import Pool


class ProcessesExecutor:
    """Runs trials in worker processes on this machine."""

    def __init__(self, options: ProcessesOptions) -> None:
        self._workers = options.workers or os.cpu_count() or 1

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
        """See `Executor.run`.

        Raises:
            PluginError: the run was not made from options, so that no other process can prepare it.
        """
        if not getattr(run_trial, "recipe", b""):
            message = "executor 'processes' needs a run that other processes can prepare, and this one has no recipe"
            raise PluginError(Problem("executor.no-recipe", message, hint="Leave out --executor."))
        portable = cast("PortableRunTrial", run_trial)
        concurrency = portable.concurrency
        pool = Pool(portable, min(self._workers, concurrency))
        scheduled = LocalExecutor(concurrency).run(trials, portable.elsewhere(pool.attempt))
        return _Results(scheduled, pool)


class _Results:
    """The scheduler's results, with workers that live as long."""

    complete = False

    def __init__(self, results: Results, pool: Pool) -> None:
        self._results = results
        self._iterator = aiter(results)
        self._pool = pool
        self._opening: asyncio.Task[None] | None = None
        self._stopped = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TrialResult:
        if self._opening is None and not self._stopped:
            self._opening = asyncio.create_task(self._pool.open())
        if self._opening is not None and not self._stopped:
            if not self._opening.done():
                await asyncio.wait({self._opening})  # tells its end by a stop from our own cancellation
            if not self._opening.cancelled():
                self._opening.result()
        try:
            return await anext(self._iterator)
        except StopAsyncIteration:
            self.complete = self._results.complete
            raise

    def stop(self) -> None:
        """See `Results.stop`."""
        self._stopped = True
        if self._opening is not None:
            self._opening.cancel()
        self._results.stop()

    async def aclose(self) -> None:
        """See `Results.aclose`."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        try:
            await self._results.aclose()
        finally:
            await self._pool.close()
