"""Announces `acp`: any agent that speaks the protocol, described in the configuration."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Fact, Provider, Traits, hookimpl

from .options import ENGINE, ConfiguredOptions, UsageRule


def _traits(options: ConfiguredOptions) -> Traits:
    from skillgauge_agent_programs.programs import announced  # noqa: PLC0415 - few commands need it

    tells = {Fact.FIRED} if options.skill_tool else set()
    if options.usage is not UsageRule.NONE:
        tells.add(Fact.USAGE)
    traits = Traits(
        secrets=(options.key_variable,) if options.key_variable else (),
        passes=options.secret_env,
        model_hosts=options.hosts,
        only_by_name=True,
        skill_folder=options.skill_folder,
        tells=frozenset(tells),
        paid=True,
    )
    return traits.model_copy(update=announced(options.program or options.argv[0]))


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `acp`."""
    yield Provider(
        name=ENGINE,
        options=ConfiguredOptions,
        factory="skillgauge_engine_acp.configured.engine:ConfiguredEngine",
        summary="Any agent that speaks the Agent Client Protocol, described in the configuration.",
        traits=Traits(only_by_name=True, paid=True),
        traits_with=_traits,
        variants="agent",
    )
