"""A spreadsheet saved as CSV: its cells, each with the place where it stands.

The module `csv` of Python knows the line on which a row ends and no columns, so the cells are read here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import Origin, Problem, SuiteError

MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Cell:
    """Text of a cell, and where it begins."""

    text: str
    origin: Origin


def read_sheet(path: Path) -> list[list[Cell]]:
    """Rows of cells; rows without any text are left out.

    Raises:
        SuiteError: the file cannot be read, or is no CSV.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SuiteError(Problem("acme.unreadable", str(error.strerror), origin=Origin(str(path)))) from None
    if len(content) > MOST_BYTES:
        text = f"the file has more than {MOST_BYTES // 1024**2} MiB"
        raise SuiteError(Problem("acme.too-large", text, origin=Origin(str(path), place=(1, 1))))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        hint = "Save it as CSV in UTF-8."
        raise SuiteError(
            Problem("acme.encoding", "the file is not UTF-8", origin=Origin(str(path), place=(line, 1)), hint=hint)
        ) from None
    return [row for row in _Reader(text, str(path)).rows() if any(cell.text for cell in row)]


def written(rows: Iterable[Iterable[str]]) -> bytes:
    """What a spreadsheet program would save."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


@dataclass
class _Reader:
    """Goes through a text once, and counts."""

    text: str
    file: str
    at: int = 0
    line: int = 1
    column: int = 1
    found: list[list[Cell]] = field(default_factory=list)

    def rows(self) -> list[list[Cell]]:
        """All of them."""
        self.text = self.text.replace("\r\n", "\n").replace("\r", "\n")
        while self.at < len(self.text):
            row = [self._cell()]
            while self._next() == ",":
                self._take(1)
                row.append(self._cell())
            self._take(1)  # the end of the line, if it is not that of the file
            self.found.append(row)
        return self.found

    def _cell(self) -> Cell:
        origin = Origin(self.file, place=(self.line, self.column))
        if self._next() != '"':
            ends = (self.text.find(mark, self.at) for mark in ",\n")
            return Cell(self._take(min((end for end in ends if end >= 0), default=len(self.text)) - self.at), origin)
        self._take(1)
        parts = []
        while True:
            end = self.text.find('"', self.at)
            if end < 0:
                raise SuiteError(Problem("acme.quotes", "a cell begins with a quote and never ends", origin=origin))
            parts.append(self._take(end - self.at))
            self._take(1)
            if self._next() != '"':
                break
            parts.append(self._take(1))
        if self._next() not in (",", "\n", ""):
            here = Origin(self.file, place=(self.line, self.column))
            raise SuiteError(Problem("acme.quotes", "text stands after the closing quote of a cell", origin=here))
        return Cell("".join(parts), origin)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self, count: int) -> str:
        taken = self.text[self.at : self.at + count]
        self.at += count
        if breaks := taken.count("\n"):
            self.line += breaks
            self.column = len(taken) - taken.rfind("\n")
        else:
            self.column += len(taken)
        return taken
