"""The names by which users may call a kind of plugins."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import Problem, UsageError, did_you_mean
from ..plugins.kinds import KINDS

COMMANDS = "commands"
SINGULAR: Mapping[str, str] = {plural: kind.singular for plural, kind in KINDS.items()} | {COMMANDS: "command"}
"""Every kind, with its singular. A command needs no hook, so `KINDS` does not have it."""


def plural_of(kind: str) -> str:
    """The plural of a kind that a user named in either number.

    Raises:
        UsageError: there is no such kind.
    """
    for plural, singular in SINGULAR.items():
        if kind in (plural, singular):
            return plural
    near = did_you_mean(kind, (*SINGULAR, *SINGULAR.values()))
    hint = f"Use one of {', '.join(SINGULAR)}."
    raise UsageError(Problem("usage.kind", f"{kind!r} is no kind of plugin{near}", hint=hint))
