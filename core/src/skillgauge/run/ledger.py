"""Claim attempts before they start, and let results count only once they are written.

The ledger stands between the executor and a store. It batches: paid trials are claimed singly and their results written
at once, together with those that came during the write before; cheap ones go in groups that are bounded in number and
in the time a result may wait.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from itertools import takewhile
from typing import Protocol, runtime_checkable

from ..contract.providers import Clean
from ..contract.stores import RunLog
from ..errors import StoreError
from ..types.kept import KeptExecution
from ..types.results.trials import GivenUp, TrialResult, Unfinished
from ..types.trial import CaseHead, Trial
from .keeping.sessions import with_earlier_session, with_session
from .keeping.shelf import Shelf

BATCH = 200
"""Most results or claims of one transaction."""
MAX_WAIT_S = 0.05
"""Longest time that a finished result waits to be written."""


@runtime_checkable
class Informed(Protocol):
    """A log that knows which trials are done without a look into the store, so that they need no claim."""

    def is_done(self, trial: Trial) -> bool:
        """Tell whether a trial has a result that counts."""


class Ledger:
    """Feeds an executor with claimed trials and writes what comes back.

    Args:
        log: the store's ledger of this run.
        concurrency: how many trials may be under way; fewer than this are never claimed at once.
        on_commit: called in order for each result after it was written.
        clean: takes secrets out of what is kept of a case, and of what a trial under way has used.
    """

    def __init__(
        self,
        log: RunLog,
        *,
        concurrency: int,
        on_commit: Callable[[TrialResult], None] | None = None,
        clean: Clean | None = None,
    ) -> None:
        self._log = log
        self._is_done = log.is_done if isinstance(log, Informed) else lambda _trial: False
        self.run_id = log.info.run_id
        self._clean = clean
        self._concurrency = concurrency
        self._on_commit = on_commit
        self._buffer: list[tuple[TrialResult, bool]] = []
        """Results that wait, each with whether it was paid for."""
        self._written = 0
        """Results that have left it."""
        self._writing = asyncio.Lock()
        self._timer: asyncio.Task[None] | None = None
        self._broken: StoreError | None = None
        self._finish_times: deque[float] = deque(maxlen=BATCH)
        self.has_ended = False
        """Whether a trial was refused, so that none is handed out any more."""
        self.earlier: dict[str, int] = {}
        """Claims before this one, of trials that are under way and had some."""
        self._cut_off: dict[str, tuple[GivenUp, ...]] = {}
        """Attempts of these claims that used something, by trial."""
        self._spent: dict[str, Unfinished] = {}
        """What trials under way have used, by trial, as far as it was not written since."""
        self._latest: dict[str, Unfinished] = {}
        """The same, written or not."""
        self._shelf = Shelf(log)
        self._journal: asyncio.Task[None] | None = None
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
            claimed = await self._log.claim(chunk, self._cases(chunk))
            self.already_done += len(claimed.done)
            for trial in chunk:
                if trial.trial_id in claimed.done:
                    continue
                if earlier := claimed.attempts.get(trial.trial_id, 1) - 1:
                    self.earlier[trial.trial_id] = earlier
                    self.interrupted_attempts += earlier
                if cut_off := claimed.cut_off.get(trial.trial_id):
                    self._cut_off[trial.trial_id] = cut_off
                self.under_way += 1
                yield trial

    async def _take(self, source: Iterator[Trial], admit: Callable[[Trial], Awaitable[bool]] | None) -> list[Trial]:
        """Claim about as many as finish while a batch waits: a crash then leaves few claims without a start."""
        if self.has_ended:
            return []
        now = time.monotonic()
        recent = sum(1 for finished in self._finish_times if now - finished <= MAX_WAIT_S)
        size = max(self._concurrency, min(recent, BATCH))
        chunk: list[Trial] = []
        for trial in source:
            if self._is_done(trial):
                self.already_done += 1
                if self.already_done % BATCH == 0:
                    await asyncio.sleep(0)  # there may be any number of them
                continue
            if trial.paid and admit is not None and not await admit(trial):
                self.has_ended = True
                break
            chunk.append(trial)
            if trial.paid or len(chunk) >= size:
                break
        return chunk

    def _cases(self, trials: Iterable[Trial]) -> list[CaseHead]:
        """Of the cases that begin here: repeats are outermost in a plan, so that the first of each comes first."""
        first = {(trial.suite_id, trial.case_index): trial for trial in trials if trial.repeat == 1}
        heads = list(map(CaseHead.of, first.values()))
        if self._clean is None:
            return heads
        return [self._clean(head) for head in heads]

    async def record(self, result: TrialResult, *, paid: bool) -> None:
        """Take a result; it is on its way to the store when this returns, and written if it was paid for."""
        self._finish_times.append(time.monotonic())
        self.under_way -= 1
        result = self.whole(result)
        if self._spent:
            self._spent.pop(result.trial_id, None)
        self._buffer.append((result, paid))
        if self._broken:
            raise self._broken
        if paid or len(self._buffer) >= BATCH:
            await self.flush()
        elif self._timer is None:
            self._timer = asyncio.create_task(self._flush_later())

    def whole(self, result: TrialResult) -> TrialResult:
        """The result with the attempts of earlier claims, and with nothing in it twice; again: the result."""
        earlier = self.earlier.pop(result.trial_id, 0)
        if self._latest:
            self._latest.pop(result.trial_id, None)
        if not earlier and not self._shelf.knows(result.trial_id):
            return result
        given_up = self._shelf.once(result, (*self._cut_off.pop(result.trial_id, ()), *result.given_up))
        return result.model_copy(update={"attempts": result.attempts + earlier, "given_up": given_up})

    async def keep(self, kept: KeptExecution) -> None:
        """See `Keeper.keep`. What it has used is stored before it, so that it counts from then on.

        A store that cannot keep it ends the run with the next result, and no attempt.
        """
        try:
            attempt = await self._spend_session(kept)
            await self._shelf.keep(kept.model_copy(update={"attempt": attempt}))
        except StoreError as error:
            self._broken = error

    async def _spend_session(self, kept: KeptExecution) -> int:
        """Store the usage of an execution; return the place of its attempt among all of its trial."""
        trial_id = kept.trial_id
        cut_off, latest = self._cut_off.get(trial_id, ()), self._latest.get(trial_id)
        earlier = None
        if cut_off and latest is None:  # an earlier process has begun it
            earlier = await asyncio.to_thread(lambda: with_earlier_session(kept, self._log.unfinished()))
        if earlier:
            attempt, unfinished = earlier
            self._cut_off[trial_id] = (*cut_off[:attempt], unfinished.attempts[-1], *cut_off[attempt + 1 :])
        else:
            unfinished = self._latest[trial_id] = with_session(kept, latest, self.earlier.get(trial_id, 0) + 1)
            attempt = len(cut_off) + len(unfinished.attempts) - 1
            self._spent.pop(trial_id, None)
        await self._store_spent([unfinished])
        return attempt

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """See `Keeper.kept`; only of trials that were claimed before is the store asked."""
        if trial.trial_id not in self.earlier and not self._shelf.knows(trial.trial_id):
            return None
        try:
            return await self._shelf.kept(trial)
        except StoreError as error:
            self._broken = error
            return None

    def spent(self, trial: Trial, attempts: tuple[GivenUp, ...], last_step: str = "") -> None:
        """Take what a trial under way has used since it was claimed; called in the thread of the event loop.

        What is paid for is on its way to the store when this returns, the rest is written if the trial has no result
        at the end. While a write is under way further news are gathered, so that there is never more than one.
        """
        claim = self.earlier.get(trial.trial_id, 0) + 1
        unfinished = Unfinished(
            trial_id=trial.trial_id, ordinal=trial.ordinal, claim=claim, attempts=attempts, last_step=last_step
        )
        self._spent[trial.trial_id] = self._latest[trial.trial_id] = unfinished
        if trial.paid and self._journal is None:
            self._journal = asyncio.create_task(self._write_spent())

    async def _write_spent(self) -> None:
        spent: dict[str, Unfinished] = {}
        try:
            while self._spent:
                spent, self._spent = self._spent, {}
                await self._store_spent(spent.values())
                await asyncio.sleep(MAX_WAIT_S)
        except StoreError as error:
            self._spent = {**spent, **self._spent}
            self._broken = error  # raised by the next `record`, or by `close`, which tries again
        finally:
            self._journal = None

    async def _store_spent(self, spent: Iterable[Unfinished]) -> None:
        """Store what trials have used; only the latest of many reports is looked through for secrets."""
        await self._log.spend(tuple(map(self._clean, spent) if self._clean else spent))

    async def _flush_later(self) -> None:
        await asyncio.sleep(MAX_WAIT_S)
        self._timer = None
        try:
            await self.flush()
        except StoreError as error:
            self._broken = error  # raised by the next `record` or `close`, which somebody awaits

    async def flush(self) -> None:
        """Write everything that has come so far. Raises `StoreError` if the store cannot.

        What comes meanwhile is left to the next call, so that results whose writes wait for each other go together.
        """
        count = self._written + len(self._buffer)
        async with self._writing:
            while self._written < count:
                batch, paid = self._next_batch()
                await self._log.commit(batch, paid=paid)
                del self._buffer[: len(batch)]
                self._written += len(batch)
                if self._on_commit:
                    for result in batch:
                        self._on_commit(result)

    def _next_batch(self) -> tuple[list[TrialResult], bool]:
        """The first results that wait, as many as are written with the same care."""
        paid = self._buffer[0][1]
        return [result for result, _ in takewhile(lambda item: item[1] == paid, self._buffer[:BATCH])], paid

    async def close(self) -> None:
        """Write the rest and stop the timer; raises what the timer's last write raised."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            await asyncio.gather(timer, return_exceptions=True)
        if self._journal is not None:
            await self._journal
        await self.flush()
        if self._spent:
            await self._store_spent(self._spent.values())
