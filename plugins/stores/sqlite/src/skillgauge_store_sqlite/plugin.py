"""Announces the store; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge.api import Provider, Store, Traits, hookimpl

from .options import SqliteOptions


@hookimpl
def skillgauge_stores() -> Iterator[Provider[Store]]:
    """Announce the store `sqlite`."""
    yield Provider(
        name="sqlite",
        options=SqliteOptions,
        factory="skillgauge_store_sqlite.front:StoreInFile",
        summary="One SQLite file: resumes after a kill, keeps the history.",
        traits=Traits(schemes=("file",)),
    )
