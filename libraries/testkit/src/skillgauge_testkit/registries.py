"""Registries of plugins that are not installed."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from skillgauge.api import EMPTY, JsonObject
from skillgauge.plugins.index import PluginIndex
from skillgauge.plugins.registry import Registry


def registry_of(*modules: ModuleType, options: Mapping[str, JsonObject] | None = None) -> Registry:
    """A registry of modules that implement hooks of any kind.

    Args:
        modules: what would be installed.
        options: what the configuration sets, by `<kind>.<name>`.

    Raises:
        PluginError: a module is no valid plugin.
    """
    registry = Registry(PluginIndex(), options=lambda name, _model: (options or {}).get(name, EMPTY))
    for module in modules:
        registry.adopt(module)
    return registry
