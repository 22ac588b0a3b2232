"""JSON values as text, as JSON has it or as JavaScript writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum

from .values import JsonValue


class TextStyle(StrEnum):
    """The way in which a value other than a text is written as text."""

    JSON = "json"
    """As compact JSON."""
    JAVASCRIPT_JSON = "javascript-json"
    """As compact JSON with numbers as JavaScript writes them: 25.0 as `25`, 1e-07 as `1e-7`."""
    JAVASCRIPT = "javascript"
    """As JavaScript's `String(value)`: a list as its items with commas between, an object as `[object Object]`."""


def text_of(value: JsonValue, style: TextStyle = TextStyle.JSON) -> str:
    """A value as text: text as it is, anything else as the style says.

    >>> [text_of(value, TextStyle.JAVASCRIPT) for value in (None, 25.0, 1e21, (1, None, (2, 3)), {"a": 1}, "25.0")]
    ['null', '25', '1e+21', '1,,2,3', '[object Object]', '25.0']
    """
    if isinstance(value, str):
        return value
    if style is TextStyle.JAVASCRIPT and isinstance(value, Mapping):
        return "[object Object]"
    if style is TextStyle.JAVASCRIPT and isinstance(value, tuple):
        return ",".join("" if item is None else text_of(item, style) for item in value)
    return _compact(value) if style is TextStyle.JSON else _javascript(value)


def _javascript(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{_compact(key)}:{_javascript(item)}' for key, item in value.items())}}}"
    if isinstance(value, tuple):
        return f"[{','.join(map(_javascript, value))}]"
    if not isinstance(value, float):
        return _compact(value)
    if value and not 1e-6 <= abs(value) < 1e21:
        return repr(value).replace("e-0", "e-")
    text = format(Decimal(repr(value)), "f") if value else "0"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
