"""Streams stored results and runs.

Each reader has a connection of its own. It reads page by page, each page a query of its own that continues behind
the last row: a reader that pauses holds no snapshot for long, which would keep the log from being emptied, and no
more than one row is in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing

from skillgauge.api import (
    Counts,
    PlanHead,
    ResultOrder,
    RunInfo,
    RunQuery,
    RunState,
    RunView,
    Summary,
    TrialResult,
)

from .database import Database
from .ownership import OWNER_COLUMNS, Lease
from .records import Extra, decode, reading
from .schema import first_key
from .trouble import explain

_PAGE = 500
_LEAST = -(2**63)


def read_results(database: Database, run: int, order: ResultOrder, extra: Extra) -> Iterator[TrialResult]:
    """The results of a run.

    Raises:
        StoreError: the file cannot be read, or a record in it.
    """
    db = database.reader()
    if db is None:
        return
    with closing(db):
        bodies = _in_plan_order(db, run) if order is ResultOrder.PLAN else _in_case_order(db, run)
        try:
            for body in bodies:
                yield decode(TrialResult, body, extra=extra, what=f"a result in {database.path}")
        except sqlite3.Error as error:
            raise explain(error, database.path) from error


def _in_plan_order(db: sqlite3.Connection, run: int) -> Iterator[str | bytes]:
    query = "SELECT body, id FROM results WHERE id < ? AND id > ? ORDER BY id LIMIT ?"
    return _pages(db, query, [first_key(run + 1)], [first_key(run) - 1])


def _in_case_order(db: sqlite3.Connection, run: int) -> Iterator[str | bytes]:
    groups = "SELECT grp FROM groups WHERE run = ? ORDER BY suite_id, target_id, arm, runner, model"
    query = (
        "SELECT body, case_index, repeat, id FROM results WHERE grp = ? AND (case_index, repeat, id) > (?, ?, ?) "
        "ORDER BY case_index, repeat, id LIMIT ?"
    )
    for group in db.execute(groups, (run,)).fetchall():
        yield from _pages(db, query, group, [_LEAST] * 3)


def _pages(db: sqlite3.Connection, query: str, where: Sequence[int], after: Sequence[int]) -> Iterator[str | bytes]:
    """First column of all rows of a query that selects, behind it, the place that the next page goes on from."""
    more = True
    while more:
        more = False
        for body, *place in db.execute(query, (*where, *after, _PAGE)):
            more, after = True, place
            yield body


def scan_runs(database: Database, query: RunQuery, lease: Lease) -> Iterator[RunView]:
    """The stored runs that match, newest first.

    Raises:
        StoreError: the file cannot be read, or a record in it, or a run needs a newer program.
    """
    db = database.reader()
    if db is None:
        return
    left = query.limit
    with closing(db):
        try:
            # Not by number alone: a run from elsewhere comes later than it began.
            keys = db.execute("SELECT run, run_id FROM runs ORDER BY started_at DESC, run DESC").fetchall()
            for run, run_id in keys:
                if left == 0:
                    return
                if query.run_ids and run_id not in query.run_ids:
                    continue
                view = _view(database, db, run, lease)
                if _matches(view.head, query):
                    left = None if left is None else left - 1
                    yield view
        except sqlite3.Error as error:
            raise explain(error, database.path) from error


def _view(database: Database, db: sqlite3.Connection, run: int, lease: Lease) -> RunView:
    columns = "run_id, schema_version, state, started_at, finished_at, resumes, head, summary"
    row = db.execute(
        f"SELECT {columns}, {OWNER_COLUMNS} FROM runs LEFT JOIN owners USING (run) WHERE run = ?", (run,)
    ).fetchone()
    run_id, version, state, started_at, finished_at, resumes, head, summary, *owner = row
    extra = reading(version, run_id)
    if state == RunState.RUNNING and not lease.is_owned(*owner):
        state = RunState.INTERRUPTED  # its process can no longer say so
    info = RunInfo(run_id=run_id, state=state, started_at=started_at, finished_at=finished_at, resumed=resumes > 0)
    return RunView(
        run=info,
        head=decode(PlanHead, head, extra=extra, what=f"the plan of run {run_id}"),
        summary=(
            Summary(counts=Counts(), groups=())
            if summary is None
            else decode(Summary, summary, extra=extra, what=f"the summary of run {run_id}")
        ),
        results=lambda: read_results(database, run, ResultOrder.PLAN, extra),
    )


def _matches(head: PlanHead, query: RunQuery) -> bool:
    """Whether the plan has the wanted suite, and in it the wanted target."""
    if query.suite_id is None and query.target_id is None:
        return True
    return any(
        query.target_id is None or any(target.id == query.target_id for target in suite.targets)
        for suite in head.suites
        if query.suite_id in (None, suite.id)
    )
