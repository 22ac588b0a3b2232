"""The kernel's scheduler, with each attempt made by a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Self, cast

from skillgauge.api import (
    PluginError,
    PortableRunTrial,
    Problem,
    Results,
    RunTrial,
    Trial,
    TrialResult,
)
from skillgauge.api.run import LocalExecutor
from skillgauge_run_content import ContentOfRun

from .options import QueueOptions
from .queue import Queue


class QueueExecutor:
    """Runs trials in this process, and has their attempts made by workers."""

    def __init__(self, options: QueueOptions) -> None:
        self.queue = Queue(options)

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
        """Run every trial once: events, retries, budget and store stay here.

        Raises:
            PluginError: the run was not made from options, so no worker can prepare it.
        """
        if not getattr(run_trial, "recipe", b""):
            message = "executor 'acme-queue' needs a run with a recipe for its workers"
            hint = "Leave out --executor."
            raise PluginError(Problem("executor.no-recipe", message, hint=hint))
        portable = cast("PortableRunTrial", run_trial)
        self.queue.recipe, self.queue.spent = portable.recipe, portable.spent
        self.queue.keeper = portable
        self.queue.files = ContentOfRun(portable.files())
        attempts = portable.elsewhere(self.queue.attempt)
        return _Results(LocalExecutor(portable.concurrency).run(trials, attempts), self.queue)


class _Results:
    """Those of the scheduler, with a queue that ends with them."""

    def __init__(self, results: Results, queue: Queue) -> None:
        self._results = results
        self._iterator = aiter(results)
        self._queue = queue

    @property
    def complete(self) -> bool:
        """True if every trial gave a result."""
        return self._results.complete

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TrialResult:
        following = asyncio.ensure_future(anext(self._iterator))
        trouble = asyncio.ensure_future(self._queue.has_trouble.wait())
        try:
            await asyncio.wait({following, trouble}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                raise self._queue.trouble()
            return await following
        finally:
            following.cancel()
            trouble.cancel()

    def stop(self) -> None:
        """Start no more trials and cancel those under way."""
        self._results.stop()

    async def aclose(self) -> None:
        """Cancel what is under way, wait until it has stopped, and send workers away."""
        try:
            await self._results.aclose()
        finally:
            await self._queue.close()
