"""Stores at a location, and their calls with the patience of the contract."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from skillgauge.api import PlanHead, ResultOrder, RunLog, RunQuery, Store, TrialResult
from skillgauge.api.report import RunInfo, RunState, RunView

from .. import samples
from ..clauses import answered, called, require, shown
from ..shapes import require_shape
from .crashes import MakeStore


@dataclass(frozen=True)
class Place:
    """A location, and how to work there."""

    make: MakeStore
    location: str
    patience_s: float

    @asynccontextmanager
    async def store(self) -> AsyncIterator[Store]:
        """A store that is closed at the end."""
        store = called("making a store", self.make, {"location": self.location})
        yield store
        await answered("Store.close", self.patience_s, store.close)

    async def begin(self, store: Store, head: PlanHead, *, fresh: bool = False) -> RunLog:
        """Begin or resume a run."""
        log: RunLog = await answered("Store.begin", self.patience_s, lambda: store.begin(head, fresh=fresh))
        require_shape(log, RunLog)
        running = isinstance(log.info, RunInfo) and log.info.state is RunState.RUNNING and log.info.run_id
        require(running, f"RunLog.info must have a run id and be running, not {shown(log.info)}")
        return log

    async def commit(self, log: RunLog, results: Sequence[TrialResult], *, paid: bool = False) -> None:
        """Claim and commit results."""
        await answered("RunLog.claim", self.patience_s, log.claim, [samples.trial(one.ordinal) for one in results])
        await answered("RunLog.commit", self.patience_s, lambda: log.commit(results, paid=paid))

    async def finish(self, log: RunLog, state: RunState = RunState.FINISHED, total: int | None = 1) -> RunInfo:
        """End a run."""
        summary = None if total is None else samples.summary(total)
        return await answered("RunLog.finish", self.patience_s, log.finish, state, summary)

    async def read(self, log: RunLog, order: ResultOrder = ResultOrder.PLAN) -> list[TrialResult]:
        """Results of a run, read in another thread as the kernel does."""
        call = f"RunLog.results in {order} order"
        return await answered(call, self.patience_s, asyncio.to_thread, lambda: list(log.results(order)))

    async def scan(self, store: Store, query: RunQuery) -> list[RunView]:
        """Runs that match."""
        call = f"Store.scan of {query!r}"
        return await answered(call, self.patience_s, asyncio.to_thread, lambda: list(store.scan(query)))
