"""Announces the store, the addresses that it serves, and the name of its secret."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Store, Traits, hookimpl

from .options import TOKEN, ShelfOptions


@hookimpl
def skillgauge_stores() -> Iterable[Provider[Store]]:
    """Announce `acme-shelf`."""
    yield Provider(
        name="acme-shelf",
        options=ShelfOptions,
        factory="acme_shelf.store:ShelfStore",
        summary="Keep runs as JSON lines in a folder of a service that speaks HTTP.",
        traits=Traits(schemes=("acme-shelf",), secrets=(TOKEN,)),
    )
