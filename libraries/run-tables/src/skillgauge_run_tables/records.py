"""Runs as flat records: what `skillgauge.runs` returns."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skillgauge.api import plain
from skillgauge.api.report import UNKNOWN, stamp

from .columns import Column, columns_of, json_schema
from .places import Place, Selection, read_runs
from .projections import PROJECTIONS, Row, SourcedRun, first_rows
from .tables import Table, html_table, paper_table

_SHOWN = 20
"""Records that a notebook shows."""
_CELL = 80
"""Characters of a cell in a notebook."""


@dataclass(frozen=True)
class Records:
    """Records of one kind: dictionaries, made anew each time that they are iterated, so that they may be many."""

    kind: str
    """`runs`, `groups`, `comparisons`, `cases`, `trials` or `checks`."""
    read: Callable[[], Generator[SourcedRun]]
    """Reads the runs; a store is open until the generator is closed."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in their order."""
        return columns_of(self.kind)

    def __iter__(self) -> Generator[dict[str, Any]]:
        names = [column.name for column in self.columns]
        with closing(self.read()) as found:
            for row in chain.from_iterable(map(PROJECTIONS[self.kind], found)):
                yield {name: row[name] for name in names}

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a record."""
        return json_schema(self.kind)

    def to_json_lines(self) -> Iterator[str]:
        """Yield each record as a line of JSON."""
        return (json.dumps(row, default=_as_json, ensure_ascii=False) + "\n" for row in self)

    def to_pandas(self) -> Any:
        """Return a data frame with typed columns; needs `skillgauge[data]`."""
        import skillgauge  # noqa: PLC0415 - the function is of another distribution, found when it is asked for

        return skillgauge.to_pandas(self)

    def to_parquet(self, path: str | os.PathLike[str]) -> Path:
        """Write a Parquet file with typed columns and return its path; needs `skillgauge[data]`."""
        import skillgauge  # noqa: PLC0415 - as above

        written: Path = skillgauge.to_parquet(self, path)
        return written

    def _repr_html_(self) -> str:
        """Return the first records as a table, each run and case with a link to where it can be read."""
        with closing(iter(self)) as every_row:
            rows, has_more = first_rows(every_row, _SHOWN)
        links = _Links({run.run_id: run for run in self.read()} if rows else {})
        heads = [column.name for column in self.columns if any(row[column.name] is not None for row in rows)]
        cells = [[links.cell(row, name) for name in heads] for row in rows]
        notes = [f"The first {_SHOWN} records; iterate for all of them."] if has_more else []
        if not rows:
            notes = ["No records."]
        return html_table(heads, cells, notes)


class Runs(Records):
    """Runs; iterated, it yields a record for each. Its methods give the records of what is in them."""

    def groups(self) -> Records:
        """Return the groups of the runs with their rates: one suite, target, arm, engine and model each."""
        return Records("groups", self.read)

    def comparisons(self) -> Records:
        """Return the comparisons of two arms with their lifts."""
        return Records("comparisons", self.read)

    def cases(self) -> Records:
        """Return the cases, once for each group."""
        return Records("cases", self.read)

    def trials(self) -> Records:
        """Return the trials."""
        return Records("trials", self.read)

    def checks(self) -> Records:
        """Return the results of checks."""
        return Records("checks", self.read)

    def table(self) -> Table:
        """Return a table for a paper: a row for each skill, engine and model, with intervals."""
        return paper_table(list(self.groups()), list(self.comparisons()), list(self))


def runs(*places: Place, suite: str | None = None, target: str | None = None, limit: int | None = None) -> Runs:
    """Return runs as flat records, newest first.

    Nothing is read before the records are iterated, and each iteration reads anew.

    Args:
        *places: files or addresses of stores, documents that a reporter reads, folders of them, or runs that
            `evaluate` returned. None is the store of the configuration.
        suite: only runs of the suite of this id.
        target: only runs of the target of this id, as a skill is one.
        limit: only the newest so many.
    """
    selection = Selection(suite, target, limit)
    return Runs("runs", lambda: read_runs(places, selection))


def _as_json(value: object) -> str:
    assert isinstance(value, datetime)
    return value.isoformat()


@dataclass(frozen=True)
class _Links:
    """Makes cells with links.

    Args:
        runs: by their ids.
    """

    runs: Mapping[str, SourcedRun]

    def cell(self, row: Row, name: str) -> str:
        """Return a cell as HTML."""
        shown = escape(plain(_worded(row[name]), _CELL))
        address = self._address(row, name)
        return f'<a href="{escape(address)}">{shown}</a>' if address else shown

    def _address(self, row: Row, name: str) -> str:
        """Return the address at which a run, or a case of it, can be read; empty if its page is not to be found."""
        run = self.runs.get(row["run_id"])
        page = page_of(run) if run and name in ("run_id", "case_id") else None
        if run is None or page is None:
            return ""
        address = quote(Path(os.path.relpath(page)).as_posix())
        suites = [suite.id for suite in run.view.head.suites]
        if name == "run_id" or "case_index" not in row or row["suite_id"] not in suites:
            return address
        return f"{address}#case-{suites.index(row['suite_id']) + 1}-{row['case_index']}"


def page_of(run: SourcedRun) -> Path | None:
    """Return the page of a run: beside its document, as `a.html` beside `a.record.json`, or among the reports here."""
    document = Path(run.source)
    if document.name.endswith(".json"):
        beside = document.with_name(f"{document.name.removesuffix('.json').removesuffix('.record')}.html")
        return beside if beside.is_file() else None
    pages = Path("reports").glob(f"*-{stamp(run.view.run.started_at)}.html")
    return next(iter(sorted(pages)), None)


def _worded(value: object) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
