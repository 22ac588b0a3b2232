"""Workspaces in containers, and whether that works here."""

from __future__ import annotations

from functools import cached_property

from skillgauge.api import (
    Command,
    ImagePlan,
    LaunchError,
    Problem,
    SandboxReport,
    SandboxSpec,
    Severity,
    Tier,
    host_environment,
)

from .client import PROGRAMS, Client, find_client
from .images import Images
from .inside import PROBE
from .options import DockerOptions
from .owners import remove_leftovers
from .workspace import DockerWorkspace, has_network

_PROBE_S = 60.0
_INSTALL = "Install Docker or Podman, or choose another sandbox with --sandbox."
_START = "Start its daemon, or let this account use it; or choose another sandbox with --sandbox."
_tiers: dict[tuple[str, str], SandboxReport] = {}
"""What was found, by program and options: a process asks once, however many sandboxes it makes."""


class DockerSandbox:
    """Opens workspaces, each with a container of its own.

    Args:
        options: program, image and limits.
    """

    def __init__(self, options: DockerOptions) -> None:
        self._options = options

    async def check(self) -> SandboxReport:
        """Run a container and let it look for what it must not find."""
        if self._client is None:
            programs = repr(self._options.program) if self._options.program else " or ".join(map(repr, PROGRAMS))
            return _unusable(f"needs the program {programs}, which is not there", _INSTALL)
        await remove_leftovers(self._client)
        return await self._found()

    def open(self, spec: SandboxSpec) -> _Opening:
        """A fresh workspace."""
        return _Opening(self, spec)

    async def workspace(self, spec: SandboxSpec) -> DockerWorkspace:
        """A workspace that is not open yet, with the tier that was found out.

        Raises:
            LaunchError: no container can be run here.
        """
        report = await self.check() if self._key not in _tiers else _tiers[self._key]
        if any(problem.severity is Severity.ERROR for problem in report.problems):
            raise LaunchError(report.problems[0].message)
        return self._workspace(spec, report.tier)

    async def image(self, spec: SandboxSpec) -> ImagePlan:
        """Return what the Dockerfile of a workspace would make. Builds and fetches nothing."""
        return await self._images.planned(spec.image_files, untrusted=spec.untrusted)

    async def _found(self) -> SandboxReport:
        if self._key not in _tiers:
            report = await self._probe()
            if any(problem.severity is Severity.ERROR for problem in report.problems):
                return report  # what is wrong may be put right
            _tiers[self._key] = report
        return _tiers[self._key]

    async def _probe(self) -> SandboxReport:
        try:
            spec = SandboxSpec(label="check", network=False)
            async with self._workspace(spec, Tier.NONE) as workspace:
                hidden = workspace.folder / "hidden"
                hidden.touch()
                command = Command(argv=("sh", "-c", PROBE, "probe", str(hidden)), timeout_s=_PROBE_S)
                finished = await (await workspace.start(command)).wait()
        except (LaunchError, OSError) as error:
            return _unusable(f"cannot run a container: {error}", _START)
        if finished.exit_code != 0:
            words = finished.stderr.decode("utf-8", "replace").strip() or f"exit code {finished.exit_code}"
            return _unusable(f"cannot run a process in a container: {words}", _START)
        missing = finished.stdout.decode("utf-8", "replace").splitlines()
        if not missing:
            return SandboxReport(Tier.PARTIAL if self._options.opens else Tier.STRICT, runs_images=True)
        message = f"sandbox 'docker' does not confine here as it should: {'; '.join(missing)}"
        hint = "Its tier is `partial`. Look at the settings of the container program, or choose another sandbox."
        leak = Problem("sandbox.leaky", message, severity=Severity.WARNING, hint=hint)
        return SandboxReport(Tier.PARTIAL, (leak,), runs_images=True)

    def _workspace(self, spec: SandboxSpec, tier: Tier) -> DockerWorkspace:
        assert self._client is not None
        name = "docker+network" if has_network(spec, self._options) else "docker"
        environ = host_environment()
        return DockerWorkspace(spec, environ, self._options, self._client, self._images, tier=f"{name}/{tier}")

    @cached_property
    def _client(self) -> Client | None:
        return find_client(self._options.program)

    @cached_property
    def _images(self) -> Images:
        assert self._client is not None
        return Images(self._client, self._options)

    @property
    def _key(self) -> tuple[str, str]:
        return (self._client.path if self._client else "", self._options.model_dump_json())


class _Opening:
    """Finds out the tier before the first workspace is opened."""

    def __init__(self, sandbox: DockerSandbox, spec: SandboxSpec) -> None:
        self._sandbox = sandbox
        self._spec = spec
        self._workspace: DockerWorkspace | None = None

    async def __aenter__(self) -> DockerWorkspace:
        self._workspace = await self._sandbox.workspace(self._spec)
        return await self._workspace.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        assert self._workspace is not None
        await self._workspace.__aexit__(None, None, None)


def _unusable(reason: str, hint: str) -> SandboxReport:
    return SandboxReport(Tier.NONE, (Problem("sandbox.unusable", f"sandbox 'docker' {reason}", hint=hint),))
