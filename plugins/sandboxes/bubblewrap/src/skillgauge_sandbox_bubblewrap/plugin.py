"""Announces the sandbox; what it does is in `sandbox`."""

from collections.abc import Iterable

from skillgauge.api import Provider, Sandbox, hookimpl

from .options import BubblewrapOptions


@hookimpl
def skillgauge_sandboxes() -> Iterable[Provider[Sandbox]]:
    """Announce `bubblewrap`."""
    yield Provider(
        name="bubblewrap",
        factory="skillgauge_sandbox_bubblewrap.sandbox:BubblewrapSandbox",
        summary="Namespaces of their own for every process: files, processes and network are confined (Linux).",
        options=BubblewrapOptions,
    )
