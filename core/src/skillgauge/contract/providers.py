"""The announcement of a plugin: providers, and the facts about them that are known before they are made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast

import pluggy
from pydantic import BaseModel

from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject

from .engines import Recorder, SessionCache, SessionReader
from .redirects import Redirect

T = TypeVar("T")
P = ParamSpec("P")

PROJECT = "skillgauge"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin module as the implementation of the hook of the same name."""

Clean = Callable[[Any], Any]
"""Takes secrets out of a value; what comes back has the same type."""


HARMLESS: dict[str, Any] = {"harmless": True}
"""Declares that the configuration of a folder may set an option for whoever enters it, before he trusts that file:
`Field(..., json_schema_extra=HARMLESS)`. Only what names no program, address, path, variable or right, and no price."""
RUN_PLACE: dict[str, Any] = {"place": "run"}
"""Declares in the same way that an option names files or folders that belong to the run. They go with it to workers on
other machines, where the option has the path that they have there."""
MACHINE_PLACE: dict[str, Any] = {"place": "machine"}
"""Declares that an option names what each machine has for itself, as a program: every worker gets it as it stands."""


class NoOptions(Frozen):
    """Options model of a plugin that has none."""


class Fact(StrEnum):
    """Things that an engine may or may not be able to tell of a session; of an answer, a judge the last two."""

    OFFERED = "offered"
    FIRED = "fired"
    BLOCKS = "blocks"
    USAGE = "usage"
    """Tokens."""
    COST = "cost"


class Traits(Frozen):
    """The needs and abilities of a plugin, known before it is made."""

    secrets: tuple[str, ...] = ()
    """Names of environment variables, any one of which authenticates it."""
    passes: tuple[str, ...] = ()
    """Names of further environment variables that its processes get; their values are kept out of results, too."""
    login_files: tuple[str, ...] = ()
    """Credential files of an existing login, relative to the user's home."""
    model_hosts: tuple[str, ...] = ()
    """Hosts that must be reachable with an existing login, whose requests no route can carry."""
    redirects: tuple[Redirect, ...] = ()
    """For an engine or a judge: environment variables that say where its API is served."""
    inherited: tuple[str, ...] = ()
    """Names of files and folders that the agent also reads from any folder above its workspace."""
    plays: str | None = None
    """For an engine: name of its option that takes the folder of recordings which `--replay` names, if it plays any."""
    only_by_name: bool = False
    """For an engine or a sandbox: whether it is never taken just because it is installed."""
    skill_folder: str | None = None
    """Where the agent looks for skills, relative to its workspace."""
    installs: frozenset[str] = frozenset()
    """For an engine: kinds of `Install` that it can place."""
    conversations: bool = False
    """For an engine: whether it goes on with the session that `RunRequest.continues` names."""
    program: tuple[str, ...] = ()
    """For an engine that starts a program of this machine: an absolute command line that makes it tell its version."""
    program_files: tuple[str, ...] = ()
    """Absolute paths without which that program does not start; a sandbox with files of its own shows them, too."""
    model_patterns: tuple[str, ...] = ()
    """`fnmatch` patterns of the model ids it serves, so that a bare model id can pick it."""
    tells: frozenset[Fact] = frozenset()
    """Facts it reports; the others are unknown, never "no"."""
    remote: bool = False
    """For an engine, or a judge that asks one: whether it works by the methods of `Workspace` alone and starts no
    program that is installed here, so that its sessions can run on another machine."""
    instructions: str | None = None
    """For an engine: name of its option that takes instructions in place of the agent's own and leaves it without
    tools, so that a judge can ask it; `None` if there is none."""
    paid: bool = False
    """Whether a call costs money."""
    asks_judge: bool = False
    """For a scorer: whether it needs a judge. Others see one only if the user names it in the command."""
    schemes: tuple[str, ...] = ()
    """For a store: schemes of the addresses it serves; `file` stands for plain paths. The address arrives as its
    option `location`."""


