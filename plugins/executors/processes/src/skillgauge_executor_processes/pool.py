"""The worker processes of a run, as seen from the process that runs it."""

from __future__ import annotations

import asyncio

from skillgauge.api import (
    Blame,
    Failure,
    FailureClass,
    PluginError,
    PortableRunTrial,
    Trial,
    TrialResult,
    get_logger,
)
from skillgauge_workers import (
    CLOSE_S,
    Attempts,
    Frame,
    WorkerProcess,
    none_admitted,
    prepared,
    receive,
    send,
    start_worker,
)

log = get_logger(__name__)


class Pool:
    """Hands attempts to worker processes, each to the one that has least to do.

    One that died is replaced when an attempt is meant for it.

    Args:
        run: what attempts are made of; its concurrency is divided among the workers.
        workers: how many there may be.
    """

    def __init__(self, run: PortableRunTrial, workers: int) -> None:
        shares = [(run.concurrency + workers - 1 - at) // workers for at in range(workers)]
        self._places = [_Place(run, share) for share in shares]

    async def open(self) -> None:
        """Start every worker and wait for the first that is ready; one that is refused is left out.

        Raises:
            PluginError: all are refused.
        """
        opening = [place.start() for place in self._places]
        pending = set(opening)
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if not all(one.cancelled() or one.exception() for one in done):
                return
        raise none_admitted([_refusal(one) for one in opening])

    async def attempt(self, trial: Trial) -> TrialResult | Failure:
        """Have one attempt made; a worker that dies over it is a failure that another attempt may help."""
        places = list(self._places)
        while True:
            place = min(places, key=lambda one: (one.is_bad, one.under_way))
            place.under_way += 1
            try:
                attempts = await place.attempts()
                return await attempts.make(trial)
            except PluginError as error:
                places.remove(place)
                if not places:
                    return Failure(
                        failure_class=FailureClass.LAUNCH,
                        blame=Blame.INFRASTRUCTURE,
                        message=str(error),
                        retryable=True,
                    )
            finally:
                place.under_way -= 1

    async def close(self) -> None:
        """End every worker, and what it has under way."""
        await asyncio.gather(*(place.close() for place in self._places))


class _Place:
    """The state of one worker process."""

    def __init__(self, run: PortableRunTrial, share: int) -> None:
        self._run = run
        self._share = share
        self._opening: asyncio.Task[Attempts] | None = None
        self._replaced: list[asyncio.Task[Attempts]] = []
        self.under_way = 0

    @property
    def is_bad(self) -> bool:
        """Whether its worker could not prepare the run when it was last tried."""
        opening = self._opening
        return opening is not None and opening.done() and (opening.cancelled() or opening.exception() is not None)

    def start(self) -> asyncio.Task[Attempts]:
        """Start a worker, unless there is one that lives or is about to."""
        opening = self._opening
        if opening is None or (opening.done() and (opening.exception() or not opening.result().lives)):
            if opening is not None:
                self._replaced.append(opening)
            opening = self._opening = asyncio.create_task(_connect(self._run, self._share))
        return opening

    async def attempts(self) -> Attempts:
        """The worker, once it is ready."""
        opening = self.start()
        return opening.result() if opening.done() else await asyncio.shield(opening)

    async def close(self) -> None:
        """End the worker, and wait for those that went before it."""
        started = [*self._replaced]
        if self._opening is not None:
            started.append(self._opening)
        for opening in started:
            opening.cancel()
        for attempts in await asyncio.gather(*started, return_exceptions=True):
            if isinstance(attempts, Attempts):
                await attempts.close()


def _refusal(opening: asyncio.Task[Attempts]) -> PluginError:
    """Return why a worker is refused; what else went wrong with it is raised."""
    try:
        opening.result()
    except PluginError as error:
        return error
    raise AssertionError("it is ready")


class _Socket:
    """The way to a worker process that this one has started."""

    def __init__(self, process: WorkerProcess) -> None:
        self._process = process

    def send(self, frame: Frame) -> None:
        send(self._process.writer, frame)

    async def receive(self) -> Frame:
        return await receive(self._process.reader)

    async def end(self, grace_s: float) -> str:
        return await self._process.end(grace_s)


async def _connect(run: PortableRunTrial, share: int) -> Attempts:
    """Start a worker and let it prepare the run."""
    process = await start_worker(CLOSE_S)
    attempts = await prepared(_Socket(process), run, share)
    log.debug("worker.ready", pid=process.pid, share=share)
    return attempts
