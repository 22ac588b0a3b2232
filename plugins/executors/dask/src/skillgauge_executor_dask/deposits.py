"""The executions that a station leaves at the scheduler until the run says that it has kept them."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

from distributed import Worker

from skillgauge.api import get_logger
from skillgauge_workers import Frame, Kind, unpacked

from .depot import depot_of

log = get_logger(__name__)

_ANSWERS = (Kind.RESULT, Kind.FAILED, Kind.CANCELLED)


class Deposits:
    """Follows the frames between a station and its run.

    Args:
        worker: whose scheduler has the depot.
        run_id: of the run.
    """

    def __init__(self, worker: Worker, run_id: str) -> None:
        self._depot = depot_of(worker.scheduler)
        self._run_id = run_id
        self._trials: dict[int, str] = {}
        """Trials of attempts under way, by the numbers of these."""
        self._leaving: dict[int, tuple[str, asyncio.Task[None]]] = {}
        """Trials whose executions the run has not kept yet, by the same."""
        self._dropping: set[asyncio.Task[None]] = set()

    def goes(self, content: bytes) -> None:
        """Take note of frames to the process that makes the attempts."""
        for frame in unpacked(content):
            if frame.kind is Kind.ATTEMPT:
                self._trials[frame.number] = json.loads(frame.content)["trial_id"]
            elif frame.kind is Kind.SAFE and (deposit := self._leaving.pop(frame.number, None)):
                dropping = asyncio.create_task(self._drop(*deposit))
                self._dropping.add(dropping)
                dropping.add_done_callback(self._dropping.discard)

    def comes(self, frame: Frame) -> None:
        """Take note of a frame of that process."""
        if frame.kind is Kind.KEEP:
            trial_id = self._trials[frame.number]
            self._leaving[frame.number] = trial_id, asyncio.create_task(self._leave(trial_id, frame.content))
        elif frame.kind in _ANSWERS:
            self._trials.pop(frame.number, None)

    async def settle(self, within_s: float) -> None:
        """Wait until everything is where it belongs, or cannot be brought there in time."""
        if tasks := [*(leaving for _, leaving in self._leaving.values()), *self._dropping]:
            await asyncio.wait(tasks, timeout=within_s)

    async def _leave(self, trial_id: str, content: bytes) -> None:
        try:
            await self._depot.leave(run=self._run_id, trial=trial_id, content=content)
        except Exception as error:  # noqa: BLE001 - the run has the frame as well, if it lives
            log.warning("execution.not-left", trial_id=trial_id, reason=f"{type(error).__name__}: {error}")

    async def _drop(self, trial_id: str, leaving: asyncio.Task[None]) -> None:
        await leaving
        with suppress(Exception):  # it goes when it has waited for too long
            await self._depot.drop(run=self._run_id, trial=trial_id)
