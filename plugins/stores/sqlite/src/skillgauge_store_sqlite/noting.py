"""The words of people, beside the runs: a row for each run, and for each trial, of which anything is said."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from skillgauge.api import RunNotes, TrialNotes
from skillgauge_stored_runs import decode, encode

from .database import Database, transaction
from .schema import ORDINAL_BITS, first_key
from .trouble import TROUBLES, explain


def read_notes(database: Database) -> dict[str, RunNotes]:
    """Return the words about runs, by their ids.

    Raises:
        StoreError: the file cannot be read, or a note in it.
    """
    rows = _rows(database, "SELECT run_id, body FROM run_notes JOIN runs USING (run)")
    subject = f"{database.path}: the notes of run {{}}"
    return {run_id: decode(RunNotes, body, extra="ignore", subject=subject, place=run_id) for run_id, body in rows}


def write_notes(db: sqlite3.Connection, run_id: str, notes: RunNotes) -> bool:
    """Put these in place of what was said of a run; false if there is no such run."""
    with transaction(db, durable=True):
        run = _key_of(db, run_id)
        if run is None:
            return False
        db.execute("DELETE FROM run_notes WHERE run = ?", (run,))
        if notes != RunNotes():
            db.execute("INSERT INTO run_notes VALUES (?, ?)", (run, encode(notes, sparse=True)))
    return True


def read_trial_notes(database: Database, run_id: str) -> dict[int, TrialNotes]:
    """Return the words about trials of a run, by their places in the plan.

    Raises:
        StoreError: the file cannot be read, or a note in it.
    """
    of_run = f"id >= run << {ORDINAL_BITS} AND id < (run + 1) << {ORDINAL_BITS}"
    query = f"SELECT id - (run << {ORDINAL_BITS}), body FROM runs JOIN trial_notes ON {of_run} WHERE run_id = ?"
    rows = _rows(database, query, run_id)
    subject = f"{database.path}: the notes of trial {{}} of run {run_id}"
    return {ordinal: decode(TrialNotes, body, extra="ignore", subject=subject, place=ordinal) for ordinal, body in rows}


def write_trial_notes(db: sqlite3.Connection, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
    """Put these in place of what was said of a trial; false if it has no result."""
    with transaction(db, durable=True):
        run = _key_of(db, run_id)
        if run is None or not 0 <= ordinal < 1 << ORDINAL_BITS:
            return False
        key = first_key(run) + ordinal
        if not db.execute("SELECT 1 FROM results WHERE id = ?", (key,)).fetchone():
            return False
        db.execute("DELETE FROM trial_notes WHERE id = ?", (key,))
        if notes != TrialNotes():
            db.execute("INSERT INTO trial_notes VALUES (?, ?)", (key, encode(notes, sparse=True)))
    return True


def _rows(database: Database, query: str, *values: str) -> list[tuple[Any, str]]:
    """Return the rows of a query; none if the file is not there.

    Raises:
        StoreError: the file cannot be read.
    """
    db = database.reader()
    if db is None:
        return []
    with closing(db):
        try:
            return db.execute(query, values).fetchall()
        except TROUBLES as error:
            raise explain(error, database.path) from error


def _key_of(db: sqlite3.Connection, run_id: str) -> int | None:
    row = db.execute("SELECT run FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return int(row[0]) if row else None
