"""Text and numbers as these commands print them."""

from __future__ import annotations

from collections.abc import Sequence

_JOINERS = "\u200c\u200d"
"""They print nothing either, but some scripts need them."""
UNKNOWN = "unknown"


def plain(text: str) -> str:
    """Text from a file as one line that cannot change what a terminal shows."""
    line = " ".join(text.split())
    return "".join(one if one.isprintable() or one in _JOINERS else "\N{REPLACEMENT CHARACTER}" for one in line)


def percent(share: float | None) -> str:
    """A share from 0 to 1 as percent with one decimal."""
    return UNKNOWN if share is None else f"{share:.1%}"


def milliseconds(value: float | None) -> str:
    """A latency."""
    return UNKNOWN if value is None else f"{value:.0f} ms"


def counted(count: int, what: str) -> str:
    """A number of things: `1 skill`, `2 skills`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], limit: int = 10) -> str:
    """Names in one line, the first ones if there are many."""
    shown = ", ".join(plain(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
