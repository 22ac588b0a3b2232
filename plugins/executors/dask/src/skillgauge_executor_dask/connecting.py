# mypy: disable-error-code="no-untyped-call"
# dask has few types.
"""A connection to the scheduler of a cluster, whichever that is."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.metadata import version
from typing import Any

from distributed import Client, LocalCluster, Security

from skillgauge.api import PluginError, Problem

from .options import DaskOptions

CONNECT_S = 10.0
"""How long to wait for an answer of a scheduler when a run begins."""
SILENCE_S = 10.0
"""How long a scheduler may be silent before a run ends."""
_LOGGERS = ("distributed", "distributed.client")


@asynccontextmanager
async def connected(options: DaskOptions, size: tuple[int, int]) -> AsyncIterator[Client]:
    """Yield a client of the cluster that the options mean.

    Args:
        options: say which cluster.
        size: workers of a cluster of this process, and the threads of each.

    Raises:
        PluginError: there is no connection to it, or it has another version of dask.
    """
    address = options.address or address_in(options)
    async with AsyncExitStack() as stack:
        where = address or await stack.enter_async_context(_embedded(*size))
        try:
            client = Client(where, security=security_of(options), timeout=CONNECT_S, asynchronous=True)
            await stack.enter_async_context(client)
        except (OSError, ValueError, TypeError) as error:
            message = f"no dask scheduler answers at {address}: {error}"
            hint = "Start one with `dask scheduler`, or correct executors.dask; docs/cluster.md tells of TLS."
            raise trouble("executor.no-scheduler", message, hint) from error
        if address is not None:
            await _same_version(client, address)
        yield client


async def answers(client: Client) -> bool:
    """Tell whether the scheduler of a client answers."""
    try:
        await identity(client, workers=0)
    except (OSError, TimeoutError):
        return False
    return True


async def identity(client: Client, *, workers: int) -> dict[str, Any]:
    """Ask the scheduler about itself and so many workers; -1 is all.

    Raises:
        OSError: the connection is lost.
        TimeoutError: there is no answer.
    """
    if (scheduler := scheduler_of(client)) is None:
        raise ConnectionError("dask has given up connecting again")
    description: dict[str, Any] = await asyncio.wait_for(scheduler.identity(n_workers=workers), SILENCE_S)
    return description


def scheduler_of(client: Client) -> Any:
    """Its methods are made up at run time; `None` once dask has given up the connection."""
    return client.scheduler


def _embedded(workers: int, threads: int) -> LocalCluster:
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        processes=False,  # the stations are the processes
        # Without an address its server listens on port 8787 all the same, which another run may have.
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        memory_limit=None,  # theirs is that of this process, which is none of dask's business
        asynchronous=True,
    )


def address_in(options: DaskOptions) -> str | None:
    """The address in the scheduler file, if the options name one.

    Raises:
        PluginError: there is none in it.
    """
    if options.scheduler_file is None:
        return None
    try:
        return str(json.loads(options.scheduler_file.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{options.scheduler_file} tells of no dask scheduler: {type(error).__name__}: {error}"
        hint = f"Start one with `dask scheduler --scheduler-file {options.scheduler_file}`."
        raise trouble("executor.scheduler-file", message, hint) from error


def security_of(options: DaskOptions) -> Security | None:
    """Certificates of the options; `None` leaves them to dask's own configuration."""
    if options.tls_ca is None:
        return None
    return Security(
        tls_ca_file=str(options.tls_ca),
        tls_client_cert=str(options.tls_cert),
        tls_client_key=str(options.tls_key),
        tls_worker_cert=str(options.tls_cert),
        tls_worker_key=str(options.tls_key),
        require_encryption=True,
    )


async def _same_version(client: Client, address: str) -> None:
    """Make sure that both ends speak alike; dask promises nothing between two versions.

    Raises:
        PluginError: they have not the same version.
    """
    theirs = (await scheduler_of(client).versions())["packages"]["distributed"]
    ours = version("distributed")
    if theirs != ours:
        message = f"the dask scheduler at {address} has distributed {theirs}, and {ours} is installed here"
        raise trouble("executor.scheduler-version", message, f"Here: pip install distributed=={theirs}")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep dask from logging what is told as a problem of the run."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def trouble(code: str, message: str, hint: str | None = None) -> PluginError:
    """An error of one problem."""
    return PluginError(Problem(code, message, hint=hint))
