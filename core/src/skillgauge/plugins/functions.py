"""Functions that installed distributions add to the Python API: each is called as `skillgauge.NAME`.

A distribution announces one by an entry point of the group `skillgauge.functions`. The core knows none of them, and
imports one when it is first used.
"""

from __future__ import annotations

from ..contract.providers import imported
from ..errors import PluginError, Problem
from .index import install_hint, makers
from .installed import read_index

KIND = "functions"


def function_names() -> set[str]:
    """Return the names of the functions that are installed."""
    return {entry.name for entry in read_index().entries(KIND)}


def function(name: str) -> object:
    """Import a function.

    Raises:
        AttributeError: no installed distribution has it.
        PluginError: several distributions have it, or it cannot be used with this version of the core.
        ImportError: its distribution is broken.
    """
    entries = read_index().find(KIND, name)
    if not entries:
        hint = install_hint(KIND, name)
        advice = f"; to add it: {hint}" if hint.startswith("pip ") else ""
        raise AttributeError(f"module 'skillgauge' has no attribute {name!r}{advice}", name=name)
    problem = entries[0].problem
    if len(entries) > 1:
        problem = "only one of them can have it; uninstall the other"
    if problem:
        raise PluginError(Problem("plugin.function", f"function {name!r} of {makers(entries)}: {problem}"))
    return imported(entries[0].place)
