"""Describes the engine of each agent for its announcement; what they do is in `engine`.

Each agent is announced by a module of its own, so that blocking one agent leaves the others.
"""

from __future__ import annotations

from functools import partial

from skillgauge.api import Engine, Provider, Redirect, Traits

from .agents import Agent
from .options import AcpOptions


def _traits(agent: Agent, options: AcpOptions) -> Traits:
    return Traits(
        secrets=agent.variables,
        login_files=agent.login_files,
        model_hosts=options.login_hosts(agent.login_hosts, agent.address_variables),
        redirects=tuple(Redirect(variable=name, option="gateway") for name in agent.address_variables),
        inherited=agent.inherited,
        only_by_name=True,  # installed beside the agent's own engine, it must not be picked by chance
        skill_folder=agent.skill_folder,
        installs=agent.installs,
        model_patterns=agent.model_patterns,
        tells=agent.tells,
        paid=True,
        conversations=agent.reopens,
        passes=options.secret_env,
    )


def _traits_here(agent: Agent, options: AcpOptions) -> Traits:
    from skillgauge_agent_programs.programs import announced  # noqa: PLC0415 - few commands need it

    return _traits(agent, options).model_copy(update=announced(options.program or agent.command))


def provider_of(agent: Agent) -> Provider[Engine]:
    """Return what is announced of an agent."""
    return Provider(
        name=agent.name,
        options=AcpOptions,
        factory=agent.engine,
        summary=agent.summary,
        traits=_traits(agent, AcpOptions()),
        traits_with=partial(_traits_here, agent),
    )
