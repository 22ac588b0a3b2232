"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Fact, Provider, Traits, hookimpl

from .options import CommandOptions


def _traits(options: CommandOptions) -> Traits:
    tells = {Fact.FIRED} if options.skill_tool else set()
    if options.usage_keys:
        tells.add(Fact.USAGE)
    if "cost_usd" in options.usage_keys:
        tells.add(Fact.COST)
    return Traits(
        only_by_name=True,
        skill_folder=options.skill_folder,
        secrets=options.pass_env,
        model_hosts=options.hosts,
        paid=options.paid,
        tells=frozenset(tells),
    )


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `command`."""
    yield Provider(
        name="command",
        options=CommandOptions,
        factory="skillgauge_engine_command.engine:CommandEngine",
        summary="Any agent program, started by a template.",
        traits=Traits(only_by_name=True, paid=True),
        traits_with=_traits,
    )
