"""What a command works with: configuration, plugins, output, and what the formats and reporters here can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Origin, PluginError, Problem, UsageError
from ..log import configure
from ..plugins.index import read_index
from ..plugins.kinds import REPORTERS
from ..plugins.registry import Registry
from ..reading.environment import ask_first, host_environment
from .configuration import Config, load_config, plugin_assignments
from .options import Globals
from .output import Output
from .run_notices import RUN_NOTICES, commented

if TYPE_CHECKING:
    from ..contract.reporters import Reporter
    from ..contract.stores import Store
    from ..types.result import RunView
    from ..types.suite import Target

CONFIG_FILES = "config_files"
"""Entry point group of the names of other programs' configuration files; nothing in it is ever imported."""
CONFIG_KEYS = "config_keys"
"""Entry point group of the keys in them that mean one of ours, which is the value; nothing is imported here either."""


@dataclass
class Invocation:
    """One command line: what the user set, what is installed, and where to print."""

    globals: Globals
    config: Config
    registry: Registry
    output: Output
    cwd: Path
    make_registry: Callable[[], Registry]
    """Makes another registry of the same plugins; it can be pickled."""

    def targets(self, *paths: Path) -> tuple[tuple[Target, ...], tuple[Problem, ...]]:
        """What can be evaluated at some paths: every target of every suite there, each once.

        Args:
            paths: files, or folders to search; absolute.

        Returns:
            The targets in the order in which they were found, and the bad files that a search passed over.

        Raises:
            SkillgaugeError: a path does not exist or holds nothing that an installed format reads, or a file that
                was named is bad.
        """
        from ..plan.options import What  # noqa: PLC0415 - half of the kernel; few commands
        from ..plan.suites import load_suites  # noqa: PLC0415

        loaded = load_suites(What(paths=paths), self.cwd, self.registry)
        found: dict[tuple[str, str | None, str], Target] = {}
        for suite in loaded.suites:
            for target in suite.targets:
                found.setdefault((suite.format, target.root, target.id), target)
        return tuple(found.values()), loaded.passed_over

    def reporter(self, name: str) -> Reporter:
        """An installed reporter.

        Raises:
            PluginError: there is none of that name, or it does not work.
        """
        return self.registry.make(REPORTERS, name)

    def read_run(self, path: Path) -> RunView:
        """Read a result document with whichever installed reporter knows it.

        Raises:
            SkillgaugeError: no reporter knows it, or the one that does finds it damaged.
        """
        if not path.is_file():
            what = "is a folder, not a document" if path.is_dir() else "does not exist"
            raise UsageError(Problem("usage.no-such-path", f"{str(path)!r} {what}"))
        asked = []
        for name, reporter in self.registry.each(REPORTERS):
            view = reporter.read(path)
            if view is not None:
                return view
            asked.append(name)
        names = ", ".join(sorted(asked)) or "none"
        message = f"no installed reporter knows this document (installed: {names})"
        hint = "Give the JSON report or the run record of an evaluation, or install the reporter that wrote it."
        raise UsageError(Problem("report.unknown", message, origin=Origin(str(path)), hint=hint))

    def commented(self, view: RunView) -> tuple[RunView, tuple[str, ...]]:
        """A run with what plugins say of its groups, as figures, and what they say of the whole of it, as lines."""
        found = read_index().entries(RUN_NOTICES)
        usable = (entry for entry in found if not (entry.problem or self.registry.is_blocked(entry)))
        return commented(usable, view, self.cwd)

    def open_store(self) -> Store:
        """The store that the configuration names.

        Raises:
            PluginError: no installed plugin serves its address.
        """
        from ..plan.resources import open_store  # noqa: PLC0415 - half of the kernel; few commands keep or read runs

        place = self.config.get("store")
        if place == "none":
            raise PluginError(
                Problem("store.none", "there is no store: it is set to 'none'", hint="Use --store PLACE.")
            )
        return open_store(place, self.registry)


def invocation(given: Globals, flags: Mapping[str, Any] | None = None) -> Invocation:
    """Read the configuration and prepare the plugins.

    Args:
        given: the global options: `click.Context.obj` in a command of class `GlobalsCommand`.
        flags: configuration values set by the command's own options, unset ones absent.

    Raises:
        UsageError: the configuration is wrong.
    """
    configure(verbose=given.verbose, quiet=given.quiet)
    cwd = Path.cwd()
    values = {**(flags or {}), **plugin_assignments(given.assign)}
    explicit = Path(given.config) if given.config else None
    index = read_index()
    foreign = [entry.name for entry in index.entries(CONFIG_FILES)]
    config = load_config(
        cwd=cwd,
        flags=values,
        environ=host_environment(),
        explicit=explicit,
        foreign=foreign,
        spellings={entry.name: entry.module for entry in index.entries(CONFIG_KEYS)},
    )
    only = config.get("plugins.only")
    make_registry = partial(
        Registry,
        index,
        blocked=frozenset((*given.no_plugin, *config.get("plugins.block"))),
        only=frozenset(only) if only is not None else None,
        files=[Path(file) for file in given.plugin],
        options=config.plugin_options(),
    )
    registry = make_registry()
    ask_first(registry.secret)
    output = Output(as_json=given.as_json, quiet=given.quiet)
    for notice in config.notices:
        output.notice(notice)
    return Invocation(given, config, registry, output, cwd, make_registry)
