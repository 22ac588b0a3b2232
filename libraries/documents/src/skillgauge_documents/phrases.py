"""Numbers, differences and lists as people read them, the same in every report and on the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from .characters import plain

UNKNOWN = "–"
"""What stands for a number that nobody knows; it is never 0."""


def percent(share: float | None) -> str:
    """A share from 0 to 1 with one decimal; nothing but all is 100%, and nothing but none is 0%."""
    if share is None:
        return UNKNOWN
    if 0.9995 <= share < 1:
        return ">99.9%"
    return "<0.1%" if 0 < share < 0.0005 else f"{share * 100:.1f}%"


def decimal(value: float | None) -> str:
    """A number with two decimals."""
    return UNKNOWN if value is None else f"{value:.2f}"


def milliseconds(value: float | None) -> str:
    """Whole milliseconds."""
    return UNKNOWN if value is None else f"{value:.0f} ms"


def duration(seconds: float | None) -> str:
    """Milliseconds below a second, else seconds with one decimal."""
    if seconds is None:
        return UNKNOWN
    return milliseconds(seconds * 1000) if seconds < 1 else f"{seconds:.1f} s"


def short_time(text: str) -> str:
    """A time that is written out in one word, with a unit of `ms`, `s` or `m`: `5 minutes` is `5m`.

    Empty for what is no time, or none at all.
    """
    import re  # noqa: PLC0415 - this module is part of every start

    units = r"(?P<ms>ms|msecs?|millisec(?:ond)?s?)|(?P<s>s|sec(?:ond)?s?)|(?P<m>m|min(?:ute)?s?)|(?P<h>h|hrs?|hours?)"
    found = re.fullmatch(rf"(?P<number>\d+(?:\.\d+)?)\s*(?:{units})\.?", text.strip(), re.ASCII | re.IGNORECASE)
    if found is None or not float(found["number"]):
        return ""
    if found["h"]:
        return f"{float(found['number']) * 60:g}m"
    return f"{found['number']}{found.lastgroup}"


def moment(seconds: float) -> str:
    """Date and time in UTC of a number of seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def counted(count: int, what: str) -> str:
    """A number of things: `1 case`, `2 cases`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(names: Iterable[str], limit: int = 10) -> str:
    """Names in one line, the first ones if there are many."""
    plain_names = [plain(name) for name in names]
    shown = ", ".join(plain_names[:limit])
    return shown if len(plain_names) <= limit else f"{shown} and {len(plain_names) - limit} more"


def points(share: float | None) -> str:
    """A difference of rates in percentage points, with its sign."""
    return UNKNOWN if share is None else f"{signed_points(share)} points"


def signed_points(share: float, digits: int = 1) -> str:
    """A difference of rates in percentage points, without the unit; what is rounded to nothing has a plus."""
    return f"{round(share * 100, digits) + 0.0:+.{digits}f}"


def chance_text(chance: float) -> str:
    """Say how likely chance alone makes a difference."""
    return "p < 0.001" if chance < 0.001 else f"p = {chance:.3f}"
