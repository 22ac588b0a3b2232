"""Open workspaces of a sandbox that is checked, and run commands in them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import Command, Finished, Running, Sandbox, SandboxReport, SandboxSpec, Workspace

from .clauses import answered, called, require, shown
from .shapes import require_shape


@dataclass(frozen=True)
class Trying:
    """Opens workspaces and runs commands in them."""

    make: Callable[[], Sandbox]
    secret: str
    outside: Path
    """A folder that no workspace contains."""
    patience_s: float
    where: Callable[[Path], Path] | None = None
    """Where on this machine a file of a workspace lies that is on another one; `None`: the workspaces are here."""
    reports: list[SandboxReport] = field(default_factory=list)

    @asynccontextmanager
    async def open(self, **spec: object) -> AsyncIterator[Workspace]:
        """A workspace."""
        sandbox = called("making a sandbox", self.make)
        manager = called("Sandbox.open", sandbox.open, SandboxSpec.model_validate({"label": "contract", **spec}))
        workspace = await answered("opening a workspace", self.patience_s, manager.__aenter__)
        try:
            require_shape(workspace, Workspace)
            yield workspace
        finally:
            leave = manager.__aexit__
            await answered("closing a workspace", self.patience_s, lambda: leave(None, None, None))

    async def sh(self, workspace: Workspace, script: str, *words: str, **settings: object) -> Finished:
        """Run a script to its end."""
        running = await self.start(workspace, script, *words, **settings)
        finished = await answered(f"Running.wait of {script!r}", self.patience_s, running.wait)
        require(isinstance(finished, Finished), f"Running.wait must return a Finished, not {shown(finished)}")
        return finished

    async def start(self, workspace: Workspace, script: str, *words: str, **settings: object) -> Running:
        """Start a script."""
        command = Command.model_validate({"argv": ("sh", "-c", script, *words), **settings})
        running = await answered(f"Workspace.start of {script!r}", self.patience_s, workspace.start, command)
        require_shape(running, Running)
        return running

    async def said(self, workspace: Workspace, script: str, **settings: object) -> str:
        """Return the output of a script that must succeed."""
        finished = await self.sh(workspace, script, **settings)
        message = f"exit code {finished.exit_code}, stderr {shown(finished.stderr)}"
        require(finished.exit_code == 0, f"a process must be able to run {script!r} in a workspace: {message}")
        return finished.stdout.decode()

    async def snapshot(self, workspace: Workspace) -> Mapping[str, str]:
        """Return what a workspace tells of its files."""
        return await answered("Workspace.snapshot", self.patience_s, workspace.snapshot)

    async def collect(self, workspace: Workspace, path: str, limit: int) -> bytes:
        """Return the beginning of a file of a workspace."""
        return await answered(f"Workspace.collect of {path!r}", self.patience_s, workspace.collect, path, limit)
