"""The tables, as an ordered list of changes.

The version of a database is the number of scripts that were applied to it. A script that was released is never edited;
a change of the tables is a new script at the end.

All of it lies in a schema of its own. A result is found by run and place in the plan; the texts that group results are
stored once a group, and what is known of a case once, not with each of its results. A `body` is JSON, compressed by
zlib if it is long. It is no `jsonb`, which refuses the character NUL and changes numbers, and no `text` for the sake of
the long ones. What an agent did step by step is most of a long result, and is stored apart, in `trajectory`. `kept`
holds executions that are not graded yet, with the files of their workspaces; what is dropped loses its body, since
roles that write runs may not delete. `owners` counts how often a run was taken by a process: see `ownership`. `commits`
numbers the results of a run as they were committed, and `sessions` says which paid trials are under way, for those who
watch it: no row is deleted there, either. `run_notes` holds what people say of a run, and `trial_notes` what they say
of a trial. `service_shares` holds the sessions of runs at services that they share; a row of `services`, which also
says until when one of these asked to be left alone, is locked while a share changes. Everything goes with its run,
except `budget_shares`: what runs have spent of budgets that they share, under rows of `budgets`.
"""

from __future__ import annotations

APPLICATION = "skillgauge runs"
"""Says in the table `meta` whose schema it is."""
SCHEMA = "skillgauge"

MIGRATIONS: tuple[str, ...] = (
    """
CREATE TABLE meta (
    application text NOT NULL,
    version integer NOT NULL
);

CREATE TABLE runs (
    run integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text NOT NULL UNIQUE,
    plan_id text NOT NULL,
    schema_version text NOT NULL,
    state text NOT NULL,
    started_at double precision NOT NULL,
    finished_at double precision,
    resumes integer NOT NULL DEFAULT 0,
    superseded boolean NOT NULL DEFAULT false,
    head bytea NOT NULL,
    summary bytea
);
CREATE INDEX runs_by_plan ON runs (plan_id);
CREATE INDEX runs_by_start ON runs (started_at, run);

CREATE TABLE owners (
    run integer PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    token bigint NOT NULL,
    role text NOT NULL,
    host text NOT NULL,
    since timestamptz NOT NULL
);

CREATE TABLE attempts (
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    ordinal bigint NOT NULL,
    trial_id bytea NOT NULL,
    attempts integer NOT NULL,
    nonce uuid NOT NULL,
    claimed_at timestamptz NOT NULL,
    PRIMARY KEY (run, ordinal)
);

CREATE TABLE groups (
    grp integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    suite_id text NOT NULL,
    target_id text,
    arm text NOT NULL,
    runner text NOT NULL,
    model text
);
CREATE INDEX groups_by_run ON groups (run);

CREATE TABLE results (
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    ordinal bigint NOT NULL,
    grp integer NOT NULL REFERENCES groups ON DELETE CASCADE,
    case_index integer NOT NULL,
    repeat integer NOT NULL,
    trial_id bytea NOT NULL,
    verdict text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (run, ordinal)
);
CREATE INDEX results_by_case ON results (grp, case_index, repeat, ordinal);
CREATE INDEX results_by_group ON results (grp, ordinal);
ALTER TABLE results ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE cases (
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    suite_id text NOT NULL,
    case_index integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (run, suite_id, case_index)
);
ALTER TABLE cases ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE spending (
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    ordinal bigint NOT NULL,
    claim integer NOT NULL,
    trial_id bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (run, ordinal, claim)
);
""",
    """
CREATE TABLE kept (
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    ordinal bigint NOT NULL,
    trial_id bytea NOT NULL,
    body bytea,
    PRIMARY KEY (run, ordinal)
);
ALTER TABLE kept ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX kept_with_body ON kept (run) WHERE body IS NOT NULL;
""",
    """
CREATE INDEX results_by_verdict ON results (grp, verdict);

CREATE TABLE commits (
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    place bigint NOT NULL,
    ordinal bigint NOT NULL,
    PRIMARY KEY (run, place)
);
INSERT INTO commits SELECT run, ordinal + 1, ordinal FROM results;

CREATE TABLE sessions (
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    ordinal bigint NOT NULL,
    has_ended boolean NOT NULL DEFAULT false,
    body bytea NOT NULL,
    PRIMARY KEY (run, ordinal)
);
CREATE INDEX sessions_under_way ON sessions (run, ordinal) WHERE NOT has_ended;
""",
    """
CREATE TABLE run_notes (
    run integer PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    body bytea NOT NULL
);
""",
    """
CREATE TABLE trial_notes (
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    ordinal bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (run, ordinal)
);
""",
    """
CREATE TABLE budgets (
    name text NOT NULL,
    period text NOT NULL,
    PRIMARY KEY (name, period)
);

CREATE TABLE budget_shares (
    name text NOT NULL,
    period text NOT NULL,
    run_id text NOT NULL,
    spent_usd double precision NOT NULL,
    sessions integer NOT NULL,
    dearest_usd double precision,
    PRIMARY KEY (name, period, run_id)
);
""",
    """
CREATE TABLE services (
    name text PRIMARY KEY,
    paused_until timestamptz NOT NULL
);

CREATE TABLE service_shares (
    name text NOT NULL,
    run integer NOT NULL REFERENCES runs ON DELETE CASCADE,
    sessions integer NOT NULL,
    waits boolean NOT NULL,
    PRIMARY KEY (name, run)
);
CREATE INDEX service_shares_in_use ON service_shares (name) WHERE sessions > 0 OR waits;
""",
    """
ALTER TABLE results ADD COLUMN trajectory bytea;
ALTER TABLE results ALTER COLUMN trajectory SET STORAGE EXTERNAL;
""",
)
