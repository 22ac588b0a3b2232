"""A vendor's engine of a few lines, and shell scripts that play its program."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    Command,
    EventKind,
    Execution,
    Failure,
    FileSpec,
    InstalledSkill,
    JsonValue,
    Limits,
    Running,
    RunRequest,
    SandboxSpec,
    SkillRef,
    Trajectory,
    TrajectoryEvent,
    Workspace,
)
from skillgauge_agent_programs.accounts import Account, Ending, is_models_turn
from skillgauge_agent_programs.engine import Access, Launch, ProgramEngine, Service
from skillgauge_agent_programs.json_lines import text_at
from skillgauge_agent_programs.options import ProgramOptions
from skillgauge_agent_programs.programs import AgentProgram
from skillgauge_testkit import TemporarySandbox

KEY = "made-up-key-of-the-tests-0123456789"
LIMITS = Limits(timeout_s=60)


class Said:
    """Reads lines that say something; the one that says it is the last ends the session."""

    hopeless: Failure | None = None

    def __init__(self) -> None:
        self.events: list[TrajectoryEvent] = []
        self.answer: str | None = None

    def read(self, record: Mapping[str, JsonValue]) -> Iterable[TrajectoryEvent]:
        """Take a line."""
        if (answer := text_at(record, "answer")) is not None:
            self.answer = answer
        result = text_at(record, "result") or base64.b64decode(text_at(record, "result64") or "").decode()
        if call := text_at(record, "call"):
            event = TrajectoryEvent(kind=EventKind.TOOL_CALL, name=call)
        elif result:
            event = TrajectoryEvent(kind=EventKind.TOOL_RESULT, text=result)
        elif notice := text_at(record, "notice"):
            event = TrajectoryEvent(kind=EventKind.NOTICE, text=notice)
        else:
            event = TrajectoryEvent(kind=EventKind.MESSAGE, text=text_at(record, "say") or "")
        self.events.append(event)
        return [event]

    def account(self, ending: Ending) -> Account:
        """What was said."""
        trajectory = Trajectory(events=tuple(self.events), skills_fired=())
        is_over, turn = self.answer is not None, is_models_turn(self.events)
        return Account(trajectory, self.answer, is_over=is_over, awaits_model=turn)


class AcmeEngine(ProgramEngine):
    """Drives `acme`."""

    name = "acme"
    program = AgentProgram(command="acme", install="pip install acme", tested=("1.0.0",))
    api = Service("acme", "https://api.acme.example", ("ACME_API_KEY",), (".acme/login.json",))

    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        """The prompt is an argument."""
        return Launch(("run", "--api", access.address), {"ACME_QUIET": "1"}, request.prompt.encode())

    def transcript(self, request: RunRequest) -> Said:
        """Its lines."""
        return Said()


class Watching:
    """A workspace that notes what it starts, with routes if it has some."""

    def __init__(self, workspace: Workspace, routes: Mapping[str, str]) -> None:
        self._workspace, self.routes = workspace, routes
        self.commands: list[Command] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    async def start(self, command: Command) -> Running:
        """Note the command."""
        self.commands.append(command)
        return await self._workspace.start(command)


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own and a made-up key."""
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ACME_API_KEY", KEY)
    return home


@pytest.fixture
def acme(tmp_path: Path) -> Callable[..., AcmeEngine]:
    """Makes an engine whose program is a shell script."""

    def make(script: str = "", **options: Any) -> AcmeEngine:
        path = tmp_path / "acme"
        path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ echo "acme 1.0.0"; exit; }}\n{script}\n')
        path.chmod(0o755)
        return AcmeEngine(ProgramOptions(**{"program": str(path), **options}))

    return make


Play = Callable[..., tuple[Execution, list[TrajectoryEvent], Watching]]


@pytest.fixture
def play() -> Play:
    """Runs one session."""

    def run(
        engine: AcmeEngine,
        *,
        limits: Limits = LIMITS,
        routes: Mapping[str, str] | None = None,
        skills: Sequence[str] = (),
        files: Mapping[str, str] | None = None,
    ) -> tuple[Execution, list[TrajectoryEvent], Watching]:
        async def main() -> tuple[Execution, list[TrajectoryEvent], Watching]:
            events: list[TrajectoryEvent] = []
            async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
                watching = Watching(workspace, routes or {})
                await workspace.put([FileSpec(path=path, text=text) for path, text in (files or {}).items()])
                installed = tuple(
                    InstalledSkill(ref=SkillRef(name=name, root="/", digest=""), path=f".skills/{name}")
                    for name in skills
                )
                request = RunRequest(
                    trial_id="t", case_id="c", prompt="hi", model=None, limits=limits, skills=installed
                )
                return await engine.run(request, watching, events.append), events, watching

        return asyncio.run(main())

    return run
