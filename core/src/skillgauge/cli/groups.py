"""Groups of commands to which plugins add further ones, found in the index and imported when they are called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from ..plugins.index import IndexEntry, makers, published
from ..plugins.installed import read_index
from .options import COMMAND_ENTRY, GlobalsGroup, globals_of, require_allowed


class CommandsOfPlugins(GlobalsGroup):
    """A group that plugins add commands to, by entry points named `<group>.<command>`, or `<command>` at the top.

    Args:
        *args: as for click's own groups.
        known: commands that a distribution of this project adds, with its name and a summary, so that an absent one
            is told with what installs it.
        **kwargs: as for click's own groups.
    """

    def __init__(self, *args: Any, known: Mapping[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = known or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of its own commands, then of those that plugins add."""
        own = super().list_commands(ctx)
        return [*own, *sorted({self._short(entry) for entry in self._entries(ctx)} - set(own))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, imported if a plugin brings it."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        entries = [entry for entry in self._entries(ctx) if self._short(entry) == cmd_name]
        self._require_installed(cmd_name, ctx)
        if not entries:
            return None
        ctx.meta[COMMAND_ENTRY] = entries[0]
        require_allowed(entries[0], globals_of(ctx), ctx)
        return _imported(entries, cmd_name, ctx)

    def _require_installed(self, cmd_name: str, ctx: click.Context) -> None:
        """Refuse a command of this project whose distribution is absent."""
        full_name = f"{self._prefix(ctx)}.{cmd_name}".removeprefix(".")
        if any(entry.name == full_name for entry in read_index().entries("commands")):
            return
        maker = published("commands").get(full_name)
        if cmd_name in self.known:
            maker, _ = self.known[cmd_name]
        if maker:
            raise click.UsageError(f"{ctx.command_path} {cmd_name} is not installed; pip install {maker}", ctx)

    def summaries(self, ctx: click.Context) -> dict[str, str]:
        """Summary of each command, without importing one of a plugin."""
        own = {name: command.get_short_help_str(limit=200) for name, command in self.commands.items()}
        documented = {name: f"{summary} [pip install {maker}]" for name, (maker, summary) in self.known.items()}
        installed = {
            self._short(entry): entry.problem or f"{entry.summary} [{entry.distribution}]"
            for entry in self._entries(ctx)
        }
        return {**documented, **installed, **own}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their summaries."""
        summaries = self.summaries(ctx)
        names = dict.fromkeys((*self.list_commands(ctx), *self.known))
        with formatter.section("Commands"):
            formatter.write_dl([(name, summaries[name]) for name in names])

    def _entries(self, ctx: click.Context) -> list[IndexEntry]:
        index = read_index()
        names = frozenset((*(ctx.params.get("no_plugin") or ()), *globals_of(ctx).no_plugin))
        blocked = index.meant_by(names)
        mine = [entry for entry in index.entries("commands") if entry.name.rpartition(".")[0] == self._prefix(ctx)]
        return [entry for entry in mine if entry not in blocked]

    def _prefix(self, ctx: click.Context) -> str:
        if ctx.parent is None:
            return ""
        return str(self.name)

    @staticmethod
    def _short(entry: IndexEntry) -> str:
        return entry.name.rpartition(".")[2]


def _imported(entries: list[IndexEntry], name: str, ctx: click.Context) -> click.Command:
    if len(entries) > 1:
        raise click.UsageError(f"command {name!r} comes from {makers(entries)}; uninstall one of them", ctx)
    entry = entries[0]
    if entry.problem:
        raise click.UsageError(f"command {name!r} of {entry.distribution} {entry.version}: {entry.problem}", ctx)
    try:
        return load_command(entry.module)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        message = f"command {name!r} of {entry.distribution} {entry.version} cannot be loaded: {reason}"
        raise click.UsageError(message, ctx) from error


def load_command(place: str) -> click.Command:
    """Import a command.

    Raises:
        TypeError: what is there is no command.
    """
    module, _, attribute = place.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise TypeError(f"{place} is no click command")
    return command
