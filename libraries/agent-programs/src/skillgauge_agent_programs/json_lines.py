"""Lines of a program's event stream: each a JSON object, or noise that is passed over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from skillgauge.api import JsonValue, freeze

TEXT_CHARACTERS = 100_000
"""Of one text of an event; a longer one is cut in its middle."""


def parse_line(line: bytes) -> Mapping[str, JsonValue] | None:
    """The object in a line; `None` if there is none, for any reason."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_constant=lambda _name: None)
        if b"\\ud" in line.lower():  # half of a surrogate pair can be written so, and is no text
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        return cast("Mapping[str, JsonValue]", freeze(value))
    except (ValueError, RecursionError):
        return None


def dig(value: JsonValue, *path: str) -> JsonValue:
    """Return the value at a path of keys; `None` if there is none."""
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def text_at(value: JsonValue, *path: str) -> str | None:
    """The text at a path; `None` if there is none."""
    item = dig(value, *path)
    return item if isinstance(item, str) else None


def count_at(value: JsonValue, *path: str) -> int | None:
    """The number at a path, if it can be a count."""
    item = dig(value, *path)
    return item if isinstance(item, int) and not isinstance(item, bool) and item >= 0 else None


def items_at(value: JsonValue, *path: str) -> tuple[JsonValue, ...]:
    """The items of the list at a path; none if there is no list."""
    item = dig(value, *path)
    return item if isinstance(item, tuple) else ()


def texts_at(value: JsonValue, *path: str) -> tuple[str, ...]:
    """The texts in the list at a path."""
    return tuple(item for item in items_at(value, *path) if isinstance(item, str))


def bounded_text(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """A text, cut in its middle with the cut said if it is longer than the limit."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def bounded(value: JsonValue) -> JsonValue:
    """A value whose long texts are cut."""
    if isinstance(value, str):
        return bounded_text(value)
    if isinstance(value, Mapping):
        return {key: bounded(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(bounded(item) for item in value)
    return value
