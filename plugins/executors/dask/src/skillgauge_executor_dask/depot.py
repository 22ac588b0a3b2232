"""The depot: executions at the scheduler, which the process of their run has not kept yet.

Of a cluster the scheduler alone outlives both the process that runs an evaluation and any worker. A worker leaves each
paid execution here as soon as it has it, and takes it back once the run has kept it. If the run's process is gone, the
one that goes on finds here what came to its end meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol, cast

from distributed import Scheduler, SchedulerPlugin

MOST = 10_000
"""Executions in a depot."""
ROOM = 512 * 2**20
"""Bytes of all of them."""
AGE_S = 3 * 24 * 3600.0
"""How long an execution waits for its run."""
TIDY_S = 600.0
"""Between two looks for those that have waited too long."""
NAME = "skillgauge-depot-1"
"""Of the plugin; a scheduler has one for all runs. The number changes with the meaning of its methods."""

METHODS = ("leave", "trials", "content", "drop")
"""Those of a depot that can be called from elsewhere."""


@dataclass(frozen=True)
class Deposit:
    """An execution that waits."""

    content: bytes
    """As JSON."""
    since: float


class Depot(SchedulerPlugin):
    """Executions by run and trial. The oldest make room for new ones."""

    name = NAME
    idempotent = True

    def __init__(self) -> None:
        self._deposits: dict[tuple[str, str], Deposit] = {}
        self._bytes = 0

    async def start(self, scheduler: Scheduler) -> None:
        """Answer to workers and to the processes of runs."""
        for name in METHODS:
            scheduler.handlers[f"{NAME}-{name}"] = getattr(self, name)
        self._tidying = asyncio.create_task(self._tidy())

    async def close(self) -> None:
        """End with the scheduler."""
        self._tidying.cancel()

    def leave(self, run: str, trial: str, content: bytes) -> None:
        """Take an execution in, in place of an earlier one of its trial."""
        self.drop(run, trial)
        self._deposits[run, trial] = Deposit(content, time.monotonic())
        self._bytes += len(content)
        while len(self._deposits) > MOST or self._bytes > ROOM:
            self.drop(*next(iter(self._deposits)))

    def trials(self, run: str) -> list[str]:
        """Return the trials of a run of which an execution is here."""
        return [trial for of_run, trial in self._deposits if of_run == run]

    def content(self, run: str, trial: str) -> bytes | None:
        """Return the execution of a trial."""
        deposit = self._deposits.get((run, trial))
        return deposit.content if deposit else None

    def drop(self, run: str, trial: str) -> None:
        """Forget the execution of a trial, if there is one."""
        if deposit := self._deposits.pop((run, trial), None):
            self._bytes -= len(deposit.content)

    def drop_old(self) -> None:
        """Forget what has waited for too long."""
        now = time.monotonic()
        for key, deposit in list(self._deposits.items()):
            if now - deposit.since > AGE_S:
                self.drop(*key)

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(TIDY_S)
            self.drop_old()


class RemoteDepot(Protocol):
    """A depot as others reach it."""

    async def leave(self, *, run: str, trial: str, content: bytes) -> None:
        """See `Depot.leave`."""

    async def trials(self, *, run: str) -> Sequence[str]:
        """See `Depot.trials`."""

    async def content(self, *, run: str, trial: str) -> bytes | None:
        """See `Depot.content`."""

    async def drop(self, *, run: str, trial: str) -> None:
        """See `Depot.drop`."""


def depot_of(scheduler: Any) -> RemoteDepot:
    """Return the depot of a scheduler, whose methods raise what is wrong on the way.

    Args:
        scheduler: as a worker or a client has it, with methods that are made up when they are called.
    """
    methods = {name: getattr(scheduler, f"{NAME}-{name}") for name in METHODS}
    return cast("RemoteDepot", SimpleNamespace(**methods))
