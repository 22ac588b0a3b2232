"""Announces the store; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge.api import Provider, Store, Traits, hookimpl

from .options import PostgresOptions


@hookimpl
def skillgauge_stores() -> Iterator[Provider[Store]]:
    """Announce the store `postgres`."""
    yield Provider(
        name="postgres",
        options=PostgresOptions,
        factory="skillgauge_store_postgres.store:PostgresStore",
        summary="A PostgreSQL database: one history for a team, resumable from any machine.",
        traits=Traits(schemes=("postgresql", "postgres"), secrets=("PGPASSWORD",)),
    )
