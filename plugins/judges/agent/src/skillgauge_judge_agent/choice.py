"""Which engine's program is asked: the one that is named, else the only one that fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import entry_points
from pathlib import Path

from skillgauge.api import (
    EMPTY,
    Engine,
    Fact,
    JsonObject,
    Problem,
    Provider,
    Traits,
    did_you_mean,
    host_environment,
    secret,
)

from .options import AgentOptions

GROUP = "skillgauge.engines"


@dataclass(frozen=True)
class Askable:
    """An engine whose agent can be asked a question without tools."""

    provider: Provider[Engine]
    options: JsonObject
    """As the run has them."""

    @property
    def traits(self) -> Traits:
        """What it announces with these options."""
        if self.provider.traits_with is None:
            return self.provider.traits
        return self.provider.traits_with(self.provider.options.model_validate(self.options))

    def engine(self, instructions: str | None = None) -> Engine:
        """The engine; with instructions, one without tools."""
        told = {str(self.provider.traits.instructions): instructions} if instructions is not None else {}
        return self.provider.make(self.provider.options.model_validate({**self.options, **told}))

    def claims(self, model: str) -> bool:
        """Whether it announces that it serves a model."""
        return any(fnmatchcase(model, pattern) for pattern in self.provider.traits.model_patterns)

    def has_access(self) -> bool:
        """Whether a key or a login of its program is here."""
        home = host_environment().get("HOME", "")
        traits = self.traits
        return any(map(secret, traits.secrets)) or any(
            home and Path(home, file).is_file() for file in traits.login_files
        )


def chosen(options: AgentOptions, model: str | None) -> Askable | Problem:
    """The engine to ask; what is wrong if there is not exactly one.

    Args:
        options: of the judge.
        model: the one that a question names.
    """
    able = askable(options)
    if options.engine is not None:
        return able.get(options.engine) or _not_askable(options, able)
    asked = model or options.model
    rules: list[Callable[[Askable], bool]] = [Askable.has_access]
    if asked is not None:
        rules.insert(0, lambda one: one.claims(asked))
    for rule in rules:
        if len(able) > 1:
            able = {name: one for name, one in able.items() if rule(one)} or able
    if len(able) == 1:
        return next(iter(able.values()))
    names = ", ".join(able)
    message = f"judge 'agent' may ask {names}, and nothing says which" if able else "judge 'agent' has nobody to ask"
    hint = "--set judges.agent.engine=NAME" if able else "Install an engine, for example skillgauge-engine-claude-code."
    return Problem("judge.engine", message, hint=hint)


def traits_of(options: AgentOptions) -> Traits | None:
    """What the judge announces: what the engine needs, and what it tells of an answer."""
    found = chosen(options, None)
    if isinstance(found, Problem):
        return None
    traits = found.traits
    return Traits(
        secrets=traits.secrets,
        passes=traits.passes,
        login_files=traits.login_files,
        model_hosts=traits.model_hosts,
        redirects=traits.redirects,
        model_patterns=traits.model_patterns,
        paid=traits.paid,
        tells=traits.tells & {Fact.USAGE, Fact.COST},
    )


def askable(options: AgentOptions) -> dict[str, Askable]:
    """Installed engines that can be asked, by name; without any given, all of them. A broken one is passed over."""
    found = {}
    for entry in entry_points(group=GROUP):
        if options.engines and entry.name not in options.engines:
            continue
        try:
            providers = tuple(entry.load().skillgauge_engines())
        except Exception:  # noqa: BLE001 - isolation point: nobody may have named this engine
            continue
        for provider in providers:
            if provider.name == entry.name and provider.traits.instructions:
                given = options.engines.get(entry.name, EMPTY)
                found[entry.name] = Askable(provider, given if isinstance(given, Mapping) else EMPTY)
    return dict(sorted(found.items()))


def _not_askable(options: AgentOptions, able: Mapping[str, Askable]) -> Problem:
    near = did_you_mean(options.engine or "", tuple(able))
    message = (
        f"judge 'agent' cannot ask {options.engine!r}: no installed engine of that name answers without tools{near}"
    )
    return Problem("judge.engine", message, hint=f"Name one of: {', '.join(able) or 'none is installed'}.")
