"""Announces the executor; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge.api import Executor, Provider, hookimpl

from .options import ProcessesOptions


@hookimpl
def skillgauge_executors() -> Iterator[Provider[Executor]]:
    """Announce the executor `processes`."""
    yield Provider(
        name="processes",
        options=ProcessesOptions,
        factory=f"{__package__}.executor:ProcessesExecutor",
        summary="Several processes on this machine, for trials that keep a processor busy.",
    )
