"""Results as rows: the same for a run under way and for one that is taken in whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from skillgauge.api import CaseHead, TrialResult
from skillgauge_stored_runs import Group, compact, encode, group_of, packed, texts_of

from .schema import ORDINAL_BITS, first_key

_RESULT = """INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET grp = excluded.grp, case_index = excluded.case_index, repeat = excluded.repeat,
verdict = excluded.verdict, body = excluded.body, trajectory = excluded.trajectory WHERE trial_id = excluded.trial_id"""
GROUP = "run = ? AND suite_id = ? AND target_id IS ? AND arm = ? AND runner = ? AND model IS ?"
"""Compares the run and the columns of a `Group`."""


Body = tuple[str | bytes, str | bytes | None]
"""The packed JSON of a result, and of its trajectory if that is stored apart."""


def body_of(result: TrialResult) -> Body:
    """The texts of a result as they are stored."""
    facts, trajectory = texts_of(result)
    return packed(facts), None if trajectory is None else packed(trajectory)


def write_results(
    db: sqlite3.Connection,
    run: int,
    results: Sequence[TrialResult],
    bodies: Sequence[Body],
    groups: dict[Group, int],
) -> bool:
    """Insert results of a run, or replace those of the same trials, inside a transaction of the caller's.

    Args:
        db: the writing connection.
        run: the run's number in the database.
        results: what to write.
        bodies: the texts of each, as `body_of` makes them.
        groups: numbers of groups that are known; new ones are added, and hold once the transaction has succeeded.

    Returns:
        False if there is another trial at the place of one of them, so that the transaction must not succeed.
    """
    rows = [
        (
            result_key(run, result.ordinal),
            _group(db, run, result, groups),
            result.case_index,
            result.repeat,
            compact(result.trial_id),
            result.verdict.value,
            *body,
        )
        for result, body in zip(results, bodies, strict=True)
    ]
    if not rows:
        return True
    (last,) = db.execute("SELECT coalesce(max(place), 0) FROM commits WHERE run = ?", (run,)).fetchone()
    db.executemany("INSERT INTO commits VALUES (?, ?, ?)", ((run, n, row[0]) for n, row in enumerate(rows, last + 1)))
    return db.executemany(_RESULT, rows).rowcount == len(rows)


def case_rows(cases: Iterable[CaseHead]) -> list[tuple[str, int, str | bytes]]:
    """Cases as they are stored: suite, place in it, and the packed JSON."""
    return [(case.suite_id, case.index, packed(encode(case, sparse=True))) for case in cases]


def write_cases(db: sqlite3.Connection, run: int, rows: Iterable[tuple[str, int, str | bytes]]) -> None:
    """Insert cases of a run that are not there yet, inside a transaction of the caller's."""
    db.executemany("INSERT OR IGNORE INTO cases VALUES (?, ?, ?, ?)", ((run, *row) for row in rows))


def drop_kept(db: sqlite3.Connection, run: int) -> None:
    """Drop the executions that a run keeps, inside a transaction of the caller's."""
    db.execute("DELETE FROM kept WHERE id >= ? AND id < ?", (first_key(run), first_key(run + 1)))


def result_key(run: int, ordinal: int) -> int:
    """The key of a run's result."""
    if not 0 <= ordinal < 1 << ORDINAL_BITS:
        raise ValueError(f"ordinal {ordinal} is no place in a plan")
    return first_key(run) + ordinal


def _group(db: sqlite3.Connection, run: int, result: TrialResult, groups: dict[Group, int]) -> int:
    """The number of a result's group."""
    key = group_of(result)
    number = groups.get(key)
    if number is None:
        columns = (run, *key)
        row = db.execute(f"SELECT grp FROM groups WHERE {GROUP}", columns).fetchone()
        if row is None:
            row = (db.execute("INSERT INTO groups VALUES (NULL, ?, ?, ?, ?, ?, ?)", columns).lastrowid,)
        number = groups[key] = int(row[0])
    return number
