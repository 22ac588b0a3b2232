"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, Provider, hookimpl


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `mcp`."""
    yield Provider(
        name="mcp",
        factory="skillgauge_adapter_mcp.adapter:McpAdapter",
        summary="Call a tool of a server that speaks the Model Context Protocol, over stdio or streamable HTTP.",
    )
