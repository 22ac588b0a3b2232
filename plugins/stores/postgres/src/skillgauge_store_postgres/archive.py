"""Takes in runs that were carried out elsewhere, with the times that they had there."""

from __future__ import annotations

from itertools import islice
from typing import Any

import psycopg

from skillgauge.api.report import RunState, RunView
from skillgauge_stored_runs import Group, encode, trouble

from .rows import blob, body_of, case_rows, write_cases, write_results

Db = psycopg.Connection[tuple[Any, ...]]

_BATCH = 200
_RUN = """INSERT INTO runs (run_id, plan_id, schema_version, state, started_at, finished_at, resumes, head, summary)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (run_id) DO NOTHING RETURNING run"""


def keep_run(db: Db, view: RunView) -> bool:
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
    with db.transaction():
        row = (
            info.run_id,
            view.head.plan_id,
            view.head.schema_version,
            info.state.value,
            info.started_at,
            info.finished_at,
            int(info.resumed),
            blob(encode(view.head)),
            blob(encode(view.summary)),
        )
        inserted = db.execute(_RUN, row).fetchone()
        if inserted is None:
            return False
        run = int(inserted[0])
        cases = view.cases()
        while case_batch := list(islice(cases, _BATCH)):
            write_cases(db, run, case_rows(case_batch))
        results, groups = view.results(), dict[Group, int]()
        while batch := list(islice(results, _BATCH)):
            bodies = [body_of(result) for result in batch]
            if not write_results(db, run, batch, bodies, groups):
                raise trouble("store.plan-mismatch", f"run {info.run_id} has two trials at one place of its plan")
    return True
