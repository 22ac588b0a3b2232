"""The kinds of plugins: what they are called, by code and by people, and what was found of one."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Generic, Self, TypeVar

from skillgauge_documents.immutables import immutable

from ..contract.adapters import Adapter
from ..contract.engines import Engine
from ..contract.executors import Executor
from ..contract.formats import SuiteFormat
from ..contract.hooks import ExtensionHooks
from ..contract.judges import Judge
from ..contract.providers import PROJECT, Provider
from ..contract.reporters import Reporter
from ..contract.sandboxes import Sandbox
from ..contract.scorers import Scorer
from ..contract.stores import Store
from ..errors import Problem
from .index import IndexEntry

T = TypeVar("T")


class Kind(str, Generic[T]):
    """A kind's name, as entry points and hooks have it, that also tells the type checker what its plugins make."""

    singular: str
    """What people call one of them."""
    contract: type
    """What its objects must be able to do; extensions listen to hooks and have no other contract."""

    def __new__(cls, plural: str, singular: str, contract: type) -> Self:
        """A kind and what is known of it."""
        kind = super().__new__(cls, plural)
        kind.singular, kind.contract = singular, contract
        return kind

    def __getnewargs__(self) -> tuple[str, str, type]:  # type: ignore[override]  # that of `str` knows its text alone
        return str(self), self.singular, self.contract


FORMATS = Kind[SuiteFormat]("formats", "format", SuiteFormat)
ADAPTERS = Kind[Adapter]("adapters", "adapter", Adapter)
ENGINES = Kind[Engine]("engines", "engine", Engine)
SCORERS = Kind[Scorer]("scorers", "scorer", Scorer)
JUDGES = Kind[Judge]("judges", "judge", Judge)
SANDBOXES = Kind[Sandbox]("sandboxes", "sandbox", Sandbox)
REPORTERS = Kind[Reporter]("reporters", "reporter", Reporter)
STORES = Kind[Store]("stores", "store", Store)
EXECUTORS = Kind[Executor]("executors", "executor", Executor)
EXTENSIONS = Kind[object]("extensions", "extension", object)

_ALL = (FORMATS, ADAPTERS, ENGINES, SCORERS, JUDGES, SANDBOXES, REPORTERS, STORES, EXECUTORS, EXTENSIONS)
KINDS: Mapping[str, Kind[Any]] = {str(kind): kind for kind in _ALL}
"""Every kind by its name."""

SHAPES = "shapes"
"""What the files of formats are known by: entry points that are data, not a kind of plugin, and are never loaded."""

ANNOUNCES_EXTENSIONS = f"{PROJECT}_{EXTENSIONS}"
"""The hook of an extension that has options; without it, the module itself listens."""

EVENTS = frozenset(name for name in vars(ExtensionHooks) if name.startswith(f"{PROJECT}_")) - {ANNOUNCES_EXTENSIONS}
"""The hooks that extensions listen to."""


def hooks_of(kind: str) -> frozenset[str]:
    """The hooks of which a plugin of a kind implements one at least."""
    return frozenset({f"{PROJECT}_{kind}"}) | (EVENTS if kind == EXTENSIONS else frozenset())


@immutable
class Resolved:
    """A plugin that was found by name, loaded and checked."""

    kind: str
    name: str
    """Its own name, as results carry it."""
    provider: Provider[object]
    distribution: str
    """Or the path of a `--plugin` file."""
    version: str
    asked: str
    """The name that found it: an alias may have options of its own, and so may each `NAME+SETTING`."""

    @property
    def variant(self) -> str:
        """The variant in the name that found it; empty if it names none."""
        return self.asked.partition("+")[0].partition(":")[2]

    def serves(self, model: str) -> bool:
        """Tell whether an engine or a judge announces that it serves a model."""
        return any(fnmatchcase(model, pattern) for pattern in self.provider.traits.model_patterns)


def broken(plugin: IndexEntry | Resolved, how: str) -> Problem:
    """Make a problem of the failure of a plugin."""
    text = f"{KINDS[plugin.kind].singular} '{plugin.name}' of {plugin.distribution} {plugin.version} {how}"
    return Problem("plugin.broken", text, hint="skillgauge plugins doctor")
