"""Announces the sandbox; what it does is in `sandbox`."""

from collections.abc import Iterable

from skillgauge.api import Provider, Sandbox, Traits, hookimpl

from .options import DockerOptions


@hookimpl
def skillgauge_sandboxes() -> Iterable[Provider[Sandbox]]:
    """Announce `docker`."""
    yield Provider(
        name="docker",
        factory="skillgauge_sandbox_docker.sandbox:DockerSandbox",
        summary="A container for every workspace, by the command line of Docker or Podman.",
        options=DockerOptions,
        traits=Traits(only_by_name=True),  # trying it out may fetch an image, which nobody asked for
    )
