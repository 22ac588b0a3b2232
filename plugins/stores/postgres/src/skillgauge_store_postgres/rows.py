"""Results and cases as rows: the same for a run under way and for one that is taken in whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg

from skillgauge.api import CaseHead, TrialResult, UnderWay
from skillgauge_stored_runs import Group, compact, encode, group_of, packed, texts_of

Db = psycopg.Connection[tuple[Any, ...]]

_RESULTS = """INSERT INTO results
SELECT %s, * FROM unnest(
    %s::bigint[], %s::integer[], %s::integer[], %s::integer[], %b::bytea[], %s::text[], %b::bytea[],
    %b::bytea[])
ON CONFLICT (run, ordinal) DO UPDATE SET grp = excluded.grp, case_index = excluded.case_index,
repeat = excluded.repeat, verdict = excluded.verdict, body = excluded.body, trajectory = excluded.trajectory
WHERE results.trial_id = excluded.trial_id"""
_COMMITS = """INSERT INTO commits
SELECT %s, (SELECT coalesce(max(place), 0) FROM commits WHERE run = %s) + number, ordinal
FROM unnest(%s::bigint[]) WITH ORDINALITY AS committed (ordinal, number)"""
_CASES = """INSERT INTO cases SELECT %s, * FROM unnest(%s::text[], %s::integer[], %b::bytea[])
ON CONFLICT (run, suite_id, case_index) DO NOTHING"""
_SESSIONS = """INSERT INTO sessions SELECT %s, ordinal, false, body FROM unnest(%s::bigint[], %b::bytea[])
    AS begun (ordinal, body)
ON CONFLICT (run, ordinal) DO UPDATE SET body = excluded.body, has_ended = false"""
_NEW_GROUP = "INSERT INTO groups (run, suite_id, target_id, arm, runner, model) VALUES (%s, %s, %s, %s, %s, %s)"

CONTENT, FACTS = "body, trajectory", "body, NULL::bytea"
"""The columns of a result, with its trajectory and without it."""
_SIZES = {
    CONTENT: "octet_length(body) + coalesce(octet_length(trajectory), 0)",
    FACTS: "octet_length(body)",
}
CaseRow = tuple[str, int, bytes]
"""Suite, place in it, and the packed JSON."""
Body = tuple[bytes, bytes | None]
"""The packed JSON of a result, and of its trajectory if that is stored apart."""


def blob(text: str) -> bytes:
    """The JSON of a value as it is stored, compressed if it is long."""
    packed_text = packed(text)
    return packed_text.encode() if isinstance(packed_text, str) else packed_text


def within(size: int) -> Mapping[str, str]:
    """Columns of results by `CONTENT` and `FACTS`; or nothing where their texts are longer than that."""
    return {
        content: ", ".join(f"CASE WHEN {length} <= {size} THEN {column} END" for column in content.split(", "))
        for content, length in _SIZES.items()
    }


def body_of(result: TrialResult) -> Body:
    """The texts of a result as they are stored."""
    facts, trajectory = texts_of(result)
    return blob(facts), None if trajectory is None else blob(trajectory)


def key_of(trial_id: str) -> bytes:
    """A trial id as it is stored."""
    raw = compact(trial_id)
    return raw.encode() if isinstance(raw, str) else raw


def stored_name(name: str) -> str:
    """A text as a column holds it, which has no place for the character NUL."""
    return name.replace("%", "%25").replace("\0", "%00")


def name_of(stored: str) -> str:
    """The text that `stored_name` was given."""
    return stored.replace("%00", "\0").replace("%25", "%")


def group_from(columns: Sequence[Any]) -> Group:
    """The group of the columns that `columns_of` made."""
    suite_id, target_id, arm, runner, model = columns
    return (
        name_of(suite_id),
        None if target_id is None else name_of(target_id),
        name_of(arm),
        name_of(runner),
        None if model is None else name_of(model),
    )


def columns_of(group: Group) -> tuple[str | None, ...]:
    """The columns of a group as they are stored."""
    return tuple(None if text is None else stored_name(text) for text in group)


def write_results(
    db: Db, run: int, results: Sequence[TrialResult], bodies: Sequence[Body], groups: dict[Group, int]
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
    rows: dict[int, tuple[Any, ...]] = {}
    for result, body in zip(results, bodies, strict=True):
        number, trial_id = _group(db, run, group_of(result), groups), key_of(result.trial_id)
        place = (result.ordinal, number, result.case_index, result.repeat)
        if rows.get(result.ordinal, (0, 0, 0, 0, trial_id))[4] != trial_id:
            return False
        rows[result.ordinal] = (*place, trial_id, result.verdict.value, *body)
    if not rows:
        return True
    columns = [list(column) for column in zip(*rows.values(), strict=True)]
    db.execute(_COMMITS, (run, run, columns[0]))
    return db.execute(_RESULTS, (run, *columns)).rowcount == len(rows)


def drop_kept(db: Db, runs: Sequence[int]) -> None:
    """Drop the executions that runs keep, inside a transaction of the caller's."""
    db.execute("UPDATE kept SET body = NULL WHERE run = ANY(%s) AND body IS NOT NULL", (list(runs),))


def case_rows(cases: Iterable[CaseHead]) -> list[CaseRow]:
    """Cases as they are stored."""
    return [(stored_name(case.suite_id), case.index, blob(encode(case, sparse=True))) for case in cases]


def write_cases(db: Db, run: int, rows: Sequence[CaseRow]) -> None:
    """Insert cases of a run that are not there yet, inside a transaction of the caller's."""
    if rows:
        db.execute(_CASES, (run, *(list(column) for column in zip(*rows, strict=True))))


def begin_sessions(db: Db, run: int, sessions: Sequence[UnderWay]) -> None:
    """Tell others of paid trials that begin, inside a transaction of the caller's."""
    bodies = [blob(encode(one, sparse=True)) for one in sessions]
    db.execute(_SESSIONS, (run, [one.ordinal for one in sessions], bodies))


def end_sessions(db: Db, run: int, ordinals: Sequence[int]) -> None:
    """These have a result now; inside a transaction of the caller's."""
    db.execute(
        "UPDATE sessions SET has_ended = true, body = '' WHERE run = %s AND ordinal = ANY(%s) AND NOT has_ended",
        (run, list(ordinals)),
    )


def _group(db: Db, run: int, group: Group, groups: dict[Group, int]) -> int:
    """The number of a group."""
    if group not in groups:
        columns = "grp, suite_id, target_id, arm, runner, model"
        for number, *stored in db.execute(f"SELECT {columns} FROM groups WHERE run = %s", (run,)):
            groups[group_from(stored)] = number
    if group not in groups:
        row = db.execute(f"{_NEW_GROUP} RETURNING grp", (run, *columns_of(group))).fetchone()
        assert row is not None
        groups[group] = int(row[0])
    return groups[group]
