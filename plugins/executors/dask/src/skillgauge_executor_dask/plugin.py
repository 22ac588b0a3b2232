"""Announces the executor; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge.api import Executor, Provider, hookimpl

from .options import DaskOptions


@hookimpl
def skillgauge_executors() -> Iterator[Provider[Executor]]:
    """Announce the executor `dask`."""
    yield Provider(
        name="dask",
        options=DaskOptions,
        factory="skillgauge_executor_dask.executor:DaskExecutor",
        worker="skillgauge_executor_dask.serving:serve",
        summary="The workers of a dask cluster, on this machine or on many.",
    )
