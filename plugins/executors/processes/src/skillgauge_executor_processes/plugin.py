"""Announces the executor; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge.api import Executor, Provider, hookimpl

from .options import ProcessesOptions


def _make(options: ProcessesOptions) -> Executor:
    from .executor import ProcessesExecutor  # noqa: PLC0415 - only by a run that uses it

    return ProcessesExecutor(options)


@hookimpl
def skillgauge_executors() -> Iterator[Provider[Executor]]:
    """Announce the executor `processes`."""
    yield Provider(
        name="processes",
        options=ProcessesOptions,
        factory=_make,
        summary="Several processes on this machine, for trials that keep a processor busy.",
    )
