"""The words of people about runs, beside the runs: a row for each run of which anything is said."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from skillgauge.api import RunNotes
from skillgauge_stored_runs import decode, encode

from .database import Database, transaction
from .trouble import TROUBLES, explain


def read_notes(database: Database) -> dict[str, RunNotes]:
    """Return the words about runs, by their ids.

    Raises:
        StoreError: the file cannot be read, or a note in it.
    """
    db = database.reader()
    if db is None:
        return {}
    with closing(db):
        try:
            rows = db.execute("SELECT run_id, body FROM run_notes JOIN runs USING (run)").fetchall()
        except TROUBLES as error:
            raise explain(error, database.path) from error
    subject = f"{database.path}: the notes of run {{}}"
    return {run_id: decode(RunNotes, body, extra="ignore", subject=subject, place=run_id) for run_id, body in rows}


def write_notes(db: sqlite3.Connection, run_id: str, notes: RunNotes) -> bool:
    """Put these in place of what was said of a run; false if there is no such run."""
    with transaction(db, durable=True):
        row = db.execute("SELECT run FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if row is None:
            return False
        if notes == RunNotes():
            db.execute("DELETE FROM run_notes WHERE run = ?", row)
        else:
            db.execute("INSERT OR REPLACE INTO run_notes VALUES (?, ?)", (*row, encode(notes, sparse=True)))
    return True
