"""Trials scheduled in this process, and attempted by the workers of a dask cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Self, cast

from skillgauge.api import PluginError, PortableRunTrial, Problem, Results, RunTrial, Trial, TrialResult
from skillgauge.api.run import LocalExecutor

from .options import DaskOptions
from .pool import Pool


class DaskExecutor:
    """Runs trials on the workers of a dask cluster."""

    def __init__(self, options: DaskOptions) -> None:
        self._options = options

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
        """See `Executor.run`.

        Raises:
            PluginError: the run was not made from options, so that no other process can prepare it.
        """
        if not getattr(run_trial, "recipe", b""):
            message = "executor 'dask' needs a run that other processes can prepare, and this one has no recipe"
            raise PluginError(Problem("executor.no-recipe", message, hint="Leave out --executor."))
        portable = cast("PortableRunTrial", run_trial)
        pool = Pool(portable, self._options)
        attempted = portable.elsewhere(pool.attempt)

        async def run_drawn(trial: Trial) -> TrialResult:
            try:
                return await attempted(trial)
            finally:
                await pool.finished()

        return _Results(LocalExecutor(portable.concurrency).run(pool.drawn(trials), run_drawn), pool)


class _Results:
    """The scheduler's results, with a connection to the cluster that lives as long."""

    def __init__(self, results: Results, pool: Pool) -> None:
        self._results = results
        self._iterator = aiter(results)
        self._pool = pool
        self._has_begun = False

    @property
    def complete(self) -> bool:
        """See `Results.complete`."""
        return self._results.complete and not self._pool.was_cut_short

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TrialResult:
        if not (self._has_begun or self._pool.is_stopped):
            self._has_begun = True
            self._pool.start()
        following = asyncio.ensure_future(anext(self._iterator))
        trouble = self._pool.trouble
        waited: tuple[asyncio.Future[Any], ...] = (following, trouble)
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                trouble.result()
            return await following
        finally:
            following.cancel()

    def stop(self) -> None:
        """See `Results.stop`."""
        self._pool.stop()
        self._results.stop()

    async def aclose(self) -> None:
        """See `Results.aclose`."""
        try:
            await self._results.aclose()
        finally:
            await self._pool.close()
