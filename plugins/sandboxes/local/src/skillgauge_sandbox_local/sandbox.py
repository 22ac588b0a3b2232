"""Workspaces on this machine that confine nothing."""

from __future__ import annotations

from skillgauge.api import (
    Command,
    DirectoryWorkspace,
    LaunchError,
    Problem,
    SandboxReport,
    SandboxSpec,
    Tier,
    host_environment,
)

TIER = f"local/{Tier.NONE}"


class LocalSandbox:
    """Opens workspaces without putting anything between a process and the machine."""

    async def check(self) -> SandboxReport:
        """Start one process, to find out whether that is possible here at all."""
        try:
            async with self.open(SandboxSpec(label="check")) as workspace:
                running = await workspace.start(Command(argv=("true",), timeout_s=10))
                finished = await running.wait()
        except (LaunchError, OSError) as error:
            problem = Problem("sandbox.unusable", f"sandbox 'local' cannot start a process: {error}")
            return SandboxReport(Tier.NONE, (problem,))
        if finished.exit_code != 0:
            problem = Problem("sandbox.unusable", f"sandbox 'local': `true` ended with {finished.exit_code}")
            return SandboxReport(Tier.NONE, (problem,))
        return SandboxReport(Tier.NONE)

    def open(self, spec: SandboxSpec) -> DirectoryWorkspace:
        """A fresh workspace."""
        return DirectoryWorkspace(spec, host_environment(), tier=TIER)
