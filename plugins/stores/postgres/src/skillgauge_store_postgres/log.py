"""The ledger of one run."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import psycopg

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
from skillgauge_stored_runs import LARGEST, Group, decode, encode, trouble

from .database import Database
from .ownership import Ownership
from .reading import Stored
from .rows import (
    Body,
    CaseRow,
    begin_sessions,
    blob,
    body_of,
    case_rows,
    drop_kept,
    end_sessions,
    key_of,
    write_cases,
    write_results,
)
from .writer import Writer

Db = psycopg.Connection[tuple[Any, ...]]

_CLAIM = """INSERT INTO attempts
SELECT %(run)s, ordinal, trial_id, 1, %(nonce)s, now() FROM unnest(%(ordinals)s::bigint[], %(ids)b::bytea[])
    AS claimed (ordinal, trial_id)
ON CONFLICT (run, ordinal) DO UPDATE SET nonce = excluded.nonce, claimed_at = excluded.claimed_at,
    attempts = attempts.attempts + CASE WHEN attempts.nonce = excluded.nonce THEN 0 ELSE 1 END
WHERE attempts.trial_id = excluded.trial_id RETURNING ordinal, attempts"""
"""A claim that is made again, because the answer to the first was lost, counts once: it has the same nonce."""
_SPEND = """INSERT INTO spending
SELECT %s, * FROM unnest(%s::bigint[], %s::integer[], %b::bytea[], %b::bytea[])
ON CONFLICT (run, ordinal, claim) DO UPDATE SET trial_id = excluded.trial_id, body = excluded.body"""

_KEEP = """INSERT INTO kept VALUES (%s, %s, %b, %b)
ON CONFLICT (run, ordinal) DO UPDATE SET trial_id = excluded.trial_id, body = excluded.body"""
_KEPT = f"""SELECT CASE WHEN octet_length(body) <= {LARGEST} THEN body END FROM kept
WHERE run = %s AND ordinal = %s AND trial_id = %b"""
_DROP = "UPDATE kept SET body = NULL WHERE run = %s AND ordinal = ANY(%s) AND body IS NOT NULL"


class PostgresRunLog:
    """A run in a database. Each call is one transaction of the store's writer.

    Args:
        run: the run's number in the database.
        info: what is known of it.
    """

    def __init__(self, database: Database, writer: Writer, ownership: Ownership, *, run: int, info: RunInfo) -> None:
        self._stored = Stored(database, run, None, info.run_id)
        self._writer = writer
        self._ownership = ownership
        self._run = run
        self._info = info
        self._groups: dict[Group, int] = {}
        self._has_sessions = info.resumed

    @property
    def info(self) -> RunInfo:
        """See `RunLog.info`."""
        return self._info

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        """See `RunLog.claim`. Survives a crash of the server."""
        rows, nonce = case_rows(cases), uuid4()
        return await self._writer.run(lambda db: self._claim(db, trials, rows, nonce))

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """See `RunLog.commit`. Survives a crash of the server, paid or not."""
        bodies = [body_of(result) for result in results]
        await self._writer.run(lambda db: self._commit(db, results, bodies, paid))

    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        """See `RunLog.spend`. Survives a crash of the server."""
        rows = {(one.ordinal, one.claim): one for one in unfinished}
        places = [[ordinal for ordinal, _ in rows], [claim for _, claim in rows]]
        ids = [key_of(one.trial_id) for one in rows.values()]
        bodies = [blob(encode(one, sparse=True)) for one in rows.values()]
        await self._writer.run(lambda db: self._spend(db, (*places, ids, bodies)))

    async def keep(self, kept: KeptExecution) -> None:
        """See `KeepingLog.keep`. Survives a crash of the server."""
        body = await asyncio.to_thread(lambda: blob(encode(kept, sparse=True)))
        row = self._run, kept.ordinal, key_of(kept.trial_id), body
        await self._writer.run(lambda db: self._keep(db, row))

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """See `KeepingLog.kept`."""
        place = self._run, trial.ordinal, key_of(trial.trial_id)
        row = await self._writer.run(lambda db: db.execute(_KEPT, place, binary=True).fetchone())
        if row is None or row[0] is None:
            return None
        subject = f"what is kept of trial {trial.ordinal} of run {self._info.run_id}"
        return await asyncio.to_thread(partial(decode, KeptExecution, extra=None, subject=subject), row[0])

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `RunSource.results`. Also works after the store was closed."""
        return self._stored.results(order, group)

    def cases(self) -> Iterator[CaseHead]:
        """See `RunSource.cases`. Also works after the store was closed."""
        return self._stored.cases()

    def unfinished(self) -> Iterator[Unfinished]:
        """See `RunLog.unfinished`. Also works after the store was closed."""
        return self._stored.unfinished()

    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        """See `RunLog.finish`. The run is free from then on, and this object can only be read."""
        finished_at = time.time()
        await self._writer.run(lambda db: self._finish(db, state, summary, finished_at))
        self._info = self._info.model_copy(update={"state": state, "finished_at": finished_at})
        return self._info

    def _claim(self, db: Db, trials: Sequence[Trial], cases: Sequence[CaseRow], nonce: UUID) -> Claimed:
        ids = {trial.ordinal: trial.trial_id for trial in trials}
        keys = {ordinal: key_of(trial_id) for ordinal, trial_id in ids.items()}
        with db.transaction():
            self._check(db)
            query = "SELECT ordinal, trial_id FROM results WHERE run = %s AND ordinal = ANY(%s)"
            stored: dict[int, bytes] = dict(db.execute(query, (self._run, list(keys)), binary=True).fetchall())
            self._same_plan(all(keys[ordinal] == key for ordinal, key in stored.items()))
            new = [ordinal for ordinal in keys if ordinal not in stored]
            values = {"run": self._run, "nonce": nonce, "ordinals": new, "ids": [keys[ordinal] for ordinal in new]}
            attempts: dict[int, int] = dict(db.execute(_CLAIM, values).fetchall()) if new else {}
            self._same_plan(len(attempts) == len(new))
            self._begin_sessions(db, trials, attempts)
            write_cases(db, self._run, cases)
            cut_off = self._cut_off(db, [ordinal for ordinal, attempt in attempts.items() if attempt > 1])
        return Claimed(
            done=frozenset(ids[ordinal] for ordinal in stored),
            attempts={ids[ordinal]: attempts[ordinal] for ordinal in new},
            cut_off={ids[ordinal]: given_up for ordinal, given_up in cut_off.items()},
        )

    def _begin_sessions(self, db: Db, trials: Sequence[Trial], claimed: Collection[int]) -> None:
        """Tell others of paid trials that begin: those whose places in the plan were claimed."""
        paid = [trial for trial in trials if trial.paid and trial.ordinal in claimed]
        if not paid:
            return
        now, where = time.time(), f"{socket.gethostname()}, process {os.getpid()}"
        begin_sessions(db, self._run, [UnderWay.of(trial, since=now, where=where) for trial in paid])
        self._has_sessions = True

    def _cut_off(self, db: Db, ordinals: Collection[int]) -> Mapping[int, tuple[GivenUp, ...]]:
        """Attempts of earlier claims that used something, by place in the plan."""
        by_place: dict[int, tuple[GivenUp, ...]] = {}
        if not ordinals:
            return by_place
        query = "SELECT ordinal, body FROM spending WHERE run = %s AND ordinal = ANY(%s) ORDER BY ordinal, claim"
        for ordinal, body in db.execute(query, (self._run, list(ordinals)), binary=True):
            earlier = decode(Unfinished, body, extra=None, subject="the spending of a trial")
            by_place[ordinal] = (*by_place.get(ordinal, ()), *earlier.attempts)
        return by_place

    def _spend(self, db: Db, columns: Sequence[list[Any]]) -> None:
        with db.transaction():
            self._check(db)
            db.execute(_SPEND, (self._run, *columns))

    def _keep(self, db: Db, row: tuple[int, int, bytes, bytes]) -> None:
        with db.transaction():
            self._check(db)
            db.execute(_KEEP, row)

    def _commit(self, db: Db, results: Sequence[TrialResult], bodies: Sequence[Body], paid: bool) -> None:
        groups = dict(self._groups)
        with db.transaction():
            self._check(db)
            self._same_plan(write_results(db, self._run, results, bodies, groups))
            if paid:
                db.execute(_DROP, (self._run, [result.ordinal for result in results]))
            if self._has_sessions:
                end_sessions(db, self._run, [result.ordinal for result in results])
        self._groups = groups

    def _finish(self, db: Db, state: RunState, summary: Summary | None, finished_at: float) -> None:
        body = None if summary is None else blob(encode(summary))
        with db.transaction():
            self._check(db)
            db.execute(
                "UPDATE runs SET state = %s, finished_at = %s, summary = %s WHERE run = %s",
                (state.value, finished_at, body, self._run),
            )
            if state is RunState.FINISHED:
                drop_kept(db, [self._run])
        self._ownership.release(db, self._run)

    def _check(self, db: Db) -> None:
        if not self._ownership.check(db, self._run):
            raise self._lost()

    def _lost(self) -> StoreError:
        if self._info.state is not RunState.RUNNING:
            return trouble("store.run-ended", f"run {self._info.run_id} has ended; nothing can be added to it")
        return trouble(
            "store.taken-over",
            f"run {self._info.run_id} was taken over by another process, or removed, while the connection of this one "
            "was lost",
            "Let the other one finish; what this one had committed is part of the run.",
        )

    def _same_plan(self, same: bool) -> None:
        if not same:
            raise trouble(
                "store.plan-mismatch",
                f"run {self._info.run_id} holds other trials at the same places of its plan",
                "Begin a new run with --fresh.",
            )
