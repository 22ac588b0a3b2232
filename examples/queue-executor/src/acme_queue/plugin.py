"""Announces the executor; what it does is in `executor`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Executor, Provider, hookimpl

from .options import QueueOptions


@hookimpl
def skillgauge_executors() -> Iterable[Provider[Executor]]:
    """Announce `acme-queue`."""
    yield Provider(
        name="acme-queue",
        options=QueueOptions,
        factory="acme_queue.executor:QueueExecutor",
        summary="Have attempts made by workers that dial in, here or elsewhere.",
    )
