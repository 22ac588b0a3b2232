"""The tables, as an ordered list of changes.

A database's version is the number of scripts that were applied to it. A script that was released is never edited;
a change of the tables is a new script at the end.

How rows are found decides the speed with a million results. A result's key is `run << 40 | ordinal`: results of a run
lie together in plan order, a batch is appended at the end of the table, and no index over random ids has to be kept up.
The texts that group results are stored once per group. A result's `body` is JSON, compressed by zlib and then a blob if
it is long: its column takes either. What an agent did step by step is most of a long result, and is stored apart, in
`trajectory`, so that lists and figures do without it. What is known of a case is stored once, not with each of its
results. What changes every few seconds (`owners`) stands apart from what is large (`runs`). `spending` holds what a
trial has used before it has a result, a row for each claim under the key of the result; a row whose result is there
counts no longer. `kept` holds executions that are not graded yet, with the files of their workspaces, under the key
that the result will have; a row goes with the result. `commits` numbers the results of a run as they were committed,
and `sessions` holds the paid trials that are under way: those who watch a run read these, and an index that counts
verdicts, and no body. `run_notes` holds what people say of a run, and `trial_notes` what they say of a trial, under the
key of its result. `budget_shares` holds what runs have spent of budgets that they share, and outlives them.
`service_shares` holds their sessions at services that they share, and `services` until when one of these asked to be
left alone.
"""

from __future__ import annotations

APPLICATION_ID = int.from_bytes(b"SKGA", "big")
"""Says in the file's header whose database it is."""

ORDINAL_BITS = 40

MIGRATIONS: tuple[str, ...] = (
    """
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    plan_id TEXT NOT NULL,
    schema_version TEXT NOT NULL,
    state TEXT NOT NULL,
    started_at REAL NOT NULL,
    finished_at REAL,
    resumes INTEGER NOT NULL DEFAULT 0,
    superseded INTEGER NOT NULL DEFAULT 0,
    head TEXT NOT NULL,
    summary TEXT
);
CREATE INDEX runs_by_plan ON runs (plan_id);

CREATE TABLE owners (
    run INTEGER PRIMARY KEY REFERENCES runs (run),
    token TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_start TEXT,
    lease_expires REAL NOT NULL
);

CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    trial_id BLOB NOT NULL,
    attempts INTEGER NOT NULL,
    claimed_at REAL NOT NULL
);

CREATE TABLE groups (
    grp INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (run),
    suite_id TEXT NOT NULL,
    target_id TEXT,
    arm TEXT NOT NULL,
    runner TEXT NOT NULL,
    model TEXT
);
CREATE INDEX groups_by_run ON groups (run, suite_id, target_id, arm, runner, model);

CREATE TABLE results (
    id INTEGER PRIMARY KEY,
    grp INTEGER NOT NULL REFERENCES groups (grp),
    case_index INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    trial_id BLOB NOT NULL,
    verdict TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX results_by_case ON results (grp, case_index, repeat);
""",
    """
CREATE TABLE cases (
    run INTEGER NOT NULL REFERENCES runs (run),
    suite_id TEXT NOT NULL,
    case_index INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, suite_id, case_index)
) WITHOUT ROWID;

CREATE INDEX results_by_group ON results (grp);
""",
    """
CREATE TABLE spending (
    id INTEGER NOT NULL,
    claim INTEGER NOT NULL,
    trial_id BLOB NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (id, claim)
) WITHOUT ROWID;
""",
    """
CREATE TABLE kept (
    id INTEGER PRIMARY KEY,
    trial_id BLOB NOT NULL,
    body TEXT NOT NULL
);
""",
    """
CREATE INDEX results_by_verdict ON results (grp, verdict);

CREATE TABLE commits (
    run INTEGER NOT NULL REFERENCES runs (run),
    place INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (run, place)
) WITHOUT ROWID;
INSERT INTO commits SELECT id >> 40, (id & 1099511627775) + 1, id FROM results;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
""",
    """
CREATE TABLE run_notes (
    run INTEGER PRIMARY KEY REFERENCES runs (run),
    body TEXT NOT NULL
);
""",
    """
CREATE TABLE trial_notes (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
""",
    """
CREATE TABLE budget_shares (
    name TEXT NOT NULL,
    period TEXT NOT NULL,
    run_id TEXT NOT NULL,
    spent_usd REAL NOT NULL,
    sessions INTEGER NOT NULL,
    dearest_usd REAL,
    PRIMARY KEY (name, period, run_id)
) WITHOUT ROWID;
""",
    """
CREATE TABLE services (
    name TEXT PRIMARY KEY,
    paused_until REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE service_shares (
    name TEXT NOT NULL,
    run_id TEXT NOT NULL,
    sessions INTEGER NOT NULL,
    waits INTEGER NOT NULL,
    PRIMARY KEY (name, run_id)
) WITHOUT ROWID;
""",
    """
ALTER TABLE results ADD COLUMN trajectory BLOB;
""",
)


def first_key(run: int) -> int:
    """The least key that a row of this run can have; keys of the next run begin at `first_key(run + 1)`."""
    return run << ORDINAL_BITS
