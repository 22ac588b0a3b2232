"""A worker of a cluster, as `skillgauge worker` starts it: a dask worker that tells which runs it takes part in."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from distributed import Worker

from skillgauge.api import PluginError
from skillgauge_workers import Offer

from .connecting import address_in, security_of, trouble
from .options import DaskOptions

JOIN_S = 60.0
"""How long a worker waits for its scheduler, which may be started at the same moment, in jobs of their own."""
_PAUSE_S = 0.5


class TellingWorker(Worker):
    """A dask worker whose owner is told what becomes of it in each run.

    Args:
        *args: as for `Worker`.
        tell: takes a line for the user.
        **options: as for `Worker`.
    """

    def __init__(self, *args: Any, tell: Callable[[str], None], **options: Any) -> None:
        super().__init__(*args, **options)
        self.tell = tell


async def serve(options: DaskOptions, offer: Offer, tell: Callable[[str], None]) -> None:
    """Be a worker of a cluster until a signal, or until its scheduler is gone. It is a `Serve`.

    Raises:
        PluginError: the options name no scheduler, or none answers.
    """
    if not (options.address or options.scheduler_file):
        message = "a worker needs the scheduler of a cluster, and executors.dask names none"
        hint = "Give --set executors.dask.scheduler_file=FILE, or executors.dask.address."
        raise trouble("executor.no-scheduler", message, hint)
    address = options.address or await _announced(options)
    with TemporaryDirectory(prefix="skillgauge-worker-") as folder, _stopped() as stopped, _only_warnings():
        try:
            worker = TellingWorker(
                address,
                tell=tell,
                name=offer.name,
                nthreads=offer.places,
                resources=dict(offer.resources),
                host=offer.host,
                security=security_of(options),
                death_timeout=JOIN_S,
                local_directory=folder,
                dashboard=False,
                memory_limit=0,  # sessions have processes of their own, which dask does not see
            )
            joining = asyncio.ensure_future(worker)
            await _either(joining, stopped)
            if stopped.is_set():
                joining.cancel()
                return
            joining.result()
        except (OSError, ValueError, TypeError) as error:  # a time-out is an `OSError`
            message = f"no dask scheduler answers at {address}: {error}"
            hint = "Start one with `dask scheduler`, or correct executors.dask; docs/cluster.md tells of TLS."
            raise trouble("executor.no-scheduler", message, hint) from error
        tell(f"worker {offer.name} waits for runs at {address}")
        await _either(asyncio.ensure_future(worker.finished()), stopped)  # type: ignore[no-untyped-call]
        if not stopped.is_set():
            tell(f"worker {offer.name}: its scheduler at {address} is gone")
        await worker.close()


async def _announced(options: DaskOptions) -> str:
    """Return the address in the scheduler file, as soon as it stands there.

    Raises:
        PluginError: it does not within `JOIN_S`.
    """
    until = time.monotonic() + JOIN_S
    while True:
        try:
            return address_in(options) or ""
        except PluginError:
            if time.monotonic() > until:
                raise
        await asyncio.sleep(_PAUSE_S)


async def _either(running: asyncio.Future[Any], stopped: asyncio.Event) -> None:
    """Wait for the end of something, or for a signal."""
    stopping = asyncio.create_task(stopped.wait())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()


@contextmanager
def _stopped() -> Iterator[asyncio.Event]:
    """Yield an event that signals set: Ctrl-C, and what batch systems send at the end of a job."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, stopped.set)
    try:
        yield stopped
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


@contextmanager
def _only_warnings() -> Iterator[None]:
    """Keep dask from telling of each step."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
