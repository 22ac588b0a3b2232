"""An engine that talks to an agent by the protocol: what is alike whichever agent it is."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgauge.api import Command, Emit, FrozenDict, JsonObject, RunRequest, Workspace
from skillgauge_agent_programs.accounts import Transcript
from skillgauge_agent_programs.engine import ProgramEngine, Service
from skillgauge_agent_programs.installs import Placed
from skillgauge_agent_programs.programs import AgentProgram, passed_environment
from skillgauge_agent_programs.raw import RawStream
from skillgauge_agent_programs.sessions import Ran

from .agents import Agent
from .conversation import Conversation, Terms
from .options import AcpOptions
from .reading import Reading
from .transcript import AcpTranscript

_BACKSTOP_S = 5.0
"""How much later than the session's limit the process is killed, should nobody be left to talk to it."""


class AcpEngine(ProgramEngine):
    """Runs one agent process per session, or turn of one, and talks to it by its stdin and stdout.

    A subclass says which agent it is, how it is started and what it tells beyond the protocol.

    Args:
        options: what the user set.
    """

    agent: Agent
    distribution = "skillgauge-engine-acp"

    def __init__(self, options: AcpOptions) -> None:
        super().__init__(options)
        self.options = options

    @abstractmethod
    def reading(self, request: RunRequest) -> Reading:
        """Return the reading of this agent's messages beyond the protocol."""

    def model(self, asked: str | None) -> str | None:
        """The model that sessions ask for."""
        return super().model(asked) or self.agent.model

    def service(self, model: str | None) -> Service:
        """The vendor's API, or a server that speaks its language."""
        agent, address = self.agent, self.options.base_url
        if address is not None:
            return Service(agent.route, address, agent.variables, needs_key=False)
        return self.at_gateway(Service(agent.route, agent.address, agent.variables, agent.login_files))

    def settings(self) -> JsonObject:
        """Options that sessions depend on."""
        return {key: value for key, value in super().settings().items() if key != "start_timeout_s"}

    def transcript(self, request: RunRequest) -> Transcript:
        """Reads what the agent tells."""
        return AcpTranscript(request, self.reading(request))

    def pass_over(self, home: Path, transcript: Transcript) -> None:
        """Let the agent's own reading look at what earlier turns of the session left."""
        assert isinstance(transcript, AcpTranscript)
        transcript.reading.pass_over(home, transcript.request.continues or "")

    def read_home(self, home: Path, transcript: Transcript) -> None:
        """Let the agent's own reading look at what its program left."""
        assert isinstance(transcript, AcpTranscript)
        transcript.reading.read_home(home)

    async def follow(
        self, workspace: Workspace, command: Command, transcript: Transcript, emit: Emit, raw: RawStream
    ) -> Ran:
        """Talk to the agent until its session has ended."""
        assert isinstance(transcript, AcpTranscript)
        turns = transcript.request.limits.max_turns
        if turns is not None and not self.agent.keeps_turns:
            transcript.note(f"this agent has no limit of turns, so that of {turns} was not kept")
        limit_s = command.timeout_s
        placed = await asyncio.to_thread(Placed.into, workspace.home, transcript.request.installs)
        # Nobody looks up variables in what the protocol carries.
        environment = {**passed_environment(self.options.pass_env), **transcript.request.env}
        native = placed.servers(FrozenDict(environment), are_plain=True)
        servers = tuple(_server(name, one) for name, one in native.items())
        terms = Terms(self.options.permissions, self.options.start_timeout_s, limit_s, servers)
        talking = command.model_copy(
            update={
                "streamed": False,
                "interactive": True,
                "timeout_s": None if limit_s is None else limit_s + _BACKSTOP_S,
            }
        )
        return await Conversation(transcript, emit, terms).hold(workspace, talking, raw)


def _server(name: str, server: Mapping[str, Any]) -> JsonObject:
    """Return a server as the protocol names it."""
    if "url" in server:
        headers = _pairs(server.get("headers"))
        return {"type": server.get("type", "http"), "name": name, "url": server["url"], "headers": headers}
    arguments = tuple(server.get("args") or ())
    return {"name": name, "command": server.get("command", ""), "args": arguments, "env": _pairs(server.get("env"))}


def _pairs(values: Mapping[str, str] | None) -> tuple[JsonObject, ...]:
    return tuple({"name": name, "value": value} for name, value in (values or {}).items())


def program_of(agent: Agent) -> AgentProgram:
    """The program of an agent, as it is found and checked."""
    install = f"npm install -g {agent.package}@{agent.version}"
    return AgentProgram(command=agent.command, install=install, tested=(agent.version,))
