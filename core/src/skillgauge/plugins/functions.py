"""Functions that installed distributions add to the Python API: each is called as `skillgauge.NAME`.

A distribution announces one by an entry point of the group `skillgauge.functions`. The core knows none of them, and
imports one when it is first used.
"""

from __future__ import annotations

from importlib import import_module

from ..errors import PluginError, Problem
from .index import install_hint
from .installed import read_index

KIND = "functions"


def function_names() -> tuple[str, ...]:
    """Return the names of the functions that are installed."""
    return tuple(dict.fromkeys(entry.name for entry in read_index().entries(KIND)))


def function(name: str) -> object:
    """Import a function.

    Raises:
        AttributeError: no installed distribution has it.
        PluginError: several distributions have it, or it cannot be used with this version of the core.
    """
    entries = read_index().find(KIND, name)
    if not entries:
        hint = install_hint(KIND, name)
        advice = f"; to add it: {hint}" if hint.startswith("pip ") else ""
        raise AttributeError(f"module 'skillgauge' has no attribute {name!r}{advice}", name=name)
    makers = " and ".join(f"{entry.distribution} {entry.version}" for entry in entries)
    if len(entries) > 1:
        message = f"function {name!r} is announced by {makers}"
        raise PluginError(Problem("plugin.clash", message, hint="Uninstall one of them."))
    (entry,) = entries
    if entry.problem:
        raise PluginError(Problem("plugin.incompatible", f"function {name!r} of {makers}: {entry.problem}"))
    module, _, attribute = entry.place.partition(":")
    value: object = getattr(import_module(module), attribute)
    return value
