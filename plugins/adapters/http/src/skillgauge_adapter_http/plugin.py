"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, NoOptions, Provider, hookimpl


def _make(_options: NoOptions) -> Adapter:
    from .adapter import HttpAdapter  # noqa: PLC0415 - announcing stays cheap

    return HttpAdapter()


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `http`."""
    yield Provider(
        name="http",
        factory=_make,
        summary="Call a skill that is a service: JSON by HTTP POST.",
    )
