"""The installed plugins with their distributions and versions, as they are chosen from; `installed` finds them.

Every start of the command line needs this, so it stands on the standard library alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, MutableMapping
from dataclasses import dataclass

PREFIX = "skillgauge."
"""Entry point groups are this and the kind."""

CORE = "skillgauge-core"


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One entry point of an installed distribution."""

    kind: str
    """Its group without the prefix: `scorers`, `commands`, ..."""
    name: str
    """What the user types."""
    module: str
    """Value of the entry point; for commands `module:attribute`."""
    distribution: str
    version: str
    summary: str = ""
    """One line about the distribution, from its metadata."""
    core_range: str | None = None
    """Versions of the core that it says it works with; `None` if it does not say."""
    problem: str | None = None
    """Why it must not be imported."""

    @property
    def full_name(self) -> str:
        """Names this entry even when another distribution has one of the same name."""
        return f"{self.distribution}:{self.name}"

    @property
    def place(self) -> str:
        """The module, and the object in it, in the one spelling in which places are compared."""
        return re.sub(r"\s|\[.*", "", self.module)

    @property
    def failure_key(self) -> str:
        """Under which its failure to load is kept: a failure belongs to one version, and to all names of a module."""
        return f"{self.distribution} {self.version} {self.module}"

    def is_named_by(self, names: Collection[str]) -> bool:
        """Check for this entry's own name, its distribution, or `distribution:name`; `meant_by` knows aliases, too."""
        own = {normalized(self.distribution), normalized(self.full_name)}
        return self.name in names or any(normalized(name) in own for name in names)


def makers(entries: Iterable[IndexEntry]) -> str:
    """Name the distributions of entries, with their versions."""
    return " and ".join(f"{entry.distribution} {entry.version}" for entry in entries)


_FURTHER_WAYS = {"engines": " Other agents can be described: see docs/other-agents.md."}
"""What else helps where no plugin of a kind has a name."""


def install_hint(kind: str, name: str) -> str:
    """Return the hint for a plugin that is not installed. A suite may name anything; only our own become a command."""
    distribution, _, short = name.rpartition(":")
    extra = published(kind).get(short)
    if extra and distribution in ("", extra):
        return f"pip install {extra}"
    reason = "Install the package that brings it, or correct the name; skillgauge itself publishes none of that name."
    return f"{reason}{_FURTHER_WAYS.get(kind, '')}"


def install_hint_of_any(kind: str) -> str:
    """Return the hint for a kind of plugin of which none is installed."""
    distributions = published(kind).values()
    if not distributions:
        return "Install a package that brings one."
    return f"pip install {min(distributions)}"


def published(kind: str) -> dict[str, str]:
    """Return the distribution of ours that brings each plugin of a kind."""
    table_file = f"{__file__.removesuffix('index.py')}published.json"
    with open(table_file, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
        table: dict[str, dict[str, str]] = json.load(file)
    return table.get(kind, {})


class PluginIndex:
    """Facts about installed plugins, and what last went wrong with them.

    Args:
        entries: what is installed.
        failures: what is known of plugins that did not load, by `failure_key`; kept beyond this process by whoever
            gives it.
    """

    def __init__(self, entries: Iterable[IndexEntry] = (), *, failures: MutableMapping[str, str] | None = None) -> None:
        self._entries = tuple(sorted(entries, key=lambda entry: (entry.kind, entry.name, entry.distribution)))
        self._failures = {} if failures is None else failures

    def entries(self, kind: str | None = None) -> tuple[IndexEntry, ...]:
        """Entries of one kind or of all, sorted by kind, name and distribution."""
        return tuple(entry for entry in self._entries if kind in (None, entry.kind))

    def find(self, kind: str, name: str) -> tuple[IndexEntry, ...]:
        """Entries that a name means; several if distributions clash.

        `distribution:name` means at most one. The last words of a distribution's name stand for it, too, so that
        `acp:codex-acp` is `skillgauge-engine-acp:codex-acp`; then it may be several again.
        """
        distribution, colon, short = name.rpartition(":")
        named = tuple(entry for entry in self.entries(kind) if entry.name == short)
        if not colon:
            return named
        normalized_name = normalized(distribution)
        whole = tuple(entry for entry in named if normalized(entry.distribution) == normalized_name)
        return whole or tuple(
            entry for entry in named if normalized(entry.distribution).endswith(f"-{normalized_name}")
        )

    def meant_by(self, names: Collection[str]) -> frozenset[IndexEntry]:
        """Return the entries that names of plugins or distributions mean, each with all its aliases.

        Entries of one kind that lead to the same module are one plugin, whichever distribution declares them.
        """
        if not names:  # at every start
            return frozenset()
        named = {(entry.kind, entry.place) for entry in self._entries if entry.is_named_by(names)}
        return frozenset(entry for entry in self._entries if (entry.kind, entry.place) in named)

    def plus(self, entries: Iterable[IndexEntry]) -> PluginIndex:
        """This index with more entries."""
        return PluginIndex((*self._entries, *entries), failures=self._failures)

    def record_failure(self, entry: IndexEntry, text: str) -> None:
        """Remember that a plugin did not load."""
        self._failures[entry.failure_key] = text

    def clear_failure(self, entry: IndexEntry) -> None:
        """Forget a failure, because the plugin loads well again."""
        self._failures.pop(entry.failure_key, None)

    def recorded_failures(self) -> dict[IndexEntry, str]:
        """The last failure of each entry that has one, from earlier processes too."""
        failures = dict(self._failures)
        return {entry: failures[entry.failure_key] for entry in self._entries if entry.failure_key in failures}


def normalized(name: str) -> str:
    """A distribution's name in the one spelling in which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()
