"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, NoOptions, Provider, hookimpl


def _make(_options: NoOptions) -> Adapter:
    from .adapter import SubprocessAdapter  # noqa: PLC0415 - announcing stays cheap

    return SubprocessAdapter()


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `subprocess`."""
    yield Provider(
        name="subprocess",
        factory=_make,
        summary="Call a skill as a process that speaks JSON-RPC 2.0 over stdin and stdout.",
    )
