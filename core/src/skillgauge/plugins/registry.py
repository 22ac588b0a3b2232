"""From a name to a working object: loads plugins, checks them, makes what they announce.

The index says what is installed, stevedore imports only what this run names and isolates what fails there, pluggy
checks each plugin against the hook specifications and carries hooks and events. This module, `modules`,
`loading` and `contract.hooks` are the only ones that know either library. Nothing here is global: a run has one
`Registry`, and a test makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from skillgauge_documents.frozen import EMPTY, JsonObject

from .._version import __version__
from ..contract.providers import Peers, Provider, Traits
from ..contract.redirects import LookUp
from ..contract.shared_options import SHARED
from ..errors import Origin, PluginError, Problem, did_you_mean
from ..log import get_logger
from .blocking import BLOCKED, Blocking, blocked_problem
from .events import Events, Failed, Listener, failing_as, isolated
from .guard import guarded
from .index import CORE, IndexEntry, PluginIndex, install_hint, makers
from .kinds import EVENTS, EXTENSIONS, FORMATS, KINDS, SHAPES, Kind, Resolved, T, broken
from .loading import run_file
from .modules import Modules, new_manager, register
from .setting import Setting, option_problems, redirect
from .sharing import SharedBlocks, blocks_of

log = get_logger(__name__)


class Registry:
    """The plugins of one run. Not for use from several threads.

    Args:
        index: what is installed.
        blocked: names of entries or distributions, or `distribution:name`, that must not be used, under any alias.
        only: if given, nothing installed is used but what these name.
        files: Python files that announce plugins of any kind; executed here.
        options: gives what the configuration sets of a plugin, by `<kind>.<name>` and its options model, if known.
        look_up: gives values of environment variables that plugins declare as redirects.

    Raises:
        PluginError: one of the files cannot be used.
    """

    def __init__(
        self,
        index: PluginIndex,
        *,
        blocked: Collection[str] = (),
        only: Collection[str] | None = None,
        files: Sequence[Path] = (),
        options: Callable[[str, type[BaseModel] | None], JsonObject] = lambda _name, _model: EMPTY,
        look_up: LookUp = lambda _variable: None,
    ) -> None:
        self.failures: dict[str, Problem] = {}
        """What went wrong with plugins that nobody named, by `<kind>.<name>`; the first failure of each."""
        self._index = index
        self._blocking = Blocking(index, blocked, only)
        self._options = options
        self._look_up = look_up
        self._given: set[str] = set()
        self._resolved: dict[IndexEntry, Resolved | Problem] = {}
        self._modules = Modules()
        self._shared = SharedBlocks()
        self._used = {CORE: __version__}
        self._secrets: dict[str, None] = {}
        """Variables of secrets that plugins announce."""
        self._learn: Callable[[str], None] = lambda _variable: None
        self._events: Events | None = None
        self._configurations: dict[tuple[str, str, str], Mapping[str, object]] = {}
        for file in files:
            self._adopt(str(file), partial(run_file, file))

    def adopt(self, plugin: object) -> None:
        """Take in an object, as a module, that implements hooks of any kind.

        Raises:
            PluginError: it is no valid plugin.
        """
        name = getattr(plugin, "__name__", None) or type(plugin).__name__
        self._adopt(name, lambda: (name, plugin, "0"))

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the names of a kind that this run may use, sorted, aliases included; nothing is imported."""
        entries = self._usable(kind)
        if kind == SHAPES:  # those of formats that are not used are read by nothing
            readers = {entry.distribution for entry in self._usable(FORMATS)}
            entries = [entry for entry in entries if entry.distribution in readers]
        return tuple(dict.fromkeys(entry.name for entry in entries))

    def _usable(self, kind: str) -> list[IndexEntry]:
        return [entry for entry in self._index.entries(kind) if not entry.problem and not self.is_blocked(entry)]

    def resolve(self, kind: str, name: str) -> Resolved:
        """Find, load and check the plugin that a name means.

        Args:
            kind: plural name of its kind.
            name: may be `distribution:name`, or `name:variant` where the plugin has variants, and end with `+SETTING`:
                options under that name go before the plugin's.

        Raises:
            PluginError: there is none, there are several, or the one cannot be used.
        """
        plain, plus, setting = name.partition("+")
        owner, colon, variant = plain.rpartition(":")
        if colon and not self._index.find(kind, plain) and self._index.find(kind, owner):
            whole = self.resolve(kind, owner)
            if whole.provider.variants:
                return replace(whole, asked=f"{whole.name}:{variant}{plus}{setting}")
        entry = self._pick(kind, plain)
        if entry not in self._resolved:
            self._resolved[entry] = self._load(entry)
        resolved = self._resolved[entry]
        if isinstance(resolved, Problem):
            raise PluginError(resolved)
        return replace(resolved, asked=f"{entry.name}+{setting}") if plus else resolved

    def load_all(self, kind: str) -> tuple[Resolved, ...]:
        """Every plugin of a kind, each once; those that cannot be used are kept in `failures` and passed over."""
        plugins: dict[tuple[str, str], Resolved] = {}
        for entry in self._index.entries(kind):
            try:
                resolved = self.resolve(kind, entry.name)
                plugins.setdefault((resolved.distribution, resolved.name), resolved)
            except PluginError as error:
                if error.problems[0].code != BLOCKED:
                    self._note(f"{kind}.{entry.name}", error.problems[0])
        return tuple(plugins.values())

    def make(self, kind: Kind[T], plugin: str | Resolved, options: JsonObject | BaseModel | None = None) -> T:
        """A new object of a plugin: `registry.make(SCORERS, "exact")`.

        Args:
            kind: one of the constants of this module.
            plugin: what `resolve` takes or gives.
            options: values that go before those of the configuration, key by key; or what `validated_options` gave.

        Raises:
            PluginError: the plugin cannot be used, its options are wrong, or making the object failed.
        """
        if isinstance(plugin, str):
            plugin = self.resolve(kind, plugin)
        if not isinstance(options, BaseModel):
            options = self.validated_options(plugin, options)
        return self._make(kind, plugin, options, named=True)

    def _make(self, kind: Kind[T], resolved: Resolved, options: BaseModel, *, named: bool) -> T:
        with failing_as(resolved, "could not be made", PluginError):
            plugin_object = cast(T, resolved.provider.make(options, self.peers_of(resolved.provider)))
        note = partial(self._note, f"{kind}.{resolved.name}")
        return guarded(kind, plugin_object, resolved, note, named=named, granted_s=getattr(options, "timeout_s", 0.0))

    def each(self, kind: Kind[T], keep: Callable[[Resolved], bool] = lambda _plugin: True) -> Iterator[tuple[str, T]]:
        """Name and object of every plugin of a kind that nobody named, made one after another.

        One that does not work is passed over, when it is made as well as later, and kept in `failures`.

        Args:
            kind: one of the constants of this module.
            keep: which plugins to make.

        Raises:
            PluginError: the configuration gives one of them wrong options.
        """
        for resolved in filter(keep, self.load_all(kind)):
            try:
                plugin_object = self._make(kind, resolved, self.validated_options(resolved), named=False)
            except PluginError as error:
                if error.problems[0].code == "plugin.options":
                    raise
                self._note(f"{kind}.{resolved.name}", error.problems[0])
            else:
                yield resolved.name, plugin_object

    def validated_options(
        self, resolved: Resolved, options: JsonObject | None = None, origin: Origin | None = None
    ) -> BaseModel:
        """A plugin's options: those of the configuration, overridden key by key by `options`.

        Raises:
            PluginError: with every option that is wrong, missing or unknown.
        """
        options_given = options or {}
        values = {**self._configured(resolved), **options_given}
        if resolved.provider.variants and (variant := resolved.variant):
            values[resolved.provider.variants] = variant
        own = dict(values)
        for block in blocks_of(resolved.provider.options):
            if shared := self._options(block.full_name, block.model):
                values[block.option] = block.merged(shared, own.get(block.option))
        setting = Setting(own, options_given, origin, redirect(resolved, values, self._look_up))
        try:
            with failing_as(resolved, "could not check its options", ValidationError):
                return resolved.provider.options.model_validate(values)
        except ValidationError as error:
            raise PluginError(option_problems(resolved, error, setting)) from None

    def _configured(self, resolved: Resolved) -> Mapping[str, object]:
        """Return what the configuration sets of a plugin, under its own name and under that which found it.

        Raises:
            PluginError: it was found with the name of a setting that sets nothing.
        """
        key = resolved.kind, resolved.name, resolved.asked
        if key not in self._configurations:
            values: dict[str, object] = {}
            for name in dict.fromkeys((resolved.name, resolved.asked.partition("+")[0], resolved.asked)):
                configured = self._options(f"{resolved.kind}.{name}", resolved.provider.options)
                if "+" in name and not configured:  # misspelt, perhaps
                    hint = f"Set one: --set {resolved.kind}.{name}.KEY=VALUE."
                    raise PluginError(Problem("plugin.no-setting", f"{resolved.kind}.{name} sets no option", hint=hint))
                values.update(configured)
            self._configurations[key] = values
        return self._configurations[key]

    def shared_blocks(self) -> SharedBlocks:
        """Return the shared blocks of options of every plugin that this run may use; all of them are loaded."""
        for kind in KINDS:
            self.load_all(kind)
        return self._shared

    def options_model(self, kind: str, name: str) -> type[BaseModel] | None:
        """Return the model of a plugin's options, or of a shared block; `None` if there is no such block.

        Raises:
            PluginError: the plugin cannot be used.
            KeyError: there is no such kind.
        """
        if kind == SHARED:
            return self.shared_blocks().model(name)
        return self.resolve(kind, name).provider.options

    def traits(self, resolved: Resolved, options: JsonObject = EMPTY) -> Traits:
        """Return the announcement of an engine or a judge as its options make it: before the configuration's.

        Raises:
            PluginError: it fails to tell.
        """
        if resolved.provider.traits_with is None:
            return resolved.provider.traits
        checked = self.validated_options(resolved, options)
        with failing_as(resolved, "failed to announce its traits", PluginError):
            return self._told(resolved.provider.made_traits(checked, self.peers_of(resolved.provider)))

    def peers_of(self, provider: Provider[object]) -> Peers | None:
        """Return the plugins that one uses itself; `None` if it uses none."""
        return _Peers(self, provider.uses) if provider.uses else None

    def events(self) -> Events:
        """The listeners among the installed extensions, each loaded and made when it is first needed."""
        if self._events is None:
            self._events = self._listening()
        return self._events

    def _listening(self) -> Events:
        manager = new_manager()  # of its own: what is loaded later is not asked to listen
        plugins: dict[object, str] = {}
        for name, plugin in self.each(EXTENSIONS):
            try:
                with isolated():
                    if plugin not in plugins:
                        register(manager, plugin, name)
                        plugins[plugin] = name
            except Failed as failure:
                self._note(f"{EXTENSIONS}.{name}", broken(self.resolve(EXTENSIONS, name), f"is broken: {failure}"))
        listeners: dict[str, list[Listener]] = {}
        for hook in EVENTS:
            in_order = reversed(getattr(manager.hook, hook).get_hookimpls())  # pluggy calls the last one first
            for plugin in dict.fromkeys(impl.plugin for impl in in_order):
                alone = manager.subset_hook_caller(hook, plugins.keys() - {plugin})
                listeners.setdefault(hook, []).append((plugins[plugin], alone))
        return Events(listeners, lambda name, problem: self.failures.setdefault(f"{EXTENSIONS}.{name}", problem))

    def tell_secrets(self, learn: Callable[[str], None]) -> None:
        """Tell the variable of every secret that a plugin of any kind announces, loaded before or from now on."""
        self._learn = learn
        for variable in self._secrets:
            learn(variable)

    def _told(self, traits: Traits) -> Traits:
        for variable in (*traits.secrets, *traits.passes):
            self._secrets[variable] = None
            self._learn(variable)
        return traits

    def provenance(self) -> dict[str, str]:
        """Version of the core and of every distribution that this run has loaded, by name; of a file without a folder.

        Files of one name that differ are told apart by their versions.
        """
        used: dict[str, str] = {}
        for label, version in self._used.items():
            name = label
            if label in self._given:
                name = Path(label).name
            if used.get(name, version) != version:
                name = f"{name} {version}"
            used[name] = version
        return used

    def is_blocked(self, entry: IndexEntry) -> bool:
        """Check whether the user blocks a plugin; what was adopted needs no place in the list of allowed ones."""
        is_adopted = entry.distribution in self._given
        return self._blocking.names(entry) if is_adopted else self._blocking.covers(entry)

    def _pick(self, kind: str, name: str) -> IndexEntry:
        candidates = self._index.find(kind, name)
        allowed = [entry for entry in candidates if not self.is_blocked(entry)]
        usable = [entry for entry in allowed if not entry.problem]
        if len(usable) == 1:
            return usable[0]
        plugin = f"{KINDS[kind].singular} '{name}'"
        if usable:
            raise PluginError(_ambiguous(plugin, usable))
        if allowed:
            raise PluginError(_incompatible(plugin, allowed))
        if candidates:
            raise PluginError(blocked_problem(plugin, candidates))
        names = self.names(kind)
        message = f"{plugin} is not installed{did_you_mean(name, names)} (installed: {', '.join(names) or 'none'})"
        raise PluginError(Problem("plugin.not-installed", message, hint=install_hint(kind, name)))

    def _load(self, entry: IndexEntry) -> Resolved | Problem:
        try:
            with isolated():
                provider = self._modules.provider_of(entry, self._index)
        except Failed as failure:
            log.debug("plugin.failed", plugin=entry.full_name, kind=entry.kind, exc_info=failure.__cause__)
            self._index.record_failure(entry, str(failure))
            return broken(entry, f"is broken: {failure}")
        self._index.clear_failure(entry)
        self._used[entry.distribution] = entry.version
        self._told(provider.traits)
        if self._blocking.names_announced(entry, provider.name):
            return blocked_problem(f"{KINDS[entry.kind].singular} '{entry.name}'", [entry])
        resolved = Resolved(entry.kind, provider.name, provider, entry.distribution, entry.version, asked=entry.name)
        try:
            return self._shared.declare(resolved) or resolved
        except TypeError as error:
            return broken(entry, f"is broken: {error}")

    def _adopt(self, label: str, load: Callable[[], tuple[str, object, str]]) -> None:
        """Take in what no entry point names, under its name, for every kind of which it implements a hook."""
        try:
            with isolated():
                name, plugin, version = load()
                announced = self._modules.adopt(name, plugin, label)
        except Failed as failure:
            raise PluginError(Problem("plugin.broken", f"plugin {label} is broken: {failure}")) from failure
        self._index = self._index.plus(
            IndexEntry(kind, provider.name, name, label, version, provider.summary) for kind, provider in announced
        )
        self._given.add(label)

    def _note(self, name: str, problem: Problem) -> None:
        if name not in self.failures:
            self.failures[name] = problem
            log.warning("plugin.unusable", plugin=name, problem=problem.message)


