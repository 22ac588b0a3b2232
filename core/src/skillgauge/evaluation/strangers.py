"""Options that are set of plugins which are not there, and of blocks that no plugin shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..config.configuration import Config, Source, Value
from ..config.kind_names import SINGULAR
from ..contract.shared_options import SHARED
from ..errors import Problem, Severity, did_you_mean
from ..plugins.index import PluginIndex, install_hint
from ..plugins.registry import Registry
from ..plugins.sharing import SharedBlocks
from .remarks import said_if


def strangers(config: Config, registry: Registry, index: PluginIndex) -> Iterator[Problem]:
    """Yield problems of options that are set of plugins which are not there, and of blocks that no plugin shares.

    Those of a plugin of ours that is only not installed here may stand in a file that machines share, and
    so may those of any that the user does without.
    """
    without = frozenset(config.get("plugins.block"))
    shared: SharedBlocks | None = None
    for value, kind, name in _plugin_options(config):
        if kind == SHARED:
            if shared is None:
                shared = registry.shared_blocks()
                yield from shared.conflicts
            yield from _unshared(value, name, shared.names())
        elif kind not in SINGULAR:
            kinds = (*SINGULAR, SHARED)
            near = did_you_mean(kind, kinds) or f"; there are {', '.join(kinds)}"
            yield Problem("usage.set", f"{_named(value)}: {kind!r} is no kind of plugin{near}")
        elif not index.find(kind, name) and name not in {*without, *registry.names(kind)}:
            yield _stranger(value, kind, name, registry.names(kind))


def _plugin_options(config: Config) -> Iterator[tuple[Value, str, str]]:
    """Yield the options of plugins that are set, each with kind and name of the plugin."""
    for value in config.items():
        match value.key.split(".", 3):
            case "plugins", kind, name, _:
                yield value, kind, name.partition("+")[0]


def _named(value: Value) -> str:
    """An option of a plugin, and where it is set unless that is the command line."""
    place = said_if(value.source is not Source.FLAG, f" (set in {value.where})")
    return f"{value.key.removeprefix('plugins.')}{place}"


def _unshared(value: Value, name: str, names: Sequence[str]) -> Iterator[Problem]:
    if name not in names:
        message = f"{_named(value)}: no installed plugin shares options of that name{did_you_mean(name, names)}"
        hint = f"Name a block that plugins share ({', '.join(names) or 'none do'}), or install what brings it."
        yield Problem("usage.set", message, hint=hint)


def _stranger(value: Value, kind: str, name: str, names: Sequence[str]) -> Problem:
    hint = install_hint(kind, name)
    message = f"{_named(value)}: no plugin of that name is installed"
    is_typed = value.source is Source.FLAG
    if not is_typed and hint.startswith("pip install "):
        return Problem("usage.set", message, hint=hint, severity=Severity.WARNING)
    near = did_you_mean(name, names)
    if not is_typed:
        hint = f"Install what brings it, or name it in plugins.block where it is to be done without: {name}."
    elif near:
        hint = f"See `skillgauge plugins list --kind {kind}`."
    return Problem("usage.set", f"{message}{near}", hint=hint)
