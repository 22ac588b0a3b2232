"""What an evaluation works with: configuration, plugins, who listens, and what formats and reporters here can read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgauge_documents import reading_once
from skillgauge_documents.immutables import immutable

from ..config.arguments import words
from ..config.chosen_plugins import ChosenPlugins
from ..config.config_files import NO_OTHERS, OtherPrograms, load_config, user_path
from ..config.configuration import Config, Held, plugin_assignments
from ..config.global_options import Globals
from ..config.trusting import PluginOptions, TrustedFiles, still_held
from ..environment import ask_first, host_environment
from ..errors import PluginError, Problem, Severity, SkillgaugeError, SourceSpan, UsageError, errors_among
from ..log import configure
from ..plugins.index import IndexEntry, PluginIndex
from ..plugins.installed import read_index
from ..plugins.kinds import EXTENSIONS, FORMATS, REPORTERS
from ..plugins.registry import Registry
from ..terminal.output import Output
from .remarks import GATE_NOTICES, RUN_NOTICES, Listener, Watcher, commented, foretold, severity_of
from .strangers import strangers

if TYPE_CHECKING:
    import asyncio

    from ..contract.formats import SuiteFormat
    from ..contract.reporters import Reporter
    from ..contract.stores import Store
    from ..plan.suites import Suites
    from ..types.arms import GroupKey
    from ..types.judged_gates import JudgedGates
    from ..types.results.runs import RunView
    from ..types.results.summaries import Figure, SuiteSummary
    from ..types.suite import Target
    from ..types.trial import PlanHead

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
    """Where commands print."""
    listener: Listener
    """Who hears of an evaluation; of a command, the same terminal."""
    cwd: Path
    plugins: ChosenPlugins
    """What the registry was made of."""
    others: OtherPrograms = NO_OTHERS
    """What installed plugins announce of other programs' configuration."""

    def held_back(self, needed: Callable[[Held], bool] = lambda _one: False) -> list[Problem]:
        """The values of the folder's configuration that have no effect before the user trusts it.

        Args:
            needed: whether the command cannot go on without it; then it is an error.
        """
        problems: list[Problem] = []
        for held in still_held(self.config, self.registry):
            severity = severity_of(stops=needed(held))
            if held.key == "checks":
                from .added_checks import faults  # noqa: PLC0415 - half of the kernel; few folders add checks

                problems += (replace(fault, severity=severity) for fault in faults(held, self.registry))
            problems.append(held.problem(severity, untrusted=self.globals.untrusted))
        return problems

    def targets(self, *paths: Path) -> tuple[tuple[Target, ...], tuple[Problem, ...]]:
        """Return every target of every suite at some paths, each once.

        Args:
            paths: files, or folders to search; absolute.

        Returns:
            The targets in the order in which they were found, and the bad files that a search passed over.

        Raises:
            SkillgaugeError: a path does not exist or holds nothing that an installed format reads, or a file that
                was named is bad.
        """
        loaded = self.suites(*paths)
        targets: dict[tuple[str, str | None, str], Target] = {}
        for suite in loaded.suites:
            for target in suite.targets:
                targets.setdefault((suite.format, target.root, target.id), target)
        return tuple(targets.values()), loaded.passed_over

    def suites(self, *paths: Path, suite_format: str | None = None) -> Suites:
        """The suites at some paths.

        Args:
            paths: files, or folders to search; absolute.
            suite_format: the one format that reads them, for whoever knows it.

        Raises:
            SkillgaugeError: as `targets`.
        """
        from ..plan.options import What  # noqa: PLC0415 - half of the kernel; few commands
        from ..plan.suites import load_suites  # noqa: PLC0415

        return load_suites(What(paths=paths, suite_format=suite_format), self.cwd, self.registry)

    def suite_format(self, name: str) -> SuiteFormat:
        """An installed format.

        Raises:
            PluginError: there is none of that name, or it does not work.
        """
        return self.registry.make(FORMATS, name)

    def reporter(self, name: str) -> Reporter:
        """An installed reporter.

        Raises:
            PluginError: there is none of that name, or it does not work.
        """
        return self.registry.make(REPORTERS, name)

    def reporter_names(self) -> tuple[str, ...]:
        """The names of the installed reporters that this run may use; nothing is imported."""
        return self.registry.names(REPORTERS)

    def read_run(self, path: Path) -> RunView:
        """Read a result document, or a folder of results, with whichever installed reporter knows it.

        Raises:
            SkillgaugeError: no reporter knows it, or the one that does finds it damaged.
        """
        if not os.path.exists(path):  # noqa: PTH110 - never raises
            raise UsageError(Problem("usage.no-such-path", f"{str(path)!r} does not exist"))
        asked = []
        with reading_once():
            for name, reporter in self.registry.each(REPORTERS):
                if (view := reporter.read(path)) is not None:
                    return view
                asked.append(name)
        names = ", ".join(sorted(asked)) or "none"
        kind, place = "document", SourceSpan(str(path), 1, 1)
        if path.is_dir():
            kind, place = "folder", SourceSpan(str(path))
        message = f"no installed reporter knows this {kind} (installed: {names})"
        hint = "Give a JSON report or a run record, name a store with --store, or install the reporter that wrote it."
        raise UsageError(Problem("report.unknown", message, span=place, hint=hint))

    def commented(self, view: RunView) -> tuple[RunView, tuple[str, ...]]:
        """A run with what plugins say of its groups, as figures, and what they say of the whole of it, as lines."""
        return commented(self.usable(RUN_NOTICES), view, self.cwd)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """Return the figures that the format of a suite has of its results; none if the format is not installed."""
        with suppress(PluginError):
            return self.registry.make(FORMATS, summary.suite.format).figures(summary)
        return {}

    def foretold(self, head: PlanHead, judged: JudgedGates) -> tuple[str, ...]:
        """The reasons that plugins know why gates on judged checks will stay open; it reads files."""
        return tuple(foretold(self.usable(GATE_NOTICES), head, judged, self.cwd))

    def usable(self, group: str) -> Iterator[IndexEntry]:
        """Yield the entry points of a group that this command may import."""
        for entry in read_index().entries(group):
            if not (entry.problem or self.registry.is_blocked(entry)):
                yield entry

    def open_store(self) -> Store:
        """The store that the configuration names; it says of each run whether this user wrote it (`why_foreign`).

        Raises:
            PluginError: no installed plugin serves its address.
        """
        from ..plan.resources import open_store  # noqa: PLC0415 - half of the kernel; few commands keep or read runs

        UsageError.raise_for([one.problem(Severity.ERROR) for one in self.config.held if one.key == "store"])
        place = self.config.get("store")
        if place == "none":
            message = "there is no store: it is set to 'none'"
            raise PluginError(Problem("store.none", message, hint="Use --store PLACE."))
        return self.signing(open_store(place, self.registry))

    @property
    def has_store(self) -> bool:
        """True if the user chose a store, or an installed one keeps runs in the default place."""
        from ..plan.resources import serving_stores  # noqa: PLC0415 - as above

        place = self.config.get("store")
        return place != "none" and (self.config.is_set("store") or bool(serving_stores(place, self.registry)))

    def open_store_at(self, place: str) -> Store:
        """The store of a place that the user names, as it is: with the signatures that say whose each run is.

        Raises:
            PluginError: no installed plugin serves its address.
        """
        from ..plan.resources import open_store  # noqa: PLC0415 - as above

        return open_store(place, self.registry)

    def signing(self, store: Store) -> Store:
        """A store whose runs are signed with this user's key."""
        from ..config.store_key import UserKey  # noqa: PLC0415 - as above
        from ..run.signed_store import sign  # noqa: PLC0415 - as above

        return sign(store, UserKey(self._warn), self._warn)

    def _warn(self, problem: Problem) -> None:
        self.listener.problems([problem])

    def names_extension(self, name: str) -> bool:
        """Return whether the user named an extension, by its file or by one of its options."""
        if f"{EXTENSIONS}.{name}" in self.config.plugin_options():
            return True
        if name not in self.registry.names(EXTENSIONS):
            return False
        files = {str(Path(file)) for file in self.globals.plugin}
        return self.registry.resolve(EXTENSIONS, name).distribution in files


