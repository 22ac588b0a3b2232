"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, Provider, hookimpl


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `http`."""
    yield Provider(
        name="http",
        factory="skillgauge_adapter_http.adapter:HttpAdapter",
        summary="Call a skill that is a service: JSON by HTTP POST.",
    )
