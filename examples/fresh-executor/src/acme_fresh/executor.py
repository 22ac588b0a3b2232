"""The kernel's scheduler, with each attempt made by a process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

from skillgauge.api import PluginError, PortableRunTrial, Problem, Results, RunTrial, Trial, TrialResult
from skillgauge.api.run import LocalExecutor

from .jobs import Jobs
from .options import FreshOptions


class FreshExecutor:
    """Runs as many processes as the run has trials under way."""

    def __init__(self, options: FreshOptions) -> None:
        self._trials = options.trials

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
        """Run every trial once: scheduled here, with events, retries, budget and store, attempted elsewhere.

        Raises:
            PluginError: the run was not made from options, so that no other process can prepare it.
        """
        if not getattr(run_trial, "recipe", b""):
            message = "executor 'acme-fresh' needs a run that other processes can prepare, and this one has no recipe"
            raise PluginError(Problem("executor.no-recipe", message, hint="Leave out --executor."))
        portable = cast("PortableRunTrial", run_trial)
        jobs = Jobs(portable.recipe, portable, self._trials)
        scheduled = LocalExecutor(portable.concurrency).run(trials, portable.elsewhere(jobs.attempt))
        return _Results(scheduled, jobs)


class _Results:
    """Those of the scheduler, with processes that end with them."""

    def __init__(self, results: Results, jobs: Jobs) -> None:
        self._results = results
        self._jobs = jobs

    @property
    def complete(self) -> bool:
        """Whether every trial gave a result."""
        return self._results.complete

    def __aiter__(self) -> AsyncIterator[TrialResult]:
        return aiter(self._results)

    def stop(self) -> None:
        """Start no more trials and cancel those under way."""
        self._results.stop()

    async def aclose(self) -> None:
        """Cancel what is under way, wait until it has stopped, and end every process."""
        try:
            await self._results.aclose()
        finally:
            await self._jobs.close()
