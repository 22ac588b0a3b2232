"""The store: begins, resumes and lists runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from skillgauge.api import (
    BudgetShare,
    BudgetStanding,
    PlanHead,
    RunNotes,
    RunQuery,
    ServiceShare,
    ServiceStanding,
    SharedBudget,
    SharedService,
    TrialNotes,
)
from skillgauge.api.report import RunInfo, RunState, RunView
from skillgauge_stored_runs import encode, is_resumable, new_run_id, signer_of

from .address import address_of
from .archive import keep_run
from .database import Database
from .log import PostgresRunLog
from .noting import read_notes, read_trial_notes, write_notes, write_trial_notes
from .options import PostgresOptions
from .ownership import Ownership
from .reading import scan_runs
from .rows import blob, drop_kept
from .schema import MIGRATIONS
from .sharing import hold, occupy
from .writer import Writer

Db = psycopg.Connection[tuple[Any, ...]]

_LINGER_S = 1.0
"""How long a run may stay locked whose process is gone: the server notices that by itself, mostly at once."""
_UNFINISHED = """SELECT run, schema_version, head FROM runs
WHERE plan_id = %s AND state <> %s AND NOT superseded ORDER BY run DESC"""
_STILL_UNFINISHED = "SELECT FROM runs WHERE run = %s AND state <> %s AND NOT superseded FOR NO KEY UPDATE"
_RESUME = """UPDATE runs SET state = %s, finished_at = NULL, summary = NULL, resumes = resumes + 1, head = %s,
schema_version = %s WHERE run = %s RETURNING run_id, started_at"""
_NEW = """INSERT INTO runs (run_id, plan_id, schema_version, state, started_at, head)
VALUES (%s, %s, %s, %s, %s, %s) RETURNING run"""


class PostgresStore:
    """Runs in a PostgreSQL database; no connection is made before there is something to read or to store.

    Args:
        options: where the database is.
        migrations: the tables, as scripts; others than the built-in ones are for tests.

    Raises:
        StoreError: the address cannot be read, or holds a password.
    """

    durable = True

    def __init__(self, options: PostgresOptions, *, migrations: tuple[str, ...] = MIGRATIONS) -> None:
        self._database = Database(address_of(options), options.reconnect_s, migrations)
        self._ownership = Ownership()
        link = self._database.writer(self._ownership.retake)
        self._writer = Writer(link, str(self._database), self._ownership.has_any)

    async def begin(self, head: PlanHead, *, fresh: bool) -> PostgresRunLog:
        """See `Store.begin`. `fresh` also means that no unfinished run of the plan is resumed later on."""
        run, info = await self._writer.run(lambda db: self._begin(db, head, fresh))
        return PostgresRunLog(self._database, self._writer, self._ownership, run=run, info=info)

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """See `Store.scan`. A database without our tables holds no runs, and gets none by that."""
        return scan_runs(self._database, query)

    async def keep(self, view: RunView) -> bool:
        """Store a finished run from elsewhere under its own id and times; false if a run of that id is there already.

        Raises:
            ValueError: the run has not finished.
            StoreError: it cannot be stored.
        """
        return await self._writer.run(lambda db: keep_run(db, view))

    def notes(self) -> Mapping[str, RunNotes]:
        """See `NotedStore.notes`."""
        return read_notes(self._database)

    async def annotate(self, run_id: str, notes: RunNotes) -> bool:
        """See `NotedStore.annotate`."""
        return await self._writer.run(lambda db: write_notes(db, run_id, notes))

    def trial_notes(self, run_id: str) -> Mapping[int, TrialNotes]:
        """See `TrialNotedStore.trial_notes`."""
        return read_trial_notes(self._database, run_id)

    async def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        """See `TrialNotedStore.annotate_trial`."""
        return await self._writer.run(lambda db: write_trial_notes(db, run_id, ordinal, notes))

    async def hold(self, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
        """See `BudgetingStore.hold`."""
        return await self._writer.run(lambda db: hold(db, budget, run_id, share, must_fit=must_fit))

    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        """See `LimitingStore.occupy`."""
        return await self._writer.run(lambda db: occupy(db, service, run_id, share, must_fit=must_fit))

    async def close(self) -> None:
        """See `Store.close`. Runs that did not finish can be resumed at once."""
        await self._writer.close(self._ownership.release_all)
        self._database.close()

    def _begin(self, db: Db, head: PlanHead, fresh: bool) -> tuple[int, RunInfo]:
        locked: list[int] = []
        try:
            if not fresh:
                resumed = self._resume(db, head, locked)
                if resumed:
                    return resumed
            with db.transaction():
                if fresh:
                    self._supersede(db, head)
                return self._new(db, head, locked)
        except BaseException:
            for run in locked:
                self._ownership.release(db, run)
            raise

    def _candidates(self, db: Db, head: PlanHead) -> list[int]:
        """Unfinished runs of a plan and signer, newest first."""
        rows = db.execute(_UNFINISHED, (head.plan_id, RunState.FINISHED.value), binary=True).fetchall()
        return [run for run, version, stored in rows if is_resumable(version) and signer_of(stored) == head.signer]

    def _resume(self, db: Db, head: PlanHead, locked: list[int]) -> tuple[int, RunInfo] | None:
        """Take the newest unfinished run that no process owns; `None` if there is none."""
        until = time.monotonic() + _LINGER_S
        while candidates := [run for run in self._candidates(db, head) if not self._ownership.has(run)]:
            # Asked before the runs are tried: one that becomes free in between would else not be tried again.
            must_give_up = time.monotonic() > until and not self._ownership.has_just_restarted(db)
            for run in candidates:
                with db.transaction():
                    if not self._ownership.take(db, run):
                        continue
                    locked.append(run)
                    # The lock may have been free because another process has just finished the run.
                    if db.execute(_STILL_UNFINISHED, (run, RunState.FINISHED.value)).rowcount == 1:
                        return run, self._resumed(db, run, head)
                    self._ownership.release(db, run)
            if must_give_up:
                return None
            time.sleep(0.05)
        return None

    def _resumed(self, db: Db, run: int, head: PlanHead) -> RunInfo:
        # The head is written anew: it names the versions of what runs from now on.
        values = (RunState.RUNNING.value, blob(encode(head)), head.schema_version, run)
        row = db.execute(_RESUME, values).fetchone()
        assert row is not None
        return RunInfo(run_id=row[0], state=RunState.RUNNING, started_at=row[1], resumed=True)

    def _supersede(self, db: Db, head: PlanHead) -> None:
        """Give up the unfinished runs of a plan that no process owns, inside a transaction of the caller's."""
        free = [run for run in self._candidates(db, head) if self._ownership.is_free(db, run)]
        if free:
            db.execute("UPDATE runs SET superseded = true WHERE run = ANY(%s)", (free,))
            drop_kept(db, free)

    def _new(self, db: Db, head: PlanHead, locked: list[int]) -> tuple[int, RunInfo]:
        started_at = time.time()
        run_id, state = new_run_id(started_at), RunState.RUNNING
        row = (run_id, head.plan_id, head.schema_version, state.value, started_at, blob(encode(head)))
        inserted = db.execute(_NEW, row).fetchone()
        assert inserted is not None
        run = int(inserted[0])
        locked.append(run)
        self._ownership.take(db, run)
        return run, RunInfo(run_id=run_id, state=state, started_at=started_at)
