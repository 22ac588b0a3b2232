"""Decide which installed plugins a run may use: the user blocks some, or allows only some."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ..errors import Problem
from .index import IndexEntry, PluginIndex, makers

BLOCKED = "plugin.blocked"
"""Code of the problem of a plugin that the user blocks."""


class Blocking:
    """The names of plugins and distributions that the user blocks.

    Args:
        index: what is installed.
        blocked: names of entries or distributions, or `distribution:name`; each means the plugin under any alias.
        only: if given, everything is blocked but what these name.
    """

    def __init__(self, index: PluginIndex, blocked: Collection[str], only: Collection[str] | None) -> None:
        self._blocked, self._only = blocked, only
        self._entries = index.meant_by(blocked)

    def covers(self, entry: IndexEntry) -> bool:
        """Check whether an installed plugin is blocked; it need not be imported."""
        allowed = self._only is None or entry.is_named_by(self._only)
        return not allowed or self.names(entry)

    def names(self, entry: IndexEntry) -> bool:
        """Check whether a plugin of any origin is among those that are blocked by name."""
        return entry in self._entries or entry.is_named_by(self._blocked)

    def names_announced(self, entry: IndexEntry, name: str) -> bool:
        """Check the name that a loaded plugin announces, which none of its entries needs to have."""
        return replace(entry, name=name).is_named_by(self._blocked)


def blocked_problem(plugin: str, entries: Iterable[IndexEntry]) -> Problem:
    """Describe the use of a blocked plugin.

    Args:
        plugin: its kind and name.
        entries: the entries that the name means.
    """
    hint = "allow it: see --no-plugin, plugins.block and SKILLGAUGE_PLUGINS"
    return Problem(BLOCKED, f"{plugin} of {makers(entries)} is blocked", hint=hint)
