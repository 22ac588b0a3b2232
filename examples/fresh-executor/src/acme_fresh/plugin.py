"""Announces the executor; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Executor, Provider, hookimpl

from .options import FreshOptions


@hookimpl
def skillgauge_executors() -> Iterable[Provider[Executor]]:
    """Announce `acme-fresh`."""
    yield Provider(
        name="acme-fresh",
        options=FreshOptions,
        factory="acme_fresh.executor:FreshExecutor",
        summary="Processes that are replaced after some trials, for skills that leave things behind.",
    )
