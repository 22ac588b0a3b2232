"""The cluster of a run, seen from a thread of its own.

Workers end what they have under way if they hear nothing for some seconds. So what tells them that the run goes on must
not wait for anything else that the process does, a plugin that blocks its event loop included: it has a thread and an
event loop to itself, and what crosses between the two loops are bytes.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from distributed import Client

from skillgauge.api import PluginError, get_logger
from skillgauge_workers import Frame, unpacked

from .connecting import SILENCE_S, answers, connected, identity, quiet, scheduler_of, trouble
from .options import DaskOptions
from .recovery import Recovery
from .station import TOPIC, end_station, exchange, open_station, renew

log = get_logger(__name__)

BEAT_S = 2.0
"""Between two looks at the cluster, each of which renews the lease of every station."""

T = TypeVar("T")


@dataclass(frozen=True)
class WorkerInfo:
    """A worker as its scheduler describes it."""

    address: str
    name: str
    threads: int
    resources: Mapping[str, float]


class Remote:
    """A station at a worker. Everything here happens in the cluster's thread."""

    def __init__(
        self,
        client: Client,
        key: str,
        address: str,
        deliver: Callable[[Frame | None], None],
    ) -> None:
        self._client = client
        self._key = key
        self._address = address
        self._deliver = deliver
        self._content: list[bytes] = []
        self._wake = asyncio.Event()
        self._exchanging = asyncio.create_task(self._exchange())
        self._ending: str | None = None

    def post(self, content: bytes) -> None:
        """Send a frame."""
        self._content.append(content)
        self._wake.set()

    def ring(self) -> None:
        """Fetch what waits there."""
        self._wake.set()

    def lose(self) -> None:
        """Take note that the worker is gone."""
        self._end(f"is gone with its dask worker {self._address}")

    async def end(self, grace_s: float) -> str:
        """End the station; return what became of its process."""
        if self._ending is None:
            try:
                (ending,) = (await self._run(end_station, grace_s)).values()
            except Exception:  # noqa: BLE001 - whatever is wrong with that worker
                self.lose()
            else:
                self._end(ending)
        assert self._ending is not None  # both ways set it
        return self._ending

    def _end(self, ending: str) -> None:
        if self._ending is None:
            self._ending = ending
            self._exchanging.cancel()
            self._deliver(None)

    async def _exchange(self) -> None:
        """Send what is to be sent and fetch what waits, one after the other, so that frames stay in order."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            content, self._content = b"".join(self._content), []
            try:
                ((received, ending),) = (await self._run(exchange, content)).values()
            except Exception:  # noqa: BLE001 - whatever is wrong on the way
                if await answers(self._client):  # else nothing is known of the worker, and the run ends
                    self.lose()
                return
            for frame in unpacked(received):
                self._deliver(frame)
            if ending is not None:
                self._end(ending)

    async def _run(self, function: Callable[..., Any], *args: object) -> dict[str, Any]:
        answers: dict[str, Any] = await self._client.run(function, self._key, *args, workers=[self._address])
        return answers


class Cluster:
    """A connection to the scheduler of a cluster, or a cluster of this process, for one run.

    Args:
        options: say which cluster.
        key: of the run.
        size: workers of a cluster of this process, and the threads of each.
        recovery: takes executions that earlier processes of the run did not come to keep.
        on_workers: called in the cluster's thread with the workers that there are, now and then.
        on_trouble: called there with what ends the run.
    """

    def __init__(
        self,
        options: DaskOptions,
        key: str,
        size: tuple[int, int],
        recovery: Recovery,
        on_workers: Callable[[list[WorkerInfo]], object],
        on_trouble: Callable[[PluginError], object],
    ) -> None:
        self._options = options
        self._key = key
        self._size = size
        self._recovery = recovery
        self._has_depot = False
        """Whether workers can leave executions at the scheduler."""
        self._on_workers = on_workers
        self._on_trouble = on_trouble
        self._remotes: dict[str, Remote] = {}
        self._beats: set[asyncio.Task[None]] = set()
        self._closing = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._ended: Future[None] = Future()
        self._thread = threading.Thread(target=self._work, name="dask cluster", daemon=True)
        self._client: Client

    def start(self) -> None:
        """Connect; `on_workers` or `on_trouble` tell what comes of it."""
        self._thread.start()

    def call(self, function: Callable[..., None], *args: object) -> None:
        """Call something in the cluster's thread, unless that has ended."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *args)

    async def ask(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await something that runs in the cluster's thread.

        Raises:
            EOFError: the thread has ended.
        """
        try:
            answer = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))
        except RuntimeError:
            coroutine.close()
            raise EOFError from None
        ended = asyncio.wrap_future(self._ended)
        # Not awaited itself, to tell its end by that of the thread from our own cancellation.
        either: tuple[asyncio.Future[Any], ...] = (answer, ended)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            coroutine.close()  # it came after the last turn of the thread's loop
            raise EOFError
        if answer.cancelled():
            raise EOFError
        return answer.result()

    async def close(self) -> None:
        """End every station, and the connection."""
        if self._thread.ident is None:
            self._loop.close()
        else:
            self.call(self._closing.set)
            await asyncio.to_thread(self._thread.join)

    async def open(self, address: str, deliver: Callable[[Frame | None], None]) -> Remote:
        """Start a station at a worker; called in the cluster's thread.

        Args:
            address: of the worker.
            deliver: takes each frame of it, and `None` in the end.

        Raises:
            PluginError: that worker cannot have one.
        """
        folder = None if self._options.travels else self._options.folder or _here()
        opening = open_station, self._key, folder, self._recovery.run_id, self._has_depot
        try:
            (refusal,) = (await self._client.run(*opening, workers=[address])).values()
        except Exception as error:
            raise _refused(address, f"{type(error).__name__}: {error}") from error
        if refusal:
            raise _refused(address, refusal)
        remote = self._remotes[address] = Remote(self._client, self._key, address, deliver)
        return remote

    def _work(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner, quiet():
                runner.run(self._main())
        finally:
            self._ended.set_result(None)

    async def _main(self) -> None:
        try:
            async with connected(self._options, self._size) as client:
                self._client = client
                client.subscribe_topic(TOPIC, self._rung)  # type: ignore[no-untyped-call]
                if self._options.outlives:
                    self._has_depot = await self._recovery.look(client)
                await self._watched()
        except PluginError as error:
            self._on_trouble(error)
        except Exception as error:  # noqa: BLE001 - told where it can be seen
            self._on_trouble(trouble("executor.dask", f"the cluster failed: {type(error).__name__}: {error}"))

    async def _watched(self) -> None:
        """Watch the cluster until the run is over, or cannot go on, and end the stations then."""
        watching = asyncio.create_task(self._watch())
        closing = asyncio.create_task(self._closing.wait())
        await asyncio.wait({watching, closing}, return_when=asyncio.FIRST_COMPLETED)
        closing.cancel()
        failed = watching.exception() if watching.done() else None
        watching.cancel()
        if not failed:
            ending = [asyncio.create_task(remote.end(0.0)) for remote in self._remotes.values()]
            if ending:
                await asyncio.wait(ending, timeout=SILENCE_S)
        for remote in self._remotes.values():
            remote.lose()  # who waits for it must not wait for a thread that has ended
        if failed:
            raise failed

    async def _watch(self) -> None:
        """Tell of workers that come and go, and renew leases, until the scheduler is silent for too long."""
        address = scheduler_of(self._client).address
        heard_at = time.monotonic()
        while time.monotonic() - heard_at < SILENCE_S:
            try:
                description = await identity(self._client, workers=-1)
            except (OSError, TimeoutError):
                log.debug("scheduler.silent")
            else:
                heard_at = time.monotonic()
                self._see(description["workers"])
            await asyncio.sleep(BEAT_S)
        message = f"the dask scheduler at {address} does not answer any more"
        hint = "Start it, and run the same command again: what has finished is kept."
        raise trouble("executor.no-scheduler", message, hint)

    def _see(self, workers: Mapping[str, Mapping[str, Any]]) -> None:
        for address in [one for one in self._remotes if one not in workers]:
            self._remotes.pop(address).lose()
        running = [
            WorkerInfo(address, str(info["name"]), info["nthreads"], info["resources"])
            for address, info in workers.items()
            if info["status"] == "running"
        ]
        self._on_workers(running)
        beat = asyncio.create_task(self._beat())  # not awaited: one worker that hangs would hold it up for all
        self._beats.add(beat)
        beat.add_done_callback(self._beats.discard)

    async def _beat(self) -> None:
        if not self._remotes:
            return
        with suppress(OSError):
            renewed = await self._client.run(renew, self._key, workers=list(self._remotes), on_error="return")
            for address, waits in renewed.items():
                if waits is True:
                    if remote := self._remotes.get(address):
                        remote.ring()
                elif waits is not False and (remote := self._remotes.pop(address, None)):
                    remote.lose()

    def _rung(self, event: tuple[float, list[str]]) -> None:
        key, address = event[1]
        if key == self._key and (remote := self._remotes.get(address)):
            remote.ring()


def _here() -> str:
    return str(Path.cwd())


def _refused(address: str, why: str) -> PluginError:
    return trouble("executor.worker", f"the dask worker {address} cannot make attempts: {why}")
