"""The words of people, beside the runs: a row for each run, and for each trial, of which anything was ever said."""

from __future__ import annotations

from typing import Any

import psycopg

from skillgauge.api import RunNotes, TrialNotes
from skillgauge_stored_runs import decode, encode

from .database import Database
from .rows import blob

Db = psycopg.Connection[tuple[Any, ...]]

_READ = "SELECT run_id, body FROM run_notes JOIN runs USING (run)"
# No row is deleted: a role that writes runs need not have the right to.
_WRITE = """INSERT INTO run_notes (run, body) SELECT run, %s FROM runs WHERE run_id = %s
ON CONFLICT (run) DO UPDATE SET body = excluded.body"""
_READ_TRIALS = "SELECT ordinal, body FROM trial_notes JOIN runs USING (run) WHERE run_id = %s"
_WRITE_TRIAL = """INSERT INTO trial_notes (run, ordinal, body)
SELECT run, ordinal, %s FROM results JOIN runs USING (run) WHERE run_id = %s AND ordinal = %s
ON CONFLICT (run, ordinal) DO UPDATE SET body = excluded.body"""


def read_notes(database: Database) -> dict[str, RunNotes]:
    """Return the words about runs, by their ids.

    Raises:
        StoreError: the database cannot be read, or a note in it.
    """
    with database.reader() as link:
        if link is None:
            return {}
        rows = link.run(lambda db: db.execute(_READ, binary=True).fetchall())
    subject = f"{database}: the notes of run {{}}"
    read = ((run_id, decode(RunNotes, body, extra="ignore", subject=subject, place=run_id)) for run_id, body in rows)
    return {run_id: notes for run_id, notes in read if notes != RunNotes()}


def write_notes(db: Db, run_id: str, notes: RunNotes) -> bool:
    """Put these in place of what was said of a run; false if there is no such run."""
    return db.execute(_WRITE, (blob(encode(notes, sparse=True)), run_id)).rowcount == 1


def read_trial_notes(database: Database, run_id: str) -> dict[int, TrialNotes]:
    """Return the words about trials of a run, by their places in the plan.

    Raises:
        StoreError: the database cannot be read, or a note in it.
    """
    with database.reader() as link:
        if link is None:
            return {}
        rows = link.run(lambda db: db.execute(_READ_TRIALS, (run_id,), binary=True).fetchall())
    subject = f"{database}: the notes of trial {{}} of run {run_id}"
    read = (
        (ordinal, decode(TrialNotes, body, extra="ignore", subject=subject, place=ordinal)) for ordinal, body in rows
    )
    return {ordinal: notes for ordinal, notes in read if notes != TrialNotes()}


def write_trial_notes(db: Db, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
    """Put these in place of what was said of a trial; false if it has no result."""
    return db.execute(_WRITE_TRIAL, (blob(encode(notes, sparse=True)), run_id, ordinal)).rowcount == 1
