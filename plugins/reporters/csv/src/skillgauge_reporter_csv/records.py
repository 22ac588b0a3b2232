"""Records of a run as rows of cells."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from skillgauge.api.report import RunView
from skillgauge_run_tables import PROJECTIONS, SourcedRun, columns_of

from .cells import text


def records(view: RunView, kind: str) -> Iterator[tuple[str, ...]]:
    """Yield the names of the columns of a kind of record, then each record."""
    names = tuple(column.name for column in columns_of(kind))
    yield names
    for row in PROJECTIONS[kind](SourcedRun(view, source="", is_own=None)):
        yield tuple(_cell(row[name]) for name in names)


def _cell(value: object) -> str:
    """Return a value of a record: numbers in full, `true` or `false`, moments as ISO 8601, empty if unknown."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case str():
            return text(value)
    return repr(value)
