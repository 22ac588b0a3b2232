"""Real agents, offline, against scripted models; each of them through its engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from skillgauge.api import (
    NO_LIMITS,
    Engine,
    Execution,
    FileSpec,
    InstalledSkill,
    Limits,
    RunRequest,
    SandboxSpec,
    SkillRef,
    TrajectoryEvent,
    Usage,
)
from skillgauge_engine_acp.agents import AGENTS
from skillgauge_testkit import ENGINES, Maker, ModelReply, ModelServer, TemporarySandbox
from skillgauge_testkit.agent_sessions import KEY, SKILL

FOLDERS = {agent.name: agent.skill_folder for agent in AGENTS}
MODULES = {
    "claude-agent-acp": "skillgauge_engine_acp.claude_plugin",
    "codex-acp": "skillgauge_engine_acp.codex_plugin",
    "gemini": "skillgauge_engine_acp.gemini_plugin",
}
"""What announces each agent."""
VARIABLES = {agent.name: agent.variables for agent in AGENTS}

Script = Iterable[ModelReply] | Callable[..., ModelReply]


@dataclass(frozen=True)
class Played:
    """What came of a session."""

    execution: Execution
    events: list[TrajectoryEvent]
    server: ModelServer
    """No longer there, but it remembers."""
    files: dict[str, bytes]


@dataclass(frozen=True)
class Stage:
    """Plays sessions of one agent."""

    name: str
    program: Path

    def engine(self, url: str, **options: object) -> Engine:
        """The engine, as the registry makes it."""
        path = "/v1" if self.name == "codex-acp" else ""
        given = {"program": str(self.program), "base_url": f"{url}{path}", "api_retries": 0, **options}
        return Maker(ENGINES, MODULES[self.name], self.name)(given)  # type: ignore[arg-type]

    def play(
        self,
        script: Script,
        *,
        has_skill: bool = False,
        skill: str = SKILL,
        files: Sequence[FileSpec] = (),
        limits: Limits = NO_LIMITS,
        prompt: str = "",
        **options: object,
    ) -> Played:
        """One session in a fresh workspace."""
        prompt = prompt or "Say hello to Ann"

        async def session(server: ModelServer) -> Played:
            engine = self.engine(server.url, **options)
            events: list[TrajectoryEvent] = []

            def emit(event: TrajectoryEvent | Usage) -> None:
                if isinstance(event, TrajectoryEvent):
                    events.append(event)

            home = f"{FOLDERS[self.name]}/greet-well"
            ref = SkillRef(name="greet-well", root="/nowhere", digest="0")
            skills = (InstalledSkill(ref=ref, path=home),) if has_skill else ()
            async with TemporarySandbox().open(SandboxSpec(label="acp")) as workspace:
                await workspace.put(files)
                if has_skill:
                    await workspace.put([FileSpec(path=f"{home}/SKILL.md", text=skill)])
                request = RunRequest(
                    trial_id="t", case_id="c", prompt="Say hello to Ann", model=None, limits=limits, skills=skills
                )
                execution = await engine.run(request, workspace, emit)
                found = await workspace.snapshot()
                texts = {path: await workspace.collect(path, 1000) for path in found}
            return Played(execution, events, server, texts)

        with ModelServer(script) as server:
            return asyncio.run(session(server))


@pytest.fixture
def stage(
    request: pytest.FixtureRequest, agent_program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> Stage:
    """A stage for the agent that the test names, with a made-up key."""
    name = request.param
    for agent in AGENTS:
        for variable in agent.variables:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(VARIABLES[name][0], KEY)
    return Stage(name, agent_program(name))
