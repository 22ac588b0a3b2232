"""Workspaces on this machine that confine nothing."""

from __future__ import annotations

from skillgauge.api import Command, LaunchError, Problem, SandboxReport, SandboxSpec, Tier, host_environment
from skillgauge_processes import DirectoryWorkspace

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
            return _unusable(f"cannot start a process: {error}")
        if finished.exit_code != 0:
            how = f"signal {finished.signal}" if finished.signal else f"exit code {finished.exit_code}"
            return _unusable(f"ran `true`, which ended with {how}")
        return SandboxReport(Tier.NONE)

    def open(self, spec: SandboxSpec) -> DirectoryWorkspace:
        """A fresh workspace."""
        return DirectoryWorkspace(spec, host_environment(), tier=TIER)


def _unusable(reason: str) -> SandboxReport:
    hint = "Make `true` run in a shell first, or choose another sandbox with --sandbox."
    return SandboxReport(Tier.NONE, (Problem("sandbox.unusable", f"sandbox 'local' {reason}", hint=hint),))
