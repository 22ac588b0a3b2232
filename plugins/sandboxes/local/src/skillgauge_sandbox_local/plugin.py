"""Announces the sandbox; what it does is in `sandbox`."""

from collections.abc import Iterable

from skillgauge.api import Provider, Sandbox, hookimpl

from .options import LocalOptions


@hookimpl
def skillgauge_sandboxes() -> Iterable[Provider[Sandbox]]:
    """Announce `local`."""
    yield Provider(
        name="local",
        factory="skillgauge_sandbox_local.sandbox:LocalSandbox",
        summary="Folders of their own for every workspace; confines nothing.",
        options=LocalOptions,
    )
