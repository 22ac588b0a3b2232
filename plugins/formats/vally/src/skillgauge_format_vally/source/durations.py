"""Durations as people write them: `90s`, `2m`, `1m30s`."""

from __future__ import annotations

import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(?:(ms)|(s)(?:ecs?|econds?)?|(m)(?:ins?|inutes?)?|(h)(?:rs?|ours?)?)\s*")
_WHOLE = re.compile(rf"\s*(?:{_PART.pattern})+")
_NUMBER = re.compile(r"\s*\d+(?:\.\d+)?\s*")
_LIKELY_MILLISECONDS = 10_000


def has_unit(written: str | float) -> bool:
    """Tell whether a duration says in which unit it is."""
    return isinstance(written, str) and not _NUMBER.fullmatch(written)


def seconds_of(written: str | float) -> float:
    """Return the seconds of a duration; a number without a unit is one of seconds.

    Raises:
        ValueError: it is no duration, or is likely to be meant otherwise; with the reason.
    """
    if not has_unit(written):
        seconds = float(written)
        if seconds >= _LIKELY_MILLISECONDS:
            raise ValueError(f"{written} without a unit would be seconds, and is likely to be meant as milliseconds")
    elif _WHOLE.fullmatch(str(written)):
        parts = _PART.findall(str(written))
        seconds = sum(float(number) * _UNITS["".join(units)] for number, *units in parts)
    else:
        raise ValueError(f"{written!r} is no duration")
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{written!r} is no length of time")
    return round(seconds, 6)


def duration_text(seconds: float) -> str:
    """Return a number of seconds as it is written in a file."""
    number, unit = (seconds, "s") if seconds == round(seconds, 3) else (seconds * 1000, "ms")
    return f"{f'{number:.3f}'.rstrip('0').rstrip('.')}{unit}"
