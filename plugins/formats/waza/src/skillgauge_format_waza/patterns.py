"""Patterns that waza has no word of its own for."""

from __future__ import annotations

import re


def any_of(texts: tuple[str, ...]) -> str:
    """A pattern that finds one of several texts."""
    return "|".join(map(re.escape, texts))


def nowhere(pattern: str) -> str:
    """A pattern that is found in what has no place that fits another."""
    return rf"{_NOWHERE}{pattern}))"


_NOWHERE = r"\A(?!(?s:.*)(?:"


def forbidden(pattern: str) -> str | None:
    """The pattern that may not be found; `None` if it is another kind of pattern."""
    return pattern.removeprefix(_NOWHERE)[:-2] if pattern.startswith(_NOWHERE) else None
