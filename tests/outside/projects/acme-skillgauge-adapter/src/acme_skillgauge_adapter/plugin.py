"""Announces the adapter."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge.api import Adapter, Provider, hookimpl


@hookimpl
def skillgauge_adapters() -> Iterator[Provider[Adapter]]:
    """Announce `acme-echo`."""
    yield Provider(
        name="acme-echo",
        factory="acme_skillgauge_adapter.adapter:Echo",
        summary="A target that answers with its input.",
    )
