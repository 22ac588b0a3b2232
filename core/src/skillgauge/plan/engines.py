"""The engines of a run: each found and made once, and the one that plays recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from skillgauge_documents.frozen import EMPTY, JsonObject, digest

from ..contract.engines import Recorder, SessionCache, SessionReader
from ..contract.providers import Clean, Traits, imported
from ..environment import secret
from ..errors import PluginError, Problem, Severity
from ..plugins.collecting import collected, found_by
from ..plugins.events import failing_as
from ..plugins.guard import guarded_part
from ..plugins.kinds import ENGINES, Resolved, broken
from ..plugins.registry import Registry
from ..run.stage import AgentSetup
from ..types.suite import Suite


class Engines:
    """The engines of a run, each made once.

    Args:
        registry: the run's plugins.
        replay: folder of the recordings that one of them plays.
    """

    def __init__(self, registry: Registry, replay: Path | None = None) -> None:
        self._registry = registry
        self._replay = replay
        self._made: dict[tuple[str, str], AgentSetup] = {}
        self.setups: dict[str, AgentSetup] = {}
        """Engines in use, by the digest of their identity."""

    def serving(self, model: str | None) -> tuple[str, ...]:
        """Engines for a model where the user names none: the only one installed, else those that claim the model's id.

        Engines that announce that nobody gets them unasked do not count.
        """
        engines = {one.name: one for one in self._registry.load_all("engines") if not one.provider.traits.only_by_name}
        if len(engines) == 1 or model is None:
            return tuple(engines)
        return tuple(name for name, one in engines.items() if one.serves(model))

    def find(self, name: str, problems: list[Problem], suite: Suite) -> AgentSetup | None:
        """An engine by its name; `None` and a problem, in the suite if that names it, if there is none that works."""
        options = dict(suite.defaults.engine_options).get(name.partition("+")[0], EMPTY)
        if (key := (name, digest(options))) not in self._made:
            with collected(problems, suite.origin if options or name == suite.defaults.engine else None):
                self._made[key] = self._make(name, options)
        return self._made.get(key)

    def player(self) -> Resolved:
        """The installed engine that plays recordings back, and makes what writes them.

        Raises:
            PluginError: there is none, or there are several.
        """
        players = [one for one in self._registry.load_all("engines") if one.provider.traits.plays]
        if len(players) == 1:
            return players[0]
        if not players:
            hint = "pip install skillgauge-engine-replay"
            raise PluginError(Problem("plugin.not-installed", "no installed engine plays recordings", hint=hint))
        listed = ", ".join(f"{one.name} of {one.distribution}" for one in players)
        message = f"several engines play recordings: {listed}"
        raise PluginError(Problem("plugin.ambiguous", message, hint="Leave all but one out, with --no-plugin NAME."))

    def recorder(self, folder: Path | None, clean: Clean) -> Recorder | None:
        """Return the recorder that keeps the sessions of a run in a folder; `None` without one.

        Raises:
            PluginError: no installed engine plays recordings, or the one that does makes none.
        """
        if folder is None:
            return None
        player = self.player()
        if player.provider.records is None:
            raise PluginError(broken(player, "plays recordings and makes none"))
        with failing_as(player, "cannot record"):
            return guarded_part(Recorder, imported(player.provider.records)(folder, clean), player)

    def cache(self, folder: Path, clean: Clean) -> SessionCache | None:
        """Return the cache of sessions from earlier runs in a folder; `None` if no installed plugin has one."""
        with suppress(PluginError):
            player = self.player()
            if player.provider.caches:
                return guarded_part(SessionCache, imported(player.provider.caches)(folder, clean), player)
        return None

    def _make(self, name: str, wanted: JsonObject) -> AgentSetup:
        resolved = self._registry.resolve(ENGINES, name)
        place = resolved.provider.traits.plays
        options: dict[str, Any] = {}
        if wanted:
            configured = self._registry.validated_options(resolved).model_fields_set
            options = {key: value for key, value in wanted.items() if key not in configured}
        if place and self._replay:
            options[place] = str(self._replay)
        traits = self._registry.traits(resolved, options)
        _, plus, setting = name.partition("+")
        return AgentSetup(self._registry.make(ENGINES, resolved, options), traits, plus + setting)

    def traits(self) -> dict[str, Traits]:
        """Of every engine in use, by its name."""
        return {name: setup.traits for (name, _), setup in self._made.items()}

    def login_files(self) -> tuple[str, ...]:
        """Credential files, relative to the user's home, that engines in use may read for want of a key."""
        without_key = (one for one in self.traits().values() if not any(map(secret, one.secrets)))
        return tuple(dict.fromkeys(file for traits in without_key for file in traits.login_files))

    def fits(self, traits: Traits, model: str) -> bool:
        """Tell whether an engine may serve a model: it announces it, any model, or its address is the user's own.

        A model that no installed engine announces may be one of any engine.
        """
        if not traits.model_patterns or any(fnmatchcase(model, pattern) for pattern in traits.model_patterns):
            return True
        return _has_own_address(traits) or not self._claiming(model)

    def _claiming(self, model: str) -> set[str]:
        """Return the names of the installed engines that announce a model."""
        return {engine.name for engine in self._registry.load_all(ENGINES) if engine.serves(model)}

    def unclaimed(self, models: Iterable[str]) -> Iterator[Problem]:
        """Yield a warning for each model that other engines than those of this run claim; none behind an own address.

        Args:
            models: those that the user names.
        """
        announced = self.traits().values()
        if any(not traits.model_patterns or _has_own_address(traits) for traits in announced):
            return  # one of them takes any model, or is asked at an address of the user's own
        used = {name.partition("+")[0] for name, _ in self._made}
        for model in models:
            claiming = self._claiming(model)
            if claiming and not claiming & used:
                message = f"model {model!r} is claimed by {', '.join(sorted(claiming))}, and not by {', '.join(used)}"
                hint = "Name the engine that serves it, with --engine, or another model."
                yield Problem("engine.other-model", message, hint=hint, severity=Severity.WARNING)

    async def problems(self) -> list[Problem]:
        """Report everything that keeps any of the engines from working here."""
        # One engine may be made for several suites.
        return list(dict.fromkeys(await found_by(one.engine.check() for one in self._made.values())))


def _has_own_address(traits: Traits) -> bool:
    """Tell whether the user has an engine ask an address of his own."""
    return any(secret(redirect.variable) for redirect in traits.redirects)


def session_readers(registry: Registry) -> dict[str, SessionReader]:
    """Return what reads the sessions that agents' programs keep by themselves, by the names of their engines.

    Raises:
        PluginError: one of them cannot be made.
    """
    readers: dict[str, SessionReader] = {}
    for engine in registry.load_all("engines"):
        if engine.provider.sessions:
            with failing_as(engine, "cannot read sessions"):
                readers[engine.name] = guarded_part(SessionReader, imported(engine.provider.sessions)(), engine)
    return readers
