"""JSON values as text, the way JavaScript's `String(value)` writes them: eval-skills benchmarks rely on it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from skillgauge.api import JsonValue

WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's `trim` takes away; `str.strip` differs at the edges."""
_LARGEST_PLAIN = 21
"""Numbers from ten to this power on are written with an exponent."""
_SMALLEST_PLAIN = -7
"""Numbers below ten to one more than this power are written with an exponent."""


def as_text(value: JsonValue) -> str:
    """The text of a JSON value.

    >>> [as_text(value) for value in (True, None, 25.0, 1e21, (1, None, (2, 3)), {"a": 1}, "25.0")]
    ['true', 'null', '25', '1e+21', '1,,2,3', '[object Object]', '25.0']
    """
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return "[object Object]"
    return ",".join("" if item is None else as_text(item) for item in value)


def _number(value: float) -> str:
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)  # where the decimal point stands, counted from the first digit
    minus = "-" if sign else ""
    if point > _LARGEST_PLAIN or point <= _SMALLEST_PLAIN + 1:
        rest = f".{text[1:]}" if len(text) > 1 else ""
        return f"{minus}{text[0]}{rest}e{point - 1:+d}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    if point >= len(text):
        return f"{minus}{text}{'0' * (point - len(text))}"
    return f"{minus}{text[:point]}.{text[point:]}"
