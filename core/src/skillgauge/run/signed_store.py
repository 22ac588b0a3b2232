"""A store in front of a store: it signs what is written, and says of what is read whether this user wrote it.

A store that was changed calls trials done that never ran, with results of its own. So a run is resumed only
if every row of it bears this user's signature, and what a run has stored must come back as it was written. Stores keep
signatures as they keep everything else, so this holds for each of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol, cast

from ..contract.stores import (
    Archive,
    BudgetingStore,
    Claimed,
    KeepingLog,
    LimitingStore,
    NotedStore,
    RunLog,
    RunQuery,
    Store,
    TrialNotedStore,
)
from ..errors import Problem, Severity, StoreError
from ..types.arms import GroupKey
from ..types.kept import KeptExecution
from ..types.results.runs import Kept, ResultOrder, RunInfo, RunSource, RunState, RunView
from ..types.results.trials import GivenUp, TrialResult, Unfinished
from ..types.trial import CaseHead, PlanHead, Trial
from .stored_run import CHANGED, NOT_YOURS, Ordinals, RunSigner, StoreKey, opened, rows_of, signed_summary, unsigned

if TYPE_CHECKING:
    from ..types.results.summaries import Summary

_HELD_BYTES = 4 * 1024 * 1024
"""Of results, as they were signed: those of some 4,000 short sessions, which take ten times as much in memory."""
_SHARE_HINT = "Everything is evaluated anew. Machines that share a store need the same key in SKILLGAUGE_STORE_KEY."
_CHANGED_HINT = "Everything is evaluated anew. Find out who else writes to the store, or name another with --store."
_HINTS = {NOT_YOURS: _SHARE_HINT}
"""By why a run is not resumed; `_CHANGED_HINT` for all else."""


class Keys(Protocol):
    """The source of the user's key."""

    def find(self) -> StoreKey | None:
        """The key, if there is one already."""

    def make(self) -> StoreKey:
        """The key; a new one if there is none."""


class SignedStore:
    """See the module.

    Args:
        store: what keeps the runs.
        keys: gives the user's key when it is needed.
        warn: takes what the user should know.
    """

    durable = True

    def __init__(self, store: Store, keys: Keys, warn: Callable[[Problem], None]) -> None:
        self._store = store
        self._keys = keys
        self._warn = warn
        if isinstance(store, NotedStore):  # words of people are not signed; a store that keeps none has no such methods
            self.notes, self.annotate = store.notes, store.annotate
        if isinstance(store, TrialNotedStore):
            self.trial_notes, self.annotate_trial = store.trial_notes, store.annotate_trial
        if isinstance(store, BudgetingStore):
            self.hold = store.hold
        if isinstance(store, LimitingStore):
            self.occupy = store.occupy

    async def begin(self, head: PlanHead, *, fresh: bool) -> SignedLog:
        """See `Store.begin`. A run that this user's key did not sign is not resumed, and the user is warned of it."""
        key = await asyncio.to_thread(self._keys.make)
        signed = head.model_copy(update={"signer": key.name})
        # Asked before there is a run of ours: a store that holds none has nothing to be read.
        foreign = None if fresh else await asyncio.to_thread(self._foreign, head.plan_id, key)
        log = await self._store.begin(signed, fresh=fresh)
        done = Ordinals()
        if log.info.resumed:
            signer = RunSigner(key, log.info.run_id, head.plan_id)
            why = await asyncio.to_thread(_why_not_resumed, log, signer, done)
            if why:
                self._warn(_not_resumed(log.info.run_id, why))
                await log.finish(RunState.INTERRUPTED, None)
                log, done = await self._store.begin(signed, fresh=True), Ordinals()
        elif foreign:
            self._warn(_not_resumed(foreign, NOT_YOURS))
        kind = SignedKeepingLog if isinstance(log, KeepingLog) else SignedLog
        return kind(log, RunSigner(key, log.info.run_id, head.plan_id), head, done)

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """See `Store.scan`."""
        key = self._keys.find()
        return (opened(view, key) for view in self._store.scan(query))

    async def close(self) -> None:
        """See `Store.close`."""
        await self._store.close()

    def _foreign(self, plan_id: str, key: StoreKey) -> str | None:
        """Return the newest unfinished run of a plan that another signer left, unless this user has finished one since.

        What cannot be read there is of no interest: it would not count anyway.
        """
        with suppress(StoreError):
            for view in self._store.scan(RunQuery(plan_id=plan_id)):
                if view.head.plan_id != plan_id or view.run.state is RunState.RUNNING:
                    continue
                if view.head.signer == key.name:
                    return None
                if view.run.state is not RunState.FINISHED:
                    return view.run.run_id
        return None


