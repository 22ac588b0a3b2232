"""Announces the adapter."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from skillgauge.api import Adapter, Provider, hookimpl


def make(_options: BaseModel) -> Adapter:
    """Make the adapter; importing it only now keeps announcing cheap."""
    from .adapter import Echo  # noqa: PLC0415

    return Echo()


@hookimpl
def skillgauge_adapters() -> Iterator[Provider[Adapter]]:
    """Announce `acme-echo`."""
    yield Provider(name="acme-echo", factory=make, summary="A target that answers with its input.")
