"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, Provider, hookimpl


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `subprocess`."""
    yield Provider(
        name="subprocess",
        factory="skillgauge_adapter_subprocess.adapter:SubprocessAdapter",
        summary="Call a skill as a process that speaks JSON-RPC 2.0 over stdin and stdout.",
    )
