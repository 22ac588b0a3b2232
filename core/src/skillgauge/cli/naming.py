"""What groups are called on a terminal."""

from __future__ import annotations

from ..types.comparison import GroupKey
from ..types.result import GroupSummary

_NAME = 80
"""Characters of a name that are shown."""


def group_name(group: GroupSummary | GroupKey) -> str:
    """Target, arm and model of a group, as far as they tell it from others."""
    parts = [group.target_id, group.arm if group.arm != "direct" else None, group.model]
    return " · ".join(one_line(part) for part in parts if part)


def one_line(text: str) -> str:
    """Text from outside without line breaks and anything else that a terminal would obey, cut if it is long."""
    plain = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(text.split()))
    return plain if len(plain) <= _NAME else f"{plain[: _NAME - 1]}…"
