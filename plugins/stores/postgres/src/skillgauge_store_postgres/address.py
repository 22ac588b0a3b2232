"""The address of a database: read, refused if it holds a password, and shown in messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from skillgauge.api import secret
from skillgauge_stored_runs import trouble

from .options import PostgresOptions

_PASSWORDS = ("password", "sslpassword", "oauth_client_secret")
_NO_ADDRESS = ("", "postgresql://", "postgres://")
_SETTINGS: Mapping[str, Any] = {
    "application_name": "skillgauge",
    "connect_timeout": 10,
    # A peer that vanished is noticed within half a minute: without that its socket stays open for hours.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


@dataclass(frozen=True)
class Address:
    """The place of a database, and how to get in."""

    shown: str
    """For messages."""
    settings: Mapping[str, Any] = field(repr=False)
    """For libpq, with what this program wants where the user says nothing."""
    password_secret: str | None = None

    def parameters(self) -> dict[str, Any]:
        """Return what a new connection gets, with the password if a secret holds it.

        Raises:
            StoreError: there is no such secret.
        """
        if self.password_secret is None:
            return dict(self.settings)
        password = secret(self.password_secret)
        if not password:
            message = (
                f"the password of {self.shown} is to come from the secret {self.password_secret}, which is not set"
            )
            raise trouble("store.no-password", message, f"Set {self.password_secret}, or use a PGPASSFILE.")
        return {**self.settings, "password": password}


def address_of(options: PostgresOptions) -> Address:
    """Read the address in the options.

    Raises:
        StoreError: it cannot be read, or it holds a password.
    """
    chosen = options.dsn if options.location in _NO_ADDRESS else options.location
    try:
        settings: Mapping[str, Any] = conninfo_to_dict(chosen)
    except psycopg.ProgrammingError:
        # The reason that libpq gives may quote a password.
        message = "the address of the PostgreSQL database cannot be read"
        hint = "Write it as postgresql://USER@HOST:PORT/DATABASE, with %XX for odd characters."
        raise trouble("store.address", message, hint) from None
    if any(settings.get(name) for name in _PASSWORDS):
        message = "the address of the PostgreSQL database holds a password, which would be kept in reports and logs"
        hint = "Leave it out, and give it in a PGPASSFILE, or name its secret: stores.postgres.password_secret=NAME."
        raise trouble("store.password", message, hint)
    return Address(_shown(settings), {**_SETTINGS, **settings}, options.password_secret)


def _shown(settings: Mapping[str, Any]) -> str:
    if service := settings.get("service"):
        return f"PostgreSQL service {service!r}"
    host = str(settings.get("host") or settings.get("hostaddr") or "")
    port = f":{settings['port']}" if settings.get("port") else ""
    database = settings.get("dbname")
    name = f"PostgreSQL database {database!r}" if database else "the PostgreSQL database"
    return f"{name} at {host}{port}" if host else name