class Peers(Protocol):
    """The other plugins of one kind that a run may use, for a plugin that uses them itself: see `Provider.uses`.

    What the user blocks is absent, as if it were not installed; what `--plugin` names is there.
    """

    def names(self) -> tuple[str, ...]:
        """Return every name, aliases included; nothing is imported."""

    def announced(self) -> Mapping[str, Traits]:
        """Return what each that loads announces before its options are known, by its own name."""

    def traits(self, name: str, options: JsonObject = EMPTY) -> Traits:
        """Return what one announces with its options.

        Args:
            name: its name or an alias.
            options: values that go before those of the configuration, key by key.

        Raises:
            PluginError: it cannot be used, or its options are wrong.
        """

    def make(self, name: str, options: JsonObject = EMPTY) -> Any:
        """Make an object of one, guarded as the kernel's own are; arguments and errors are those of `traits`."""


@dataclass(frozen=True)
class Provider(Generic[T]):
    """The answer to a hook: a name, the way to make the object, and what a user should know before that."""

    name: str
    """As the user types it; equal to the entry point's name, or to the one an alias stands for."""
    factory: str | Callable[..., T]
    """What makes the object: `"acme_tone.scorer:ToneScorer"`, imported when the object is made and not before; in a
    plugin of one file, which has no name to import, the class itself. It is called with the validated options if there
    is a model of options, and with `Peers` after them if the plugin `uses` others."""
    summary: str
    """One line for `plugins list`."""
    options: type[BaseModel] = NoOptions
    """Model of its options; unknown keys must be refused."""
    traits: Traits = field(default_factory=Traits)
    traits_with: Callable[..., Traits] | None = None
    """For an engine or a judge whose options decide its traits: makes them from what the factory gets; `traits` holds
    before."""
    variants: str | None = None
    """Name of an option. The user writes its value behind the plugin's name, `NAME:VALUE`, where no plugin of the same
    distribution is called so."""
    uses: str | None = None
    """A kind of which it uses plugins itself, or `shapes`, of which there are only names: its factory gets `Peers`."""
    records: str | Callable[[Path, Clean], Recorder] | None = None
    """For an engine that plays recordings: makes what writes them into the folder that `--record` names, named as
    `factory` is. Every text goes through the second argument, which takes secrets out."""
    caches: str | Callable[[Path, Clean], SessionCache] | None = None
    """For the same engine, and named in the same way: makes what answers sessions without the skill from earlier runs,
    kept in a folder."""
    sessions: str | Callable[[], SessionReader] | None = None
    """For an engine: makes what reads the sessions that its program keeps by itself; named as `factory` is."""
    worker: str | Callable[..., Awaitable[None]] | None = None
    """For an executor whose workers are elsewhere: serves its runs on this machine, for `skillgauge worker`; named as
    `factory` is, and called as `Serve` of `skillgauge-workers` says."""
    schemas: str | Callable[[], Mapping[str, JsonObject]] | None = None
    """Makes JSON Schemas of the documents it reads or writes, by the name that `skillgauge schema` takes; named as
    `factory` is."""

    def make(self, options: BaseModel, peers: Peers | None = None) -> T:
        """Make the object that validated options describe.

        Args:
            options: an object of the model of options.
            peers: the plugins that it uses.
        """
        own = () if self.options is NoOptions else (options,)
        return imported(self.factory)(*own, *self._with(peers))

    def made_traits(self, options: BaseModel, peers: Peers | None = None) -> Traits:
        """Return what the plugin announces with validated options; the arguments are those of `make`."""
        if self.traits_with is None:
            return self.traits
        return self.traits_with(options, *self._with(peers))

    def _with(self, peers: Peers | None) -> tuple[Peers, ...]:
        """Return what the factory gets beside the options.

        Raises:
            TypeError: the plugin uses others, and gets none.
        """
        if self.uses is None:
            return ()
        if peers is None:
            raise TypeError(f"{self.name} uses {self.uses}, so it is made by a registry")
        return (peers,)


def imported(maker: str | Callable[P, T]) -> Callable[P, T]:
    """Import the object that a provider names as `"module:name"`; anything but a text is the maker itself.

    Raises:
        ImportError: the text names nothing.
    """
    if not isinstance(maker, str):
        return maker
    module, _, name = maker.partition(":")
    try:
        return cast("Callable[P, T]", getattr(import_module(module), name))
    except (ImportError, AttributeError, ValueError) as error:
        raise ImportError(f"{maker!r} names nothing that can be imported: {error}") from error
