"""Claim attempts before they start, and let results count only once they are written.

The ledger stands between the executor and a store. It batches: paid attempts go singly, cheap ones in groups that
are bounded in number and in the time a result may wait. Without a store plugin `MemoryStore` keeps the run in this
process, and says that nothing can be resumed.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from uuid import uuid4

from ..contract.stores import Claimed, ResultOrder, RunLog, RunQuery
from ..errors import StoreError
from ..types.result import RunInfo, RunState, RunView, Summary, TrialResult
from ..types.trial import PlanHead, Trial

BATCH = 200
"""Most results or claims of one transaction."""
MAX_WAIT_S = 0.05
"""Longest time that a finished result waits to be written."""


class Ledger:
    """Feeds an executor with claimed trials and writes what comes back.

    Args:
        log: the store's ledger of this run.
        concurrency: how many trials may be under way; fewer than this are never claimed at once.
        on_commit: called in order for each result after it was written.
    """

    def __init__(
        self, log: RunLog, *, concurrency: int, on_commit: Callable[[TrialResult], None] | None = None
    ) -> None:
        self._log = log
        self._concurrency = concurrency
        self._on_commit = on_commit
        self._buffer: list[tuple[TrialResult, bool]] = []
        """Results that wait, each with whether it was paid for."""
        self._writing = asyncio.Lock()
        self._timer: asyncio.Task[None] | None = None
        self._broken: StoreError | None = None
        self._finish_times: deque[float] = deque(maxlen=BATCH)
        self._ended = False
        self.attempts: dict[str, int] = {}
        """Claims of each trial that is under way, this one included."""
        self.already_done = 0
        """Trials of this run that had a committed result before it was resumed."""
        self.interrupted_attempts = 0
        """Attempts that started earlier and left no result."""
        self.under_way = 0
        """Trials that were handed out and have no result yet."""

    async def pending(
        self, trials: Iterable[Trial], admit: Callable[[Trial], Awaitable[bool]] | None = None
    ) -> AsyncIterator[Trial]:
        """The trials that still have to run, each claimed before it is handed out.

        Args:
            trials: all of the plan.
            admit: asked before a paid trial is claimed, since what does not start must not count as begun; the first
                that it refuses ends the iteration.
        """
        source = iter(trials)
        while chunk := await self._take(source, admit):
            claimed = await self._log.claim(chunk)
            self.already_done += len(claimed.done)
            for trial in chunk:
                if trial.trial_id in claimed.done:
                    continue
                attempts = claimed.attempts.get(trial.trial_id, 1)
                self.interrupted_attempts += attempts - 1
                if attempts > 1:
                    self.attempts[trial.trial_id] = attempts
                self.under_way += 1
                yield trial

    async def _take(self, source: Iterator[Trial], admit: Callable[[Trial], Awaitable[bool]] | None) -> list[Trial]:
        """Claim about as many as finish while a batch waits: a crash then leaves few claims without a start."""
        now = time.monotonic()
        recent = sum(1 for finished in self._finish_times if now - finished <= MAX_WAIT_S)
        size = max(self._concurrency, min(recent, BATCH))
        chunk: list[Trial] = []
        for trial in () if self._ended else source:
            if trial.paid and admit is not None and not await admit(trial):
                self._ended = True
                break
            chunk.append(trial)
            if trial.paid or len(chunk) >= size:
                break
        return chunk

    async def record(self, result: TrialResult, *, paid: bool) -> None:
        """Take a result; it is on its way to the store when this returns, and written if it was paid for."""
        self._finish_times.append(time.monotonic())
        self.under_way -= 1
        self.attempts.pop(result.trial_id, None)
        self._buffer.append((result, paid))
        if self._broken:
            raise self._broken
        if paid or len(self._buffer) >= BATCH:
            await self.flush()
        elif self._timer is None:
            self._timer = asyncio.create_task(self._flush_later())

    async def _flush_later(self) -> None:
        await asyncio.sleep(MAX_WAIT_S)
        self._timer = None
        try:
            await self.flush()
        except StoreError as error:
            self._broken = error  # raised by the next `record` or `close`, which somebody awaits

    async def flush(self) -> None:
        """Write everything that waits. Raises `StoreError` if the store cannot."""
        async with self._writing:
            while self._buffer:
                batch, paid = self._next_batch()
                await self._log.commit(batch, paid=paid)
                del self._buffer[: len(batch)]
                if self._on_commit:
                    for result in batch:
                        self._on_commit(result)

    def _next_batch(self) -> tuple[list[TrialResult], bool]:
        """The first results that wait: one that was paid for alone, or as many cheap ones as go together."""
        first, paid = self._buffer[0]
        if paid:
            return [first], True
        return [result for result, _ in takewhile(lambda item: not item[1], self._buffer[:BATCH])], False

    async def close(self) -> None:
        """Write the rest and stop the timer; raises what the timer's last write raised."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            await asyncio.gather(timer, return_exceptions=True)
        await self.flush()


