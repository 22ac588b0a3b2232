"""The words of people, beside the runs: a row for each run, and for each trial, of which anything is said."""

from __future__ import annotations

import sqlite3
from contextlib import closing

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


def read_trial_notes(database: Database, run_id: str) -> dict[int, TrialNotes]:
    """Return the words about trials of a run, by their places in the plan.

    Raises:
        StoreError: the file cannot be read, or a note in it.
    """
    db = database.reader()
    if db is None:
        return {}
    with closing(db):
        try:
            run = _key_of(db, run_id)
            if run is None:
                return {}
            bounds = first_key(run), first_key(run + 1)
            rows = db.execute("SELECT id, body FROM trial_notes WHERE id >= ? AND id < ?", bounds).fetchall()
        except TROUBLES as error:
            raise explain(error, database.path) from error
    subject = f"{database.path}: the notes of trial {{}} of run {run_id}"
    read = ((key - bounds[0], body) for key, body in rows)
    return {ordinal: decode(TrialNotes, body, extra="ignore", subject=subject, place=ordinal) for ordinal, body in read}


def write_trial_notes(db: sqlite3.Connection, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
    """Put these in place of what was said of a trial; false if it has no result."""
    with transaction(db, durable=True):
        run = _key_of(db, run_id)
        if run is None or not 0 <= ordinal < 1 << ORDINAL_BITS:
            return False
        row = db.execute("SELECT id FROM results WHERE id = ?", (first_key(run) + ordinal,)).fetchone()
        if row is None:
            return False
        if notes == TrialNotes():
            db.execute("DELETE FROM trial_notes WHERE id = ?", row)
        else:
            db.execute("INSERT OR REPLACE INTO trial_notes VALUES (?, ?)", (*row, encode(notes, sparse=True)))
    return True


def _key_of(db: sqlite3.Connection, run_id: str) -> int | None:
    row = db.execute("SELECT run FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return int(row[0]) if row else None
