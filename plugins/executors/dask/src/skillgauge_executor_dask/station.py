"""The part in a dask worker: a worker process beside it, and the frames that wait to be fetched from there.

A recipe is about the folder that a process runs in, and plugins change a process for good, so a run has a process of
its own beside each dask worker and leaves nothing behind in that. The process lives as long as the run asks for it: a
run that is silent for `LEASE_S` is dead or cut off, and nobody would read, or should pay for, what goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from distributed import Worker, WorkerPlugin

from skillgauge_workers import Admission, Frame, Kind, NotAdmittedError, WorkerProcess, packed, receive, start_worker

from .deposits import Deposits
from .serving import TellingWorker

TOPIC = "skillgauge"
"""Events of the cluster by which a station says that frames wait: the key of its run and its own address."""
LEASE_S = 8.0
"""How long a run may be silent."""
STOP_S = 5.0
"""How long what is under way may take to stop after that."""


class Station(WorkerPlugin):
    """The worker process of one run, beside a dask worker.

    Args:
        key: of the run; the name of this plugin.
        folder: where the process runs.
        run_id: of the run; processes that go on with it have keys of their own.
        has_depot: whether executions are left for them at the scheduler.
    """

    def __init__(self, key: str, folder: Path, run_id: str, *, has_depot: bool) -> None:
        self.name = key
        self.run_id = run_id
        self._has_depot = has_depot
        self._folder = folder
        self._waiting: list[bytes] = []
        self._rang = False
        self._heard_at = time.monotonic()
        self._ending: str | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def setup(self, worker: Worker) -> None:
        """Start the process."""
        self._worker = worker
        self._deposits = Deposits(worker, self.run_id) if self._has_depot else None
        self._process: WorkerProcess = await start_worker(STOP_S, self._folder)
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._watch())]

    async def teardown(self, worker: Worker) -> None:
        """End the process with its dask worker, or with the run."""
        await self.end(STOP_S)

    def renew(self) -> bool:
        """Take note that the run still wants this; return whether something waits to be fetched."""
        self._heard_at = time.monotonic()
        return self._rang

    def exchange(self, content: bytes) -> tuple[bytes, str | None]:
        """Hand frames to the process; return those that wait, and what became of the process if it is gone."""
        if self._deposits:
            self._deposits.goes(content)
        if not self._process.writer.is_closing():
            self._process.writer.write(content)
        waiting, self._waiting, self._rang = b"".join(self._waiting), [], False
        return waiting, self._ending

    async def end(self, grace_s: float) -> str:
        """End the process; return what became of it."""
        ending = await self._process.end(grace_s)
        if self._deposits:
            await self._deposits.settle(STOP_S)
        if self._ending is None:
            self._ending = ending
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()
        return self._ending

    async def _listen(self) -> None:
        try:
            while True:
                self._put(await receive(self._process.reader))
        except EOFError:
            self._ending = await self._process.end(STOP_S)
            self._ring()

    async def _watch(self) -> None:
        while time.monotonic() - self._heard_at < LEASE_S:
            await asyncio.sleep(1.0)
        await self._worker.plugin_remove(self.name)

    def _put(self, frame: Frame) -> None:
        if isinstance(self._worker, TellingWorker):
            self._tell(frame, self._worker.tell)
        if self._deposits:
            self._deposits.comes(frame)
        self._waiting.append(packed(frame))
        self._ring()

    def _tell(self, frame: Frame, tell: Callable[[str], None]) -> None:
        """Tell the owner of the worker what a run makes of it."""
        if frame.kind is Kind.READY:
            tell(f"worker {self._worker.name} is admitted to a run")
        elif frame.kind is Kind.REFUSED:
            admission = Admission.model_validate_json(frame.content)
            named = admission.model_copy(update={"worker": str(self._worker.name)})
            tell(f"worker {self._worker.name} is refused by a run:\n{NotAdmittedError(named)}")

    def _ring(self) -> None:
        """Say that something waits, once until it is fetched; a bell that nobody hears is made up for by the next."""
        if not self._rang:
            self._rang = True
            with suppress(Exception):  # the dask worker has lost its scheduler, and ends
                self._worker.log_event(TOPIC, [self.name, self._worker.address])


async def open_station(key: str, folder: str | None, run_id: str, has_depot: bool, dask_worker: Worker) -> str:
    """Start the process of a run in a folder, or where files of runs are laid down; return why not, or nothing."""
    place = Path(folder or dask_worker.local_directory)
    if not place.is_dir():
        return f"there is no folder {place} on it; copy the files of the run there, or leave out executors.dask.folder"
    await dask_worker.plugin_add(
        Station(key, place, run_id, has_depot=has_depot), key, catch_errors=False
    )  # in place of an earlier one
    return ""


def exchange(key: str, content: bytes, dask_worker: Worker) -> tuple[bytes, str | None]:
    """See `Station.exchange`."""
    station = _station(key, dask_worker)
    return station.exchange(content) if station else (b"", _NO_STATION)


def renew(key: str, dask_worker: Worker) -> bool | None:
    """Renew the lease of a run; return whether something waits to be fetched, or nothing if there is no station."""
    station = _station(key, dask_worker)
    return station.renew() if station else None


async def end_station(key: str, grace_s: float, dask_worker: Worker) -> str:
    """End the process of a run; return what became of it."""
    station = _station(key, dask_worker)
    if station is None:
        return _NO_STATION
    ending = await station.end(grace_s)
    if key in dask_worker.plugins:
        await dask_worker.plugin_remove(key)
    return ending


async def end_earlier(run_id: str, dask_worker: Worker) -> None:
    """End what other processes have begun of a run that this one goes on with."""
    plugins = list(dask_worker.plugins.items())
    keys = [key for key, plugin in plugins if isinstance(plugin, Station) and plugin.run_id == run_id]
    await asyncio.gather(*(dask_worker.plugin_remove(key) for key in keys))


_NO_STATION = "was ended, because its dask worker had not heard of the run for too long or was started again"


def _station(key: str, dask_worker: Worker) -> Station | None:
    station = dask_worker.plugins.get(key)
    return station if isinstance(station, Station) else None
