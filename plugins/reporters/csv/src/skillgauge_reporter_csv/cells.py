"""Cells and lines of a table: quoted as RFC 4180 wants it, and nothing that a spreadsheet runs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from skillgauge.api import printed

_FORMULA = re.compile(r"(^|;)(?=[\s\"']*[=+\-@＝＋－＠]|\t)")
"""Before what a spreadsheet takes for a formula: at the beginning of a cell, whatever blanks and quotes it passes over,
and within one after a semicolon, at which readers of many countries split a line whatever is quoted."""
_QUOTED = re.compile(r'[",\r\n]')


def line(cells: Iterable[str]) -> bytes:
    """Return a line of a table."""
    return (",".join(_quoted(cells)) + "\n").encode()


def _quoted(cells: Iterable[str]) -> Iterator[str]:
    """RFC 4180. The csv module of Python 3.11 leaves a lone carriage return unquoted."""
    for cell in cells:
        yield '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell


def text(value: str | None) -> str:
    """Text from outside as one line that no spreadsheet takes for a formula; empty if unknown."""
    return _FORMULA.sub(r"\1'", printed(re.sub(r"[\r\n]+", " ", value or "")))


def share(value: float | None) -> str:
    """A number with four decimals; empty if unknown."""
    return "" if value is None else f"{value:.4f}"


def milliseconds(figure: float | None, seconds: float | None) -> str:
    """Whole milliseconds: the format's own figure, else ours."""
    if figure is not None:
        return f"{figure:.0f}"
    return "" if seconds is None else str(math.floor(seconds * 1000 + 0.5))