def _ambiguous(plugin: str, entries: Sequence[IndexEntry]) -> Problem:
    hint = f"name one: {' or '.join(entry.full_name for entry in entries)}"
    return Problem("plugin.ambiguous", f"{plugin} is installed by {makers(entries)}", hint=hint)


def _incompatible(plugin: str, entries: Sequence[IndexEntry]) -> Problem:
    reasons = "; ".join(f"of {makers([entry])} {entry.problem}" for entry in entries)
    hint = f"pip install --upgrade {' '.join(entry.distribution for entry in entries)}"
    return Problem("plugin.incompatible", f"{plugin} {reasons}", hint=hint)


class _Peers:
    """The plugins of one kind, for one that uses them itself."""

    def __init__(self, registry: Registry, kind: str) -> None:
        self._registry = registry
        self._kind = kind

    def names(self) -> tuple[str, ...]:
        return self._registry.names(self._kind)

    def announced(self) -> Mapping[str, Traits]:
        return {plugin.name: plugin.provider.traits for plugin in self._registry.load_all(self._kind)}

    def traits(self, name: str, options: JsonObject = EMPTY) -> Traits:
        return self._registry.traits(self._registry.resolve(self._kind, name), options)

    def make(self, name: str, options: JsonObject = EMPTY) -> Any:
        return self._registry.make(KINDS[self._kind], name, options)
