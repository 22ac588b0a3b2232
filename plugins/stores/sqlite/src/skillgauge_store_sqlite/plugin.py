"""Announces the store; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from skillgauge.api import Provider, Store, Traits, hookimpl

from .options import SqliteOptions


def _make(options: BaseModel) -> Store:
    from .store import SqliteStore  # noqa: PLC0415 - sqlite3 is loaded only by a run that uses it

    return SqliteStore(SqliteOptions.model_validate(options))


@hookimpl
def skillgauge_stores() -> Iterator[Provider[Store]]:
    """Announce the store `sqlite`."""
    yield Provider(
        name="sqlite",
        options=SqliteOptions,
        factory=_make,
        summary="One SQLite file: resumes after a kill, keeps the history.",
        traits=Traits(schemes=("file",)),
    )
