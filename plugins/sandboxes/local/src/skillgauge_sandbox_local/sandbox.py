"""Workspaces on this machine that confine nothing."""

from __future__ import annotations

from skillgauge.api import (
    Command,
    LaunchError,
    NoRoomError,
    Problem,
    SandboxReport,
    SandboxSpec,
    Tier,
    host_environment,
)
from skillgauge_processes import DirectoryWorkspace, DiskLimit

from .options import LocalOptions

TIER = f"local/{Tier.NONE}"


class LocalSandbox:
    """Opens workspaces without putting anything between a process and the machine.

    Args:
        options: limits.
    """

    def __init__(self, options: LocalOptions = LocalOptions()) -> None:  # noqa: B008 - frozen
        self._options = options

    async def check(self) -> SandboxReport:
        """Start one process, to find out whether that is possible here at all."""
        try:
            async with self.open(SandboxSpec(label="check")) as workspace:
                running = await workspace.start(Command(argv=("true",), timeout_s=10))
                finished = await running.wait()
        except NoRoomError as error:
            return _unusable(f"has no room: {error}", "Free some space, or set TMPDIR to a folder with more.")
        except (LaunchError, OSError) as error:
            return _unusable(f"cannot start a process: {error}")
        if finished.exit_code != 0:
            how = f"signal {finished.signal}" if finished.signal else f"exit code {finished.exit_code}"
            return _unusable(f"ran `true`, which ended with {how}")
        return SandboxReport(Tier.NONE)

    def open(self, spec: SandboxSpec) -> DirectoryWorkspace:
        """A fresh workspace."""
        limit = DiskLimit(self._options.disk_mb, "plugins.sandboxes.local.disk_mb")
        return DirectoryWorkspace(spec, host_environment(), tier=TIER, limit=limit)


def _unusable(
    reason: str, hint: str = "Make `true` run in a shell first, or choose another sandbox with --sandbox."
) -> SandboxReport:
    return SandboxReport(Tier.NONE, (Problem("sandbox.unusable", f"sandbox 'local' {reason}", hint=hint),))