@immutable
class OnTerminal:
    """Listens to an evaluation of the command line."""

    globals: Globals
    output: Output

    def notice(self, text: str) -> None:
        """Print it."""
        self.output.notice(text)

    def problems(self, problems: Iterable[Problem]) -> None:
        """Print them, a warning of several files once."""
        self.output.problems(problems, together=True)

    @contextmanager
    def watching(self, total: int, stop: asyncio.Event, *, at_most: bool = False) -> Iterator[Watcher]:
        """Show how far the run is; Ctrl-C stops it."""
        from ..terminal.progress import make_progress  # noqa: PLC0415 - few commands run anything
        from .process import stopped_by_signals  # noqa: PLC0415 - as above

        options = self.globals
        is_quiet = options.quiet or options.log_json
        progress = make_progress(
            total, at_most=at_most, quiet=is_quiet, verbose=options.verbose, no_color=options.no_color
        )
        with stopped_by_signals(stop), progress:
            yield progress


def trusted_files() -> TrustedFiles:
    """The user's list of files that he trusts, beside his own configuration."""
    path = user_path(host_environment())
    return TrustedFiles(path.with_name("trusted.json") if path else None)


def invocation(
    options: Globals, flags: Mapping[str, Any] | None = None, listener: Listener | None = None
) -> Invocation:
    """Read the configuration and prepare the plugins.

    Args:
        options: the global options: `click.Context.obj` in a command of class `GlobalsCommand`.
        flags: configuration values set by the command's own options, unset ones absent.
        listener: who hears of the evaluation; by default the terminal.

    Raises:
        UsageError: the configuration is wrong.
    """
    configure(verbose=options.verbose or options.log_json, quiet=options.quiet, as_json=options.log_json)
    cwd, index = Path.cwd(), read_index()
    config, others = _configuration(options, index, {**(flags or {}), **plugin_assignments(options.assign)})
    only = config.get("plugins.only")
    plugins = ChosenPlugins(
        blocked=frozenset((*options.no_plugin, *config.get("plugins.block"))),
        only=frozenset(only) if only is not None else None,
        files=tuple(Path(file) for file in options.plugin),
        options=PluginOptions.of(config),
    )
    registry = plugins.registry(index)
    unknown = list(strangers(config, registry, index))
    if errors_among(unknown):
        raise UsageError(unknown)
    ask_first(registry.events)
    output = Output(as_json=options.as_json, quiet=options.quiet)
    listener = listener or OnTerminal(options, output)
    for notice in config.notices:
        listener.notice(notice)
    listener.problems(unknown)
    return Invocation(options, config, registry, output, listener, cwd, plugins, others)


