"""Announces one engine for each known agent; what they do is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from skillgauge.api import Engine, Provider, Redirect, Traits, hookimpl

from .agents import CLAUDE, CODEX, GEMINI, Agent
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
        model_patterns=agent.model_patterns,
        tells=agent.tells,
        paid=True,
        passes=options.secret_env,
    )


def _traits_here(agent: Agent, options: AcpOptions) -> Traits:
    from skillgauge_agent_programs.programs import announced  # noqa: PLC0415 - few commands need it

    return _traits(agent, options).model_copy(update=announced(options.program or agent.command))


class Announcement:
    """Announces the engine of one agent.

    Each agent has an entry point that leads to an object of its own, so that blocking one agent leaves the others.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    @hookimpl
    def skillgauge_engines(self) -> Iterable[Provider[Engine]]:
        """Announce the agent."""
        agent = self._agent
        yield Provider(
            name=agent.name,
            options=AcpOptions,
            factory=agent.engine,
            summary=agent.summary,
            traits=_traits(agent, AcpOptions()),
            traits_with=partial(_traits_here, agent),
        )


claude_agent_acp = Announcement(CLAUDE)
codex_acp = Announcement(CODEX)
gemini = Announcement(GEMINI)
