"""A workspace that notes what it is told to start, so that a secret is seen wherever it leaks to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from skillgauge.api import Command, FileSpec, Running, Workspace, thaw

from ..fakes import FakeWorkspace
from .clauses import CANARY, require


class Watched:
    """Passes everything on and keeps the commands."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.commands: list[Command] = []

    @property
    def root(self) -> Path:
        """The root of the watched workspace."""
        return self._workspace.root

    @property
    def home(self) -> Path:
        """The home of the watched workspace."""
        return self._workspace.home

    @property
    def routes(self) -> Mapping[str, str]:
        """Those of the watched workspace."""
        return self._workspace.routes

    @property
    def tier(self) -> str:
        """The tier of the watched workspace."""
        return self._workspace.tier

    async def start(self, command: Command) -> Running:
        """Keep the command, then start it."""
        self.commands.append(command)
        return await self._workspace.start(command)

    async def put(self, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
        """Put files into the watched workspace."""
        return await self._workspace.put(files, anew=anew)

    async def snapshot(self) -> Mapping[str, str]:
        """Take a snapshot of the watched workspace."""
        return await self._workspace.snapshot()

    async def collect(self, path: str, limit: int) -> bytes:
        """Read from the watched workspace."""
        return await self._workspace.collect(path, limit)


def watched(workspace: Workspace) -> Watched | FakeWorkspace:
    """A workspace with a list of its commands; a fake one has that already."""
    return workspace if isinstance(workspace, FakeWorkspace) else Watched(workspace)


def require_no_leak(secret: str, workspace: Watched | FakeWorkspace, call: str) -> None:
    """No process may be handed a secret that it was not to get."""
    for command in workspace.commands:
        texts = [*command.argv, *map(str, thaw(command.env).values()), command.stdin.decode("latin-1")]
        clause = f"{call} must not hand {CANARY}, which is in no pass_env, to the process {command.argv[0]!r}"
        require(not any(secret in text for text in texts), clause)


def require_untold(secret: str, value: BaseModel, call: str, name: str = CANARY) -> None:
    """No value may hold a secret."""
    require(secret not in value.model_dump_json(), f"{call} must never show the value of {name}")
