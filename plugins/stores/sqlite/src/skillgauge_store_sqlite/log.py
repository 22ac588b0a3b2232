"""The ledger of one run."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from skillgauge.api import (
    CaseHead,
    Claimed,
    GivenUp,
    KeptExecution,
    ResultOrder,
    StoreError,
    Trial,
    TrialResult,
    UnderWay,
    Unfinished,
)
from skillgauge.api.report import GroupKey, RunInfo, RunState, Summary
from skillgauge_stored_runs import Group, compact, decode, encode, packed, trouble

from .database import Database, transaction
from .ownership import Lease
from .reading import Stored
from .rows import body_of, case_rows, drop_kept, result_key, write_cases, write_results
from .writer import Writer

_CLAIM = """INSERT INTO attempts VALUES (?, ?, 1, ?)
ON CONFLICT (id) DO UPDATE SET attempts = attempts + 1, claimed_at = excluded.claimed_at
WHERE trial_id = excluded.trial_id"""
_SPEND = "INSERT OR REPLACE INTO spending VALUES (?, ?, ?, ?)"
_KEEP = "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)"


class SqliteRunLog:
    """A run in a database. Each call is one transaction of the store's writer.

    Args:
        run: the run's number in the database.
        info: what is known of it.
    """

    def __init__(self, database: Database, writer: Writer, lease: Lease, *, run: int, info: RunInfo) -> None:
        self._stored = Stored(database, run, None, info.run_id)
        self._writer = writer
        self._lease = lease
        self._run = run
        self._info = info
        self._groups: dict[Group, int] = {}
        self._has_sessions = info.resumed

    @property
    def info(self) -> RunInfo:
        """See `RunLog.info`."""
        return self._info

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        """See `RunLog.claim`. Survives a loss of power if one of the trials costs money."""
        rows = case_rows(cases)
        return await self._writer.run(lambda db: self._claim(db, trials, rows))

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """See `RunLog.commit`. A result that is committed again replaces the earlier one of its trial."""
        await self._writer.run(lambda db: self._commit(db, results, paid))

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `RunSource.results`. Also works after the store was closed."""
        return self._stored.results(order, group)

    def cases(self) -> Iterator[CaseHead]:
        """See `RunSource.cases`. Also works after the store was closed."""
        return self._stored.cases()

    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        """See `RunLog.spend`. Survives the death of the process, and a loss of power perhaps."""
        await self._writer.run(lambda db: self._spend(db, unfinished))

    def unfinished(self) -> Iterator[Unfinished]:
        """See `RunLog.unfinished`. Also works after the store was closed."""
        return self._stored.unfinished()

    async def keep(self, kept: KeptExecution) -> None:
        """See `KeepingLog.keep`."""
        row = result_key(self._run, kept.ordinal), compact(kept.trial_id), await asyncio.to_thread(_body_of, kept)
        await self._writer.run(lambda db: self._keep(db, row))

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """See `KeepingLog.kept`."""
        body = await self._writer.run(lambda db: self._body_kept(db, trial))
        subject = f"what is kept of trial {trial.ordinal} of run {self._info.run_id}"
        read = partial(decode, KeptExecution, extra=None, subject=subject)
        return None if body is None else await asyncio.to_thread(read, body)

    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        """See `RunLog.finish`. The run is free from then on, and this object can only be read."""
        finished_at = self._lease.timing.clock()
        await self._writer.run(lambda db: self._finish(db, state, summary, finished_at))
        self._info = self._info.model_copy(update={"state": state, "finished_at": finished_at})
        return self._info

    def _claim(
        self, db: sqlite3.Connection, trials: Sequence[Trial], cases: Sequence[tuple[str, int, str | bytes]]
    ) -> Claimed:
        ids = {result_key(self._run, trial.ordinal): trial.trial_id for trial in trials}
        keys = {key: compact(trial_id) for key, trial_id in ids.items()}
        now = self._lease.timing.clock()
        with transaction(db, durable=any(trial.paid for trial in trials)):
            self._renew(db)
            stored = _select(db, "SELECT id, trial_id FROM results", keys)
            self._same_plan(all(keys[key] == trial_id for key, trial_id in stored.items()))
            claims = [(key, trial_id, now) for key, trial_id in keys.items() if key not in stored]
            claimed = db.executemany(_CLAIM, claims).rowcount if claims else 0
            self._same_plan(claimed == len(claims))
            self._begin_sessions(db, trials, stored, now)
            write_cases(db, self._run, cases)
            again = _select(db, "SELECT id, attempts FROM attempts", keys, "attempts > 1")
            cut_off = self._cut_off(db, {key: ids[key] for key in again if key not in stored})
        return Claimed(
            done=frozenset(ids[key] for key in stored),
            attempts={ids[key]: again.get(key, 1) for key, *_ in claims},
            cut_off=cut_off,
        )

    def _begin_sessions(
        self, db: sqlite3.Connection, trials: Sequence[Trial], done: Collection[int], now: float
    ) -> None:
        """Tell others of paid trials that begin: all but those whose results are stored, by their keys."""
        paid = [trial for trial in trials if trial.paid and result_key(self._run, trial.ordinal) not in done]
        if not paid:
            return
        process = self._lease.process
        where = f"{process.host.partition('/')[0]}, process {process.pid}"
        begun = [UnderWay.of(trial, since=now, where=where) for trial in paid]
        rows = [(result_key(self._run, one.ordinal), encode(one, sparse=True)) for one in begun]
        db.executemany("INSERT OR REPLACE INTO sessions VALUES (?, ?)", rows)
        self._has_sessions = True

    def _cut_off(self, db: sqlite3.Connection, ids: Mapping[int, str]) -> dict[str, tuple[GivenUp, ...]]:
        """Attempts of earlier claims that used something, by trial."""
        by_trial: dict[str, tuple[GivenUp, ...]] = {}
        for key, trial_id in ids.items():
            rows = db.execute("SELECT body FROM spending WHERE id = ? ORDER BY claim", (key,)).fetchall()
            earlier = [decode(Unfinished, body, extra=None, subject="the spending of a trial") for (body,) in rows]
            if earlier:
                by_trial[trial_id] = tuple(attempt for one in earlier for attempt in one.attempts)
        return by_trial

    def _spend(self, db: sqlite3.Connection, unfinished: Sequence[Unfinished]) -> None:
        rows = [
            (
                result_key(self._run, usage.ordinal),
                usage.claim,
                compact(usage.trial_id),
                packed(encode(usage, sparse=True)),
            )
            for usage in unfinished
        ]
        with transaction(db, durable=False):
            self._renew(db)
            db.executemany(_SPEND, rows)

    def _keep(self, db: sqlite3.Connection, row: tuple[int, str | bytes, str | bytes]) -> None:
        with transaction(db, durable=True):
            self._renew(db)
            db.execute(_KEEP, row)

    def _body_kept(self, db: sqlite3.Connection, trial: Trial) -> str | bytes | None:
        query = "SELECT body FROM kept WHERE id = ? AND trial_id = ?"
        row = db.execute(query, (result_key(self._run, trial.ordinal), compact(trial.trial_id))).fetchone()
        return row[0] if row else None

    def _commit(self, db: sqlite3.Connection, results: Sequence[TrialResult], paid: bool) -> None:
        bodies = [body_of(result) for result in results]  # before the lock: others may write meanwhile
        groups = dict(self._groups)
        with transaction(db, durable=paid):
            self._renew(db)
            self._same_plan(write_results(db, self._run, results, bodies, groups))
            if paid:
                keys = ((result_key(self._run, result.ordinal),) for result in results)
                db.executemany("DELETE FROM kept WHERE id = ?", keys)
            if self._has_sessions:
                ended = [(result_key(self._run, result.ordinal),) for result in results]
                db.executemany("DELETE FROM sessions WHERE id = ?", ended)
        self._groups = groups

    def _finish(self, db: sqlite3.Connection, state: RunState, summary: Summary | None, finished_at: float) -> None:
        text = None if summary is None else encode(summary)
        with transaction(db, durable=True):
            self._renew(db)
            db.execute(
                "UPDATE runs SET state = ?, finished_at = ?, summary = ? WHERE run = ?",
                (state.value, finished_at, text, self._run),
            )
            if state is RunState.FINISHED:
                drop_kept(db, self._run)
            self._lease.release(db, self._run)

    def _renew(self, db: sqlite3.Connection) -> None:
        if not self._lease.renew(db, self._run):
            raise self._lost()

    def _lost(self) -> StoreError:
        if self._info.state is not RunState.RUNNING:
            return trouble("store.run-ended", f"run {self._info.run_id} has ended; nothing can be added to it")
        return trouble(
            "store.taken-over",
            f"run {self._info.run_id} was taken over by another process, because this one did not move for long",
            "Let the other one finish; what this one had committed is part of the run.",
        )

    def _same_plan(self, same: bool) -> None:
        if not same:
            raise trouble(
                "store.plan-mismatch",
                f"run {self._info.run_id} holds other trials at the same places of its plan",
                "Begin a new run with --fresh.",
            )


def _body_of(kept: KeptExecution) -> str | bytes:
    return packed(encode(kept, sparse=True))


def _select(db: sqlite3.Connection, query: str, keys: Collection[int], where: str = "TRUE") -> dict[int, Any]:
    """Rows of a query by key; trials that are claimed together lie together in the plan, with few between them."""
    if not keys:
        return {}
    rows = db.execute(f"{query} WHERE id BETWEEN ? AND ? AND {where}", (min(keys), max(keys)))
    return {key: value for key, value in rows if key in keys}
