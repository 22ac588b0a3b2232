"""For tests of engines that drive a program: one session on a scripted model, and everything that it left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from skillgauge.api import (
    Blame,
    Command,
    Engine,
    Execution,
    FailureClass,
    FileSpec,
    Install,
    InstalledSkill,
    Limits,
    Running,
    RunRequest,
    SandboxSpec,
    SkillRef,
    TrajectoryEvent,
    Usage,
    Workspace,
)

from . import ModelServer, TemporarySandbox

KEY = "made-up-key-of-the-tests-0123456789"
FRONT_MATTERS: Mapping[str, str] = {
    "plain": "",
    "tools": "allowed-tools: Read, Write, Bash(python:*)\n",
    "tools listed": "allowed-tools:\n  - Read\n  - Write\n  - Bash(python:*)\n",
    "tools spaced": "allowed-tools: Read Write Bash(python:*)\n",
    "hooks": (
        'hooks:\n  PreToolUse:\n    - matcher: ".*"\n'
        '      hooks:\n        - type: command\n          command: "touch hooked.txt"\n'
    ),
}
"""Fields that skills have beside name and description, which an engine must cope with: a skill that has them is loaded
like any other."""


def skill_text(fields: str = "") -> str:
    """Return the SKILL.md of `greet-well` with further fields in its front matter."""
    return f"---\nname: greet-well\ndescription: Says hello the proper way\n{fields}---\n# Greeting\nSay ZEBRA.\n"


SKILL = skill_text(FRONT_MATTERS["tools"])
"""As many public skills are: with tools that it asks for."""
LIMITS = Limits(timeout_s=90)
SHORT_S = 8.0
"""Several times as long as the program of an agent takes to begin, on most machines."""
LONG_S = 40.0
"""As long on a machine that is slow or has much to do."""

Session = TypeVar("Session")


@dataclass(frozen=True)
class Played:
    """A session that is over."""

    execution: Execution
    events: list[TrajectoryEvent]
    usages: list[Usage]
    """What the engine emitted of the session's usage while it was under way."""
    files: Mapping[str, bytes]
    """What was in the workspace at its end."""
    home: Mapping[str, tuple[int, bytes]]
    """Mode and content of each file in the private home."""
    commands: list[Command]
    """What the engine started."""
    server: ModelServer


class _Watched:
    """A workspace that notes what is started, and in which model APIs have addresses of their own."""

    def __init__(self, workspace: Workspace, routes: Mapping[str, str], commands: list[Command]) -> None:
        self._workspace, self.routes, self._commands = workspace, routes, commands

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    async def start(self, command: Command) -> Running:
        """Note the command."""
        self._commands.append(command)
        return await self._workspace.start(command)


def _installed(name: str, folder: str) -> InstalledSkill:
    return InstalledSkill(ref=SkillRef(name=name, root="/", digest=""), path=f"{folder}/{name}")


@dataclass(frozen=True)
class Given:
    """The surroundings that the agent of a session finds."""

    skill_folder: str
    """Where it looks for skills, relative to the workspace."""
    skills: Sequence[str] = ()
    """Names under which a skill is installed there."""
    text: str = SKILL
    """The SKILL.md of each of them."""
    files: Sequence[FileSpec] = ()
    """What else is in the workspace."""
    installs: Sequence[Install] = ()
    """What the arm gives beside skills."""
    agent: str | None = None
    """Name of the installed agent that leads the session."""
    routes: Mapping[str, str] = field(default_factory=dict)
    """Addresses of model APIs that a sandbox relays, by name."""


def play(
    engine: Engine,
    server: ModelServer,
    prompt: str,
    setting: Given,
    *,
    model: str | None = None,
    limits: Limits = LIMITS,
) -> Played:
    """Hold one session in a temporary workspace.

    Args:
        engine: what holds it.
        server: the scripted model that it asks.
        prompt: what the agent is asked.
        setting: what the agent finds.
        model: the model to ask.
        limits: of the session.
    """

    async def session() -> Played:
        events: list[TrajectoryEvent] = []
        usages: list[Usage] = []
        commands: list[Command] = []

        def emit(event: TrajectoryEvent | Usage) -> None:
            if isinstance(event, Usage):
                usages.append(event)
            else:
                events.append(event)

        installed = tuple(_installed(name, setting.skill_folder) for name in setting.skills)
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            await workspace.put(
                [*setting.files, *(FileSpec(path=f"{one.path}/SKILL.md", text=setting.text) for one in installed)]
            )
            request = RunRequest(trial_id="t", case_id="c", prompt=prompt, model=model, skills=installed, limits=limits)
            request = request.model_copy(update={"installs": tuple(setting.installs), "agent": setting.agent})
            execution = await engine.run(request, _Watched(workspace, setting.routes, commands), emit)
            root, home = _regular(workspace.root), _regular(workspace.home)
            return Played(
                execution=execution,
                events=events,
                usages=usages,
                files={name: path.read_bytes() for name, path in root.items()},
                home={name: (path.stat().st_mode & 0o777, path.read_bytes()) for name, path in home.items()},
                commands=commands,
                server=server,
            )

    return asyncio.run(session())


def play_until_late(play: Callable[[Limits], Session], has_ended_so: Callable[[Session], object]) -> Session:
    """Hold a session whose time is to run out.

    How it ends depends on how long the program of the agent took to begin. So a session that ended in another way than
    it should have is held once more with more time, and that one counts.

    Args:
        play: holds it with limits.
        has_ended_so: whether it ended as it should have.
    """
    session = play(Limits(timeout_s=SHORT_S))
    return session if has_ended_so(session) else play(Limits(timeout_s=LONG_S))


def failed_as(kind: FailureClass, blame: Blame) -> Callable[[Any], bool]:
    """Return a test of sessions: whether such a failure ended it."""

    def is_so(session: Any) -> bool:
        failure = session.execution.failure
        return failure is not None and (failure.failure_class, failure.blame) == (kind, blame)

    return is_so


def _regular(folder: Path) -> dict[str, Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path for path in found}
