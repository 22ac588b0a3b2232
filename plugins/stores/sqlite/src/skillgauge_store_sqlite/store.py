"""The store: begins, resumes and lists runs."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

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

from .archive import keep_run
from .database import Database, transaction
from .log import SqliteRunLog
from .noting import read_notes, read_trial_notes, write_notes, write_trial_notes
from .options import SqliteOptions
from .ownership import OWNER_COLUMNS, Lease, Timing
from .reading import scan_runs
from .rows import drop_kept
from .schema import MIGRATIONS
from .sharing import hold, occupy
from .writer import Writer


class SqliteStore:
    """Runs in one SQLite file; nothing is opened or made before the first run begins.

    Args:
        options: where the file is; a relative path is taken from the folder that is current now.
        timing: how long locks and leases last.
        migrations: the tables, as scripts; others than the built-in ones are for tests.
    """

    durable = True

    def __init__(
        self,
        options: SqliteOptions,
        *,
        timing: Timing | None = None,
        migrations: tuple[str, ...] = MIGRATIONS,
    ) -> None:
        self._lease = Lease(timing or Timing())
        path = Path(options.location.removeprefix("file://")).expanduser().absolute()
        self._database = Database(path, self._lease.timing.busy_s, migrations, options.group_access)
        self._writer = Writer(self._database, renew=self._lease.renew_all, renew_s=self._lease.timing.renew_s)

    async def begin(self, head: PlanHead, *, fresh: bool) -> SqliteRunLog:
        """See `Store.begin`. `fresh` also means that no unfinished run of the plan is resumed later on."""
        run, info = await self._writer.run(lambda db: self._begin(db, head, fresh))
        return SqliteRunLog(self._database, self._writer, self._lease, run=run, info=info)

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """See `Store.scan`. A file that is not there holds no runs and is not made."""
        return scan_runs(self._database, query, self._lease)

    async def keep(self, view: RunView) -> bool:
        """Store a finished run from elsewhere under its own id and times; false if a run of that id is there already.

        Raises:
            ValueError: the run has not finished.
            StoreError: it cannot be stored.
        """
        return await self._writer.run(lambda db: keep_run(db, view))

    def notes(self) -> Mapping[str, RunNotes]:
        """See `NotedStore.notes`. A file that is not there holds none and is not made."""
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
        return await self._writer.run(lambda db: hold(db, self._lease, budget, run_id, share, must_fit=must_fit))

    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        """See `LimitingStore.occupy`."""
        return await self._writer.run(lambda db: occupy(db, self._lease, service, run_id, share, must_fit=must_fit))

    async def close(self) -> None:
        """See `Store.close`. Runs that did not finish can be resumed at once."""
        await self._writer.close(self._leave)

    def _leave(self, db: sqlite3.Connection) -> None:
        # On a full disk the runs become free when this process ends; there is nothing else to tell.
        with contextlib.suppress(sqlite3.Error):
            self._lease.release_all(db)
            # Where another process has the file open, closing alone would leave all of it in the log.
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def _begin(self, db: sqlite3.Connection, head: PlanHead, fresh: bool) -> tuple[int, RunInfo]:
        with transaction(db, durable=False):
            free = self._free_runs(db, head)
            if fresh and free:
                places = ",".join("?" * len(free))
                db.execute(f"UPDATE runs SET superseded = 1 WHERE run IN ({places})", free)
                for run in free:
                    drop_kept(db, run)
            elif free:
                return free[0], self._resume(db, free[0], head)
            return self._new(db, head)

    def _free_runs(self, db: sqlite3.Connection, head: PlanHead) -> list[int]:
        """Unfinished runs of a plan and signer that no process owns, newest first."""
        rows = db.execute(
            f"SELECT run, schema_version, head, {OWNER_COLUMNS} FROM runs LEFT JOIN owners USING (run) "
            "WHERE plan_id = ? AND state <> ? AND NOT superseded ORDER BY run DESC",
            (head.plan_id, RunState.FINISHED.value),
        )
        return [
            run
            for run, version, stored, *owner in rows
            if is_resumable(version) and signer_of(stored) == head.signer and not self._lease.is_owned(*owner)
        ]

    def _resume(self, db: sqlite3.Connection, run: int, head: PlanHead) -> RunInfo:
        # The head is written anew: it names the versions of what runs from now on.
        db.execute(
            "UPDATE runs SET state = ?, finished_at = NULL, summary = NULL, resumes = resumes + 1, "
            "head = ?, schema_version = ? WHERE run = ?",
            (RunState.RUNNING.value, encode(head), head.schema_version, run),
        )
        self._lease.take(db, run)
        query = "SELECT run_id, started_at FROM runs WHERE run = ?"
        run_id, started_at = db.execute(query, (run,)).fetchone()
        return RunInfo(run_id=run_id, state=RunState.RUNNING, started_at=started_at, resumed=True)

    def _new(self, db: sqlite3.Connection, head: PlanHead) -> tuple[int, RunInfo]:
        started_at = self._lease.timing.clock()
        run_id = new_run_id(started_at)
        row = (run_id, head.plan_id, head.schema_version, RunState.RUNNING.value, started_at, encode(head))
        cursor = db.execute(
            "INSERT INTO runs (run_id, plan_id, schema_version, state, started_at, head) VALUES (?, ?, ?, ?, ?, ?)",
            row,
        )
        run = int(cursor.lastrowid or 0)
        self._lease.take(db, run)
        return run, RunInfo(run_id=run_id, state=RunState.RUNNING, started_at=started_at)
