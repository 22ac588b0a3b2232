"""Announces one engine for each known agent; what they do is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from skillgauge.api import Engine, Provider, Redirect, Traits, hookimpl

from .agents import AGENTS, Agent
from .options import AcpOptions


def _traits(agent: Agent, options: AcpOptions) -> Traits:
    return Traits(
        secrets=agent.variables,
        login_files=agent.login_files,
        model_hosts=options.login_hosts(agent.login_hosts, agent.address_variables),
        redirects=tuple(Redirect(variable=name, option="gateway") for name in agent.address_variables),
        inherited=agent.inherited,
        only_by_name=True,  # who installs it beside an engine of its own must not get it by chance
        skill_folder=agent.skill_folder,
        model_patterns=agent.model_patterns,
        tells=agent.tells,
        paid=True,
        passes=options.secret_env,
    )


def _traits_here(agent: Agent, options: AcpOptions) -> Traits:
    from skillgauge_agent_programs.programs import announced  # noqa: PLC0415 - few commands need it

    return _traits(agent, options).model_copy(update=announced(options.program or agent.command))


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce the agents."""
    for agent in AGENTS:
        yield Provider(
            name=agent.name,
            options=AcpOptions,
            factory=agent.engine,
            summary=agent.summary,
            traits=_traits(agent, AcpOptions()),
            traits_with=partial(_traits_here, agent),
        )
