"""Parts of an answer of a model's API, whatever it put there."""

from __future__ import annotations

from typing import Any

from skillgauge.api import Usage


def dig(document: object, *path: str | int) -> Any:
    """Return the value at a place of a document; `None` if there is none."""
    for step in path:
        if isinstance(step, str) and isinstance(document, dict):
            document = document.get(step)
        elif isinstance(step, int) and isinstance(document, list) and len(document) > step:
            document = document[step]
        else:
            return None
    return document


def count(value: object) -> int | None:
    """A number of tokens; `None` if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None


def amount(value: object) -> float | None:
    """A sum of money; `None` if it is none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < 10**9 else None


def known(usage: Usage) -> Usage | None:
    """Usage that says something: nobody answers without reading a token."""
    nothing = not usage.input_tokens and not usage.output_tokens and not usage.cache_read_tokens
    return None if nothing and not usage.total_tokens else usage


def written(text: object) -> str | None:
    """A text that can be stored, half surrogate pairs replaced; `None` if it is none."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) and text else None
