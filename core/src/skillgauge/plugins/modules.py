"""The modules of plugins that were imported, and what their hooks announce."""

from __future__ import annotations

from contextlib import ExitStack
from inspect import iscoroutinefunction
from itertools import chain
from types import FunctionType, MethodType, ModuleType
from typing import Any

import pluggy

from ..contract.hooks import Announcements, ExtensionHooks
from ..contract.providers import PROJECT, Provider
from .index import IndexEntry, PluginIndex
from .kinds import ANNOUNCES_EXTENSIONS, EXTENSIONS, KINDS, hooks_of
from .loading import Loader


class Modules:
    """Modules and other objects with hooks, each registered once and asked once for each kind."""

    def __init__(self) -> None:
        self._manager = new_manager()
        self._announced: dict[tuple[str, str], tuple[Provider[object], ...]] = {}

    def provider_of(self, entry: IndexEntry, index: PluginIndex) -> Provider[object]:
        """Return the provider that an entry point means: the one of its name, or its module's only one (an alias).

        Args:
            entry: the entry point, whose module is imported if it was not before.
            index: holds it.

        Raises:
            BaseException: whatever the module raises, or a `TypeError` if it announces something else.
        """
        with ExitStack() as undo:
            plugin = self._manager.get_plugin(entry.module)
            if plugin is None:
                loader = Loader(index.entries(entry.kind), entry)
                for error in loader.errors:
                    raise error
                plugin = loader.extensions[0].plugin
                undo.callback(self._manager.unregister, name=entry.module)
                register(self._manager, plugin, entry.module)
            providers = self._ask(entry.kind, plugin, entry.module, entry.name)
            named = [provider for provider in providers if provider.name == entry.name] or providers
            if len(named) != 1:
                names = ", ".join(provider.name for provider in named) or "nothing"
                raise TypeError(f"announces {names} instead of '{entry.name}'")
            undo.pop_all()
        return named[0]

    def adopt(self, name: str, plugin: object, label: str) -> list[tuple[str, Provider[object]]]:
        """Register what no entry point names, for every kind of which it implements a hook.

        Args:
            name: under which it is registered.
            plugin: the module or object.
            label: what users call it.

        Returns:
            Kind and provider of everything that it announces.

        Raises:
            BaseException: whatever its hooks raise, or a `TypeError` if it announces nothing.
        """
        register(self._manager, plugin, name)
        announced = [
            (str(kind), provider)
            for kind in KINDS
            if self._implements(plugin, kind)
            for provider in self._ask(kind, plugin, name, label)
        ]
        if not announced:
            raise TypeError("announces nothing")
        return announced

    def _ask(self, kind: str, plugin: object, module: str, name: str) -> tuple[Provider[object], ...]:
        """Return what a registered plugin has of a kind; its hook is called once."""
        if (kind, module) not in self._announced:
            if not self._implements(plugin, kind):
                raise TypeError(f"does not implement {' or '.join(sorted(hooks_of(kind)))}")
            providers = self._called(kind, plugin, name)
            for provider in providers:
                if not isinstance(provider, Provider):
                    raise TypeError(f"announces a {type(provider).__name__} where a Provider belongs")
            self._announced[kind, module] = providers
        return self._announced[kind, module]

    def _called(self, kind: str, plugin: object, name: str) -> tuple[Provider[object], ...]:
        if kind == EXTENSIONS and not self._hears(plugin, ANNOUNCES_EXTENSIONS):  # its module listens
            return (Provider(name, lambda: plugin, ""),)
        others = self._manager.get_plugins() - {plugin}
        answers = self._manager.subset_hook_caller(f"{PROJECT}_{kind}", others)()
        return tuple(chain.from_iterable(answers))

    def _implements(self, plugin: object, kind: str) -> bool:
        return self._hears(plugin, *hooks_of(kind))

    def _hears(self, plugin: object, *hooks: str) -> bool:
        return any(caller.name in hooks for caller in self._manager.get_hookcallers(plugin) or ())


_HOOKABLE = (FunctionType, MethodType, staticmethod, classmethod)
"""What pluggy takes for a hook if it is marked."""


class _Manager(pluggy.PluginManager):
    """Passes over what cannot be a hook of a module: pluggy looks each attribute up in a way that takes long."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> Any:
        """See `pluggy.PluginManager`."""
        if isinstance(plugin, ModuleType) and not isinstance(vars(plugin).get(name), _HOOKABLE):
            return None
        return super().parse_hookimpl_opts(plugin, name)


def new_manager() -> pluggy.PluginManager:
    """Return a manager that knows every hook, and no plugin."""
    manager = _Manager(PROJECT)
    manager.add_hookspecs(Announcements)
    manager.add_hookspecs(ExtensionHooks)
    return manager


def register(manager: pluggy.PluginManager, plugin: object, name: str) -> None:
    """Register a plugin, checked against the hook specifications.

    Raises:
        TypeError: one of its hooks is a coroutine function.
        ValueError: it is registered already.
        pluggy.PluginValidationError: it has a hook that is not specified.
    """
    manager.register(plugin, name)
    manager.check_pending()
    for caller in manager.get_hookcallers(plugin) or ():
        if any(impl.plugin is plugin and iscoroutinefunction(impl.function) for impl in caller.get_hookimpls()):
            raise TypeError(f"{caller.name} must not be async")