class SignedArchive(SignedStore):
    """The same in front of a store that also takes in runs: the user who takes one in vouches for it."""

    def __init__(self, store: Store, archive: Archive, keys: Keys, warn: Callable[[Problem], None]) -> None:
        super().__init__(store, keys, warn)
        self._archive = archive

    async def keep(self, view: RunView) -> bool:
        """See `Archive.keep`."""
        key = await asyncio.to_thread(self._keys.make)
        signer = RunSigner(key, view.run.run_id, view.head.plan_id)
        source = _Signing(view.source, signer)
        rows = await asyncio.to_thread(source.digest)
        head = view.head.model_copy(update={"signer": key.name})
        summary = signed_summary(signer, view.summary, view.run, view.head, rows)
        return await self._archive.keep(replace(view, head=head, summary=summary, source=source))


def sign(store: Store, keys: Keys, warn: Callable[[Problem], None]) -> Store:
    """A store behind signatures; one that keeps nothing beyond this process needs none."""
    if not store.durable:
        return store
    if isinstance(store, Archive):
        return SignedArchive(store, store, keys, warn)
    return SignedStore(store, keys, warn)


class SignedLog:
    """The ledger of a run, of which every row is signed.

    Args:
        log: the store's own.
        signer: of the run.
        head: what the run was begun with.
        done: the places in the plan of results that were found to be this user's own.
    """

    def __init__(self, log: RunLog, signer: RunSigner, head: PlanHead, done: Ordinals) -> None:
        self._log = log
        self._signer = signer
        self._head = head
        self._done = done
        self._rows: tuple[int, bytes] | None = None
        """How many results were read to the end in order, and the digest over their signatures."""
        self._read: Kept | None = None
        """All results, once they were read to the end in order, if they are few: reports read them several times."""

    @property
    def info(self) -> RunInfo:
        """See `RunLog.info`."""
        return self._log.info

    def is_done(self, trial: Trial) -> bool:
        """See `ledger.Informed`."""
        return trial.ordinal in self._done

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        """See `RunLog.claim`."""
        claimed = await self._log.claim(trials, [self._signer.signed(case) for case in cases])
        for trial in trials if claimed.done else ():
            if trial.trial_id in claimed.done and trial.ordinal not in self._done:
                raise self._changed(f"it calls trial {trial.ordinal} done, which this run has not stored")
        if not claimed.cut_off:
            return claimed
        return replace(claimed, cut_off=await asyncio.to_thread(self._cut_off, claimed))

    def _cut_off(self, claimed: Claimed) -> Mapping[str, tuple[GivenUp, ...]]:
        """The attempts of earlier claims, of rows whose signature was looked at."""
        cut_off: dict[str, tuple[GivenUp, ...]] = {}
        for unfinished in self.unfinished():
            trial_id = unfinished.trial_id
            if unfinished.claim < claimed.attempts.get(trial_id, 0):
                cut_off[trial_id] = (*cut_off.get(trial_id, ()), *unfinished.attempts)
        return cut_off

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """See `RunLog.commit`."""
        await self._log.commit([self._signer.signed(result) for result in results], paid=paid)
        self._rows = self._read = None
        for result in results:
            self._done.add(result.ordinal)

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `RunSource.results`.

        Raises:
            StoreError: they are not what was committed.
        """
        if self._read:
            yield from self._read.results(order, group)
            return
        expected, ordinals, rows = len(self._done), Ordinals(), self._signer.rows()
        held: list[TrialResult] = []
        size = 0
        for result in self._log.results(order, group):
            signature, result = result.signature, unsigned(result)
            length = self._signer.signed_bytes(result, signature)
            if not length or not ordinals.add(result.ordinal):
                raise self._changed(f"the result of case {result.case_id!r}, repeat {result.repeat}, is another one")
            rows.update(signature.encode())
            size += length
            if size <= _HELD_BYTES:
                held.append(result)
            else:
                held.clear()  # only all of them can be given to the next reader
            yield result
        if group is None and len(ordinals) < expected:
            raise self._changed(f"of {expected} results {expected - len(ordinals)} are missing")
        if group is None and order is ResultOrder.CASE:
            self._rows = len(ordinals), rows.digest()
            if len(held) == len(self._done):
                self._read = Kept(lambda: sorted(held, key=attrgetter("ordinal")))

    def cases(self) -> Iterator[CaseHead]:
        """See `RunSource.cases`.

        Raises:
            StoreError: they are not what was claimed.
        """
        for case in self._log.cases():
            if not self._signer.signed_by_us(case):
                raise self._changed(f"what it says of case {case.id!r} is not what was stored")
            yield unsigned(case)

    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        """See `RunLog.spend`."""
        await self._log.spend([self._signer.signed(spent) for spent in unfinished])

    def unfinished(self) -> Iterator[Unfinished]:
        """See `RunLog.unfinished`.

        Raises:
            StoreError: they are not what was kept.
        """
        for spent in self._log.unfinished():
            if not self._signer.signed_by_us(spent):
                raise self._changed(f"what trial {spent.ordinal} has used so far is not what was stored")
            yield unsigned(spent)

    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        """See `RunLog.finish`."""
        if summary is not None:
            if self._rows is None or self._rows[0] != len(self._done):
                await asyncio.to_thread(self._read_all)
            rows = self._rows[1] if self._rows else b""
            info = self.info.model_copy(update={"state": state})
            summary = signed_summary(self._signer, summary, info, self._head, rows)
        return await self._log.finish(state, summary)

    def _read_all(self) -> None:
        for _ in self.results(ResultOrder.CASE):
            pass

    def _changed(self, subject: str) -> StoreError:
        message = f"the store does not hold what run {self.info.run_id} has written: {subject}"
        hint = "Something else writes to the store. Move the file away, or name another with --store."
        return StoreError(Problem("store.altered", message, hint=hint))


class SignedKeepingLog(SignedLog):
    """The same in front of a log that also keeps executions which are not graded yet."""

    async def keep(self, kept: KeptExecution) -> None:
        """See `KeepingLog.keep`."""
        log = cast("KeepingLog", self._log)
        await log.keep(await asyncio.to_thread(self._signer.signed, kept))

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """See `KeepingLog.kept`. What this user's key did not sign is as if it was not there."""
        kept = await cast("KeepingLog", self._log).kept(trial)
        if kept is None or not await asyncio.to_thread(self._signer.signed_by_us, kept):
            return None
        return unsigned(kept)


def _why_not_resumed(log: RunLog, signer: RunSigner, ordinals: Ordinals) -> str:
    try:
        if rows_of(log, signer, ordinals) is None or not all(map(signer.signed_by_us, log.unfinished())):
            return CHANGED
        return ""
    except StoreError as error:
        return error.problems[0].message


def _not_resumed(run_id: str, why: str) -> Problem:
    message = f"the unfinished run {run_id} of this plan is not resumed, and nothing of it counts: {why}"
    return Problem("store.not-yours", message, hint=_HINTS.get(why, _CHANGED_HINT), severity=Severity.WARNING)


class _Signing:
    """A run that is taken in, signed while it is read."""

    def __init__(self, source: RunSource, signer: RunSigner) -> None:
        self._source = source
        self._signer = signer

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return map(self._signer.signed, self._source.results(order, group))

    def cases(self) -> Iterator[CaseHead]:
        return map(self._signer.signed, self._source.cases())

    def digest(self) -> bytes:
        """See `RunSigner.rows`."""
        rows = self._signer.rows()
        for result in self.results(ResultOrder.CASE):
            rows.update(result.signature.encode())
        return rows.digest()
