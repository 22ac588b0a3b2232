"""Sessions of the real `codex` in a workspace of its own, on scripted models, with made-up keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    Command,
    Execution,
    FileSpec,
    InstalledSkill,
    Limits,
    Running,
    RunRequest,
    SandboxSpec,
    SkillRef,
    TrajectoryEvent,
    Workspace,
)
from skillgauge.testing import ModelReply, ModelServer, TemporarySandbox
from skillgauge_engine_codex.engine import CodexEngine
from skillgauge_engine_codex.options import ACCESS_TOKEN, AZURE_ENDPOINT, AZURE_KEY, KEYS, LOGIN_FILE, CodexOptions

KEY = "made-up-key-of-the-tests-0123456789"
SKILL = "---\nname: greet-well\ndescription: Says hello the proper way\n---\n# Greeting\nSay ZEBRA.\n"
LIMITS = Limits(timeout_s=90)
Script = Iterable[ModelReply] | Callable[..., ModelReply]


@dataclass
class Played:
    """A session that is over."""

    execution: Execution
    events: list[TrajectoryEvent]
    files: Mapping[str, bytes]
    """What was in the workspace at its end."""
    home: Mapping[str, tuple[int, bytes]]
    """Mode and content of each file in the private home."""
    commands: list[Command]
    server: ModelServer


class Relayed:
    """A workspace whose model API is reached at an address of its own."""

    def __init__(self, workspace: Workspace, routes: Mapping[str, str], commands: list[Command]) -> None:
        self._workspace, self.routes, self._commands = workspace, routes, commands

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    async def start(self, command: Command) -> Running:
        """Note the command."""
        self._commands.append(command)
        return await self._workspace.start(command)


Play = Callable[..., Played]


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own and no key but a made-up one; a proxy that must not be used."""
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in (*KEYS, ACCESS_TOKEN, AZURE_KEY, AZURE_ENDPOINT):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")


@pytest.fixture
def log_in(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a credential file into the user's home."""

    def write(content: str) -> Path:
        path = tmp_path / "user" / LOGIN_FILE
        path.parent.mkdir(parents=True)
        path.write_text(content)
        return path

    return write


@pytest.fixture
def play(agent_program: Callable[[str], Path]) -> Play:
    """Plays one session to its end."""
    program = str(agent_program("codex"))

    def run(
        script: Script,
        prompt: str = "Say hello to Ann",
        *,
        model: str | None = "gpt-5.5",
        skills: Sequence[str] = (),
        limits: Limits = LIMITS,
        is_relayed: bool = False,
        at_server: bool = True,
        prepare: Callable[[ModelServer], Mapping[str, Any]] = lambda _server: {},
        **options: Any,
    ) -> Played:
        with ModelServer(script) as server:
            address = {"base_url": f"{server.url}/v1"} if at_server and not is_relayed else {}
            chosen = {"api_retries": 0, **address, **options, **prepare(server)}
            engine = CodexEngine(CodexOptions(program=program, **chosen))
            events: list[TrajectoryEvent] = []
            commands: list[Command] = []

            async def main() -> Played:
                async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
                    for name in skills:
                        await workspace.put([FileSpec(path=f".agents/skills/{name}/SKILL.md", text=SKILL)])
                    installed = tuple(
                        InstalledSkill(ref=SkillRef(name=name, root="/", digest=""), path=f".agents/skills/{name}")
                        for name in skills
                    )
                    request = RunRequest(
                        trial_id="t", case_id="c", prompt=prompt, model=model, skills=installed, limits=limits
                    )
                    routes = {"openai": f"{server.url}/v1"} if is_relayed else {}
                    watched = Relayed(workspace, routes, commands)
                    execution = await engine.run(request, watched, events.append)
                    return Played(execution, events, content(workspace.root), modes(workspace.home), commands, server)

            return asyncio.run(main())

    return run


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def modes(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder with its mode."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): (path.stat().st_mode & 0o777, path.read_bytes()) for path in found}
