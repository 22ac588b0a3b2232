"""The faults that a document as such can have, with their places. Shared by the modules of this package."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Step: TypeAlias = str | int
Pointer: TypeAlias = tuple[Step, ...]
"""Keys and indices from the root of a document down to a value."""

MAX_DEPTH = 100
"""Deeper nesting is refused, so that recursion stays bounded."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a document."""

    code: str
    """Stable name, for example `duplicate-key`."""
    message: str
    line: int | None = None
    """Counted from 1, as editors do; `None` if it is the file as a whole."""
    column: int | None = None
    hint: str | None = None
    """The next step for the reader, as a complete imperative sentence."""


class DocumentError(ValueError):
    """A file or text that is no document; carries all faults that were found at once."""

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("\n".join(f"{one.line or ''}:{one.column or ''}: {one.message}" for one in self.faults))


def place_at(text: str, offset: int) -> tuple[int, int]:
    """The line and column of an offset, counted in characters."""
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - line_start + 1


class Lines:
    """The lines of a text, for the places of many offsets in it: each is found in a time that does not grow with it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] = []

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, counted in characters; the same as `place_at`."""
        if not self._starts:
            self._starts = [0, *(feed.end() for feed in re.finditer("\n", self._text))]
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def too_deep(line: int | None = None, column: int | None = None) -> Fault:
    """Nesting beyond what values may have."""
    return Fault("too-deep", f"nested deeper than {MAX_DEPTH} levels", line, column)


def duplicate_key(key: str, line: int, column: int) -> Fault:
    """The second of two equal keys."""
    return Fault("duplicate-key", f"key {key!r} is given twice", line, column, "Remove or rename one of the two.")


def no_number(text: str, line: int, column: int) -> Fault:
    """Infinite, not a number at all, or too long to be read."""
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    return Fault("number", f"{shown} is no number that a JSON value can hold", line, column)


def has_half_pair(text: str) -> bool:
    """Tell whether a text holds half a surrogate pair."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def half_pair(line: int, column: int) -> Fault:
    """A character escape that no UTF-8 text can hold."""
    return Fault("encoding", "contains half a surrogate pair, which cannot be written as UTF-8", line, column)
