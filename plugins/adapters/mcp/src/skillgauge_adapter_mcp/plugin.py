"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, NoOptions, Provider, hookimpl


def _make(_options: NoOptions) -> Adapter:
    from .adapter import McpAdapter  # noqa: PLC0415 - announcing stays cheap

    return McpAdapter()


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `mcp`."""
    yield Provider(
        name="mcp",
        factory=_make,
        summary="Call a tool of a server that speaks the Model Context Protocol, over stdio or streamable HTTP.",
    )
