"""What the cloud can do, and workspaces in it."""

from __future__ import annotations

from skillgauge.api import Command, Problem, SandboxReport, SandboxSpec, Severity, Tier, secret

from .client import Cloud
from .options import TOKEN, CloudOptions
from .workspace import CloudWorkspace

_TIERS = {"machine": Tier.PARTIAL}
"""By what the cloud says that it keeps workspaces apart. Never strict: whether the network can be shut, and what a
machine there can reach, cannot be tried from here."""


class CloudSandbox:
    """Opens workspaces."""

    def __init__(self, options: CloudOptions) -> None:
        self._options = options
        self._tier = Tier.NONE

    async def check(self) -> SandboxReport:
        """Ask what the cloud vouches for, and try it once by running something."""
        if not secret(TOKEN):
            return _unusable(f"there is no {TOKEN}", f"Set {TOKEN}.")
        cloud = self._cloud()
        try:
            about = await cloud.ask("GET", "about")
            self._tier = _TIERS.get(about["apart"], Tier.NONE)
            async with self.open(SandboxSpec(label="check")) as workspace:
                finished = await (await workspace.start(Command(argv=("true",), timeout_s=30))).wait()
        except (OSError, LookupError, TypeError) as error:
            return _unusable(str(error), "Is the address right? --set sandboxes.acme-cloud.url=URL")
        finally:
            await cloud.close()
        if finished.exit_code != 0:
            return _unusable(f"`true` ended with exit code {finished.exit_code}", "Choose another sandbox: --sandbox.")
        message = "the network of a workspace is not shut, and what agents can reach from there nobody has tried"
        open_network = Problem("acme-cloud.network", message, severity=Severity.WARNING)
        return SandboxReport(self._tier, (open_network,), is_remote=True)

    def open(self, spec: SandboxSpec) -> CloudWorkspace:
        """Make a fresh workspace, removed at its end with all its processes."""
        return CloudWorkspace(self._cloud(), spec, self._tier, self._options.lease_s)

    def _cloud(self) -> Cloud:
        return Cloud(self._options.url, secret(TOKEN) or "")


def _unusable(reason: str, hint: str) -> SandboxReport:
    problem = Problem("acme-cloud.unusable", f"sandbox 'acme-cloud' makes no workspace: {reason}", hint=hint)
    return SandboxReport(Tier.NONE, (problem,), is_remote=True)
