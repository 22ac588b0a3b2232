"""Problems of documents as such, with their places. Shared by the modules of this package."""

from __future__ import annotations

from typing import TypeAlias

from ..errors import Problem, SourceSpan
from ..types.frozen import MAX_DEPTH

Step: TypeAlias = str | int
Pointer: TypeAlias = tuple[Step, ...]


def problem(code: str, message: str, span: SourceSpan, hint: str | None = None) -> Problem:
    """A problem of the family `document.*`."""
    return Problem(f"document.{code}", message, span=span, hint=hint)


def span_at(file: str, text: str, offset: int) -> SourceSpan:
    """The line and column of an offset, counted in characters."""
    line_start = text.rfind("\n", 0, offset) + 1
    return SourceSpan(file, text.count("\n", 0, offset) + 1, offset - line_start + 1)


def too_deep(span: SourceSpan) -> Problem:
    """Nesting beyond what values may have."""
    return problem("too-deep", f"nested deeper than {MAX_DEPTH} levels", span)


def duplicate_key(key: str, span: SourceSpan) -> Problem:
    """The second of two equal keys."""
    return problem("duplicate-key", f"key {key!r} is given twice", span, "Remove or rename one of the two.")


def no_number(text: str, span: SourceSpan) -> Problem:
    """Infinite, not a number at all, or too long to be read."""
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    return problem("number", f"{shown} is no number that a JSON value can hold", span)


def has_half_pair(text: str) -> bool:
    """Whether a text holds half a surrogate pair."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def half_pair(span: SourceSpan) -> Problem:
    """A character escape that no UTF-8 text can hold."""
    return problem("encoding", "contains half a surrogate pair, which cannot be written as UTF-8", span)
