"""Takes in runs that were carried out elsewhere, with the times that they had there."""

from __future__ import annotations

import sqlite3
from itertools import islice

from skillgauge.api.report import RunState, RunView
from skillgauge_stored_runs import Group, encode, trouble

from .database import transaction
from .rows import body_of, case_rows, write_cases, write_results

_BATCH = 500
_COLUMNS = "run_id, plan_id, schema_version, state, started_at, finished_at, resumes, head, summary"


def keep_run(db: sqlite3.Connection, view: RunView) -> bool:
    """Store a finished run under its own id, in one transaction.

    Returns:
        False if a run of that id is there already; it is left as it is.

    Raises:
        ValueError: the run has not finished, so that it could be taken for one to resume.
        StoreError: two of its results claim one place.
    """
    info = view.run
    if info.state is not RunState.FINISHED:
        raise ValueError(f"run {info.run_id} is {info.state}; only finished runs can be taken in")
    with transaction(db, durable=True):
        if db.execute("SELECT 1 FROM runs WHERE run_id = ?", (info.run_id,)).fetchone():
            return False
        row = (
            info.run_id,
            view.head.plan_id,
            view.head.schema_version,
            info.state.value,
            info.started_at,
            info.finished_at,
            int(info.resumed),
            encode(view.head),
            encode(view.summary),
        )
        cursor = db.execute(
            f"INSERT INTO runs ({_COLUMNS}) VALUES ({', '.join('?' * len(row))})",
            row,
        )
        run = int(cursor.lastrowid or 0)
        write_cases(db, run, case_rows(view.cases()))
        results, groups = view.results(), dict[Group, int]()
        while batch := list(islice(results, _BATCH)):
            bodies = [body_of(result) for result in batch]
            if not write_results(db, run, batch, bodies, groups):
                raise trouble("store.plan-mismatch", f"run {info.run_id} has two trials at one place of its plan")
    return True
