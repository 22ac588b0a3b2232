"""The options of the store."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen


class PostgresOptions(Frozen):
    """Options of the store `postgres`."""

    location: str = Field(
        default="postgresql://",
        description="Address of the database, as `--store` gives it: `postgresql://USER@HOST:PORT/DATABASE`, without a "
        "password. With nothing behind the slashes `dsn` counts.",
    )
    dsn: str = Field(
        default="",
        description="Address of the database where `--store` names none, in either form that libpq reads, without a "
        "password; what it leaves out comes from libpq's own variables (PGHOST, PGDATABASE, PGSERVICE, PGSSLMODE).",
    )
    password_secret: str | None = Field(
        default=None,
        description="Name of the secret that holds the password: an environment variable, or what an extension of this "
        "run resolves. Without it libpq looks where it always does (PGPASSFILE, ~/.pgpass, PGPASSWORD).",
    )
    reconnect_s: float = Field(
        default=60.0,
        ge=0,
        le=3600,
        description="Seconds for which a lost connection is made again before the run ends, resumable.",
    )