class MemoryLog:
    """A run kept in this process only."""

    def __init__(self, head: PlanHead, info: RunInfo) -> None:
        self.head = head
        self.info = info
        self.summary: Summary | None = None
        self._claims: Counter[str] = Counter()
        self._results: dict[str, TrialResult] = {}

    async def claim(self, trials: Sequence[Trial]) -> Claimed:
        """See `RunLog.claim`."""
        ids = [trial.trial_id for trial in trials]
        done = frozenset(trial_id for trial_id in ids if trial_id in self._results)
        open_ids = [trial_id for trial_id in ids if trial_id not in done]
        self._claims.update(open_ids)
        return Claimed(done=done, attempts={trial_id: self._claims[trial_id] for trial_id in open_ids})

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """See `RunLog.commit`."""
        self._results.update((result.trial_id, result) for result in results)

    def results(self, order: ResultOrder) -> Iterator[TrialResult]:
        """See `RunLog.results`."""
        return iter(sorted(self._results.values(), key=plan_order if order is ResultOrder.PLAN else case_order))

    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        """See `RunLog.finish`."""
        self.summary = summary
        self.info = self.info.model_copy(update={"state": state, "finished_at": time.time()})
        return self.info


def plan_order(result: TrialResult) -> int:
    """Sort key of `ResultOrder.PLAN`."""
    return result.ordinal


def case_order(result: TrialResult) -> tuple[str | int, ...]:
    """Sort key of `ResultOrder.CASE`."""
    return (
        result.suite_id,
        result.target_id or "",
        result.arm,
        result.runner,
        result.model or "",
        result.case_index,
        result.repeat,
    )


class MemoryStore:
    """The store of last resort: nothing outlives the process."""

    durable = False

    def __init__(self) -> None:
        self._logs: list[MemoryLog] = []

    async def begin(self, head: PlanHead, *, fresh: bool) -> MemoryLog:
        """See `Store.begin`; never resumes."""
        started = time.time()
        run_id = f"{datetime.fromtimestamp(started, UTC):%Y%m%dT%H%M%S}{uuid4().hex[:6]}"
        log = MemoryLog(head, RunInfo(run_id=run_id, state=RunState.RUNNING, started_at=started))
        self._logs.append(log)
        return log

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """See `Store.scan`."""
        wanted = [log for log in reversed(self._logs) if _matches(log, query)]
        for log in wanted[: query.limit]:
            summary = log.summary or Summary.empty()
            yield RunView(log.info, log.head, summary, lambda log=log: log.results(ResultOrder.PLAN))  # type: ignore[misc]  # a default binds the loop variable

    async def close(self) -> None:
        """Nothing to free."""


def _matches(log: MemoryLog, query: RunQuery) -> bool:
    suites = [suite for suite in log.head.suites if query.suite_id in (None, suite.id)]
    targets = {target.id for suite in suites for target in suite.targets}
    return (
        (not query.run_ids or log.info.run_id in query.run_ids)
        and (query.suite_id is None or bool(suites))
        and (query.target_id is None or query.target_id in targets)
    )