def _configuration(options: Globals, index: PluginIndex, values: Mapping[str, Any]) -> tuple[Config, OtherPrograms]:
    """Return the values of all layers, and the known keys of other programs' files."""
    others = OtherPrograms(
        tuple(entry.name for entry in index.entries(CONFIG_FILES)),
        {entry.name: entry.module for entry in index.entries(CONFIG_KEYS)},
    )
    config = load_config(
        cwd=Path.cwd(),
        flags=values,
        environ=host_environment(),
        explicit=Path(options.config) if options.config else None,
        others=others,
        trusts=lambda file, text: (
            not options.untrusted and (options.trust_config or trusted_files().trusts(file, text))
        ),
    )
    return config, others


def blocked_by_configuration(options: Globals, index: PluginIndex) -> frozenset[str]:
    """Return the names in `plugins.block` before a plugin's command is loaded; the command reports a broken file."""
    try:
        config, _ = _configuration(options, index, {})
    except SkillgaugeError:
        return frozenset()
    return frozenset(config.get("plugins.block"))


def configured_words(config: Config, key: str) -> tuple[str, ...]:
    """The words of a key of the configuration; none if nobody sets it."""
    return words([config.get(key) or ""])


def configured_list(config: Config, key: str) -> tuple[Sequence[Mapping[str, object]], str]:
    """The entries of a key of the configuration, and the place where it is set; none if nobody sets it."""
    if configured := config.find(key):
        return configured.value, configured.where
    return (), ""


@contextmanager
def opened_store(call: Invocation) -> Iterator[Store]:
    """The store, closed at the end.

    Raises:
        PluginError: no installed plugin serves its address.
    """
    import asyncio  # noqa: PLC0415 - slow, and not every command opens a store

    store = call.open_store()
    try:
        yield store
    finally:
        asyncio.run(store.close())
