"""The engine whose program is asked: the one that is named, else the only one that fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from skillgauge.api import (
    EMPTY,
    Engine,
    Fact,
    JsonObject,
    Peers,
    Problem,
    Traits,
    did_you_mean,
    host_environment,
    secret,
)

from .options import AgentOptions


@dataclass(frozen=True)
class Askable:
    """An engine whose agent can be asked a question without tools."""

    name: str
    announced: Traits
    """What it announces before its options are known."""
    options: JsonObject
    """What the judge's own options say of it."""
    engines: Peers

    @property
    def traits(self) -> Traits:
        """What it announces with its options."""
        return self.engines.traits(self.name, self.options)

    def engine(self, instructions: str | None = None) -> Engine:
        """Make the engine; with instructions, one without tools."""
        options = dict(self.options)
        if instructions is not None:
            options[str(self.announced.instructions)] = instructions
        engine: Engine = self.engines.make(self.name, options)
        return engine

    def claims(self, model: str) -> bool:
        """Check whether it announces that it serves a model."""
        return any(fnmatchcase(model, pattern) for pattern in self.announced.model_patterns)

    def has_access(self) -> bool:
        """Check whether a key or a login of its program is here."""
        home = host_environment().get("HOME", "")
        traits = self.traits
        if any(map(secret, traits.secrets)):
            return True
        return home != "" and any(Path(home, file).is_file() for file in traits.login_files)


def chosen(options: AgentOptions, engines: Peers, model: str | None) -> Askable | Problem:
    """Return the engine to ask, or what is wrong if there is not exactly one.

    Args:
        options: of the judge.
        engines: those of the run.
        model: the one that a question names.

    Raises:
        PluginError: options of an engine are wrong.
    """
    able = askable(options, engines)
    if options.engine is not None:
        return able.get(options.engine) or _not_askable(options.engine, able)
    model_id = model or options.model
    rules: list[Callable[[Askable], bool]] = [Askable.has_access]
    if model_id is not None:
        rules.insert(0, lambda engine: engine.claims(model_id))
    for rule in rules:
        if len(able) > 1:
            able = {name: engine for name, engine in able.items() if rule(engine)} or able
    if len(able) == 1:
        return next(iter(able.values()))
    if able:
        message = f"judge 'agent' may ask {', '.join(able)}, and nothing says which"
        return Problem("judge.engine", message, hint="--set judges.agent.engine=NAME")
    hint = "Install an engine, for example skillgauge-engine-claude-code."
    return Problem("judge.engine", "judge 'agent' has no engine to ask", hint=hint)


def traits_of(options: AgentOptions, engines: Peers) -> Traits | None:
    """Return what the judge announces: what the engine needs, and what it tells of an answer."""
    choice = chosen(options, engines, None)
    if isinstance(choice, Problem):
        return None
    traits = choice.traits
    return Traits(
        secrets=traits.secrets,
        passes=traits.passes,
        login_files=traits.login_files,
        model_hosts=traits.model_hosts,
        redirects=traits.redirects,
        model_patterns=traits.model_patterns,
        remote=traits.remote,
        paid=traits.paid,
        tells=traits.tells & {Fact.USAGE, Fact.COST},
    )


def askable(options: AgentOptions, engines: Peers) -> dict[str, Askable]:
    """Return the engines that can be asked, by name: those that the options list, or all of the run."""
    able = {}
    for name, announced in sorted(engines.announced().items()):
        if announced.instructions and (not options.engines or name in options.engines):
            own = options.engines.get(name)
            able[name] = Askable(name, announced, own if isinstance(own, Mapping) else EMPTY, engines)
    return able


def _not_askable(engine: str, able: Mapping[str, Askable]) -> Problem:
    near = did_you_mean(engine, tuple(able))
    message = f"judge 'agent' cannot ask {engine!r}: no engine of this run with that name answers without tools{near}"
    return Problem("judge.engine", message, hint=f"Name one of: {', '.join(able) or 'none is installed'}.")
