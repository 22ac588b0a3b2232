"""A sandbox for tests that need real processes and no sandbox plugin."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from skillgauge.api import SandboxReport, SandboxSpec, Tier, Workspace, host_environment
from skillgauge_processes import DirectoryWorkspace


class TemporarySandbox:
    """Real processes in temporary folders. It keeps the contract of sandboxes and confines nothing."""

    async def check(self) -> SandboxReport:
        """It confines nothing and says so."""
        return SandboxReport(Tier.NONE)

    def open(self, spec: SandboxSpec) -> AbstractAsyncContextManager[Workspace]:
        """A fresh workspace, removed at the end."""
        return DirectoryWorkspace(spec, host_environment(), tier=f"temporary/{Tier.NONE}")
