"""Announces one engine for each known agent; what they do is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pydantic import BaseModel

from skillgauge.api import Engine, Provider, Traits, hookimpl

from .agents import AGENTS, Agent
from .options import AcpOptions


def _make(agent: Agent, options: BaseModel) -> Engine:
    from .makers import make_engine  # noqa: PLC0415 - announcing stays cheap

    return make_engine(agent, AcpOptions.model_validate(options))


def _traits(agent: Agent, options: BaseModel) -> Traits:
    return Traits(
        secrets=agent.variables,
        login_files=agent.login_files,
        model_hosts=agent.login_hosts,
        inherited=agent.inherited,
        only_by_name=True,  # who installs it beside an engine of its own must not get it by chance
        skill_folder=agent.skill_folder,
        model_patterns=agent.model_patterns,
        tells=agent.tells,
        paid=True,
        passes=AcpOptions.model_validate(options).secret_env,
    )


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce the agents."""
    for agent in AGENTS:
        yield Provider(
            name=agent.name,
            options=AcpOptions,
            factory=partial(_make, agent),
            summary=agent.summary,
            traits=_traits(agent, AcpOptions()),
            traits_with=partial(_traits, agent),
        )
