"""The executions of a run that workers have left at the scheduler, in the process that goes on with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from distributed import Client

from skillgauge.api import KeptExecution, PortableRunTrial, Trial, get_logger

from .connecting import SILENCE_S, scheduler_of
from .depot import Depot, RemoteDepot, depot_of
from .station import end_earlier

log = get_logger(__name__)

Ask = Callable[[Coroutine[Any, Any, Any]], Awaitable[Any]]
"""Awaits something that runs in the cluster's thread."""


class Recovery:
    """Hands what was left to the run, each execution before its trial is attempted.

    Args:
        run: takes them.
    """

    def __init__(self, run: PortableRunTrial) -> None:
        self._run = run
        self.run_id = run.run_id
        self._client: Client | None = None
        self._trials: set[str] = set()

    async def look(self, client: Client) -> bool:
        """End what earlier processes of the run have under way, and see what was left; in the cluster's thread.

        Returns:
            True if workers can leave executions at the scheduler.
        """
        # Else a session that is under way would be made a second time, and come to its end for nobody.
        with suppress(OSError, TimeoutError):
            ending = client.run(end_earlier, self.run_id, on_error="return")
            await asyncio.wait_for(ending, SILENCE_S)
        try:
            await client.register_plugin(Depot())
            self._trials.update(await depot_of(scheduler_of(client)).trials(run=self.run_id))
        except Exception as error:  # noqa: BLE001 - a run needs none as long as its process lives
            log.warning("depot.none", reason=f"{type(error).__name__}: {error}")
            return False
        self._client = client
        return True

    async def hand_in(self, trial: Trial, ask: Ask) -> None:
        """Have the run keep what came to its end when an earlier process of it was gone.

        Args:
            trial: just drawn.
            ask: awaits in the cluster's thread.
        """
        if trial.trial_id in self._trials:
            self._trials.discard(trial.trial_id)
            await self.rescue(trial, ask)

    async def rescue(self, trial: Trial, ask: Ask) -> None:
        """Have the run keep what a worker has left that died before this process had it."""
        if self._client is None:
            return
        with suppress(EOFError):  # the cluster is lost, which ends the run
            if content := await ask(self._content(trial.trial_id)):
                execution = await asyncio.to_thread(KeptExecution.model_validate_json, content)
                kept = await self._run.kept(trial)
                if kept is None or kept.started_at < execution.started_at:
                    log.info("execution.recovered", trial_id=trial.trial_id, case=trial.case.id)
                    await self._run.keep(execution)
                await ask(self._drop(trial.trial_id))

    async def _content(self, trial_id: str) -> bytes | None:
        with suppress(Exception):  # then it is executed again
            return await self._depot.content(run=self.run_id, trial=trial_id)
        return None

    async def _drop(self, trial_id: str) -> None:
        with suppress(Exception):  # it goes when it has waited for too long
            await self._depot.drop(run=self.run_id, trial=trial_id)

    @property
    def _depot(self) -> RemoteDepot:
        assert self._client is not None  # it was looked at
        return depot_of(scheduler_of(self._client))
