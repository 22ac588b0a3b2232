"""The worker processes of a run, as seen from the process that runs it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable
from functools import partial
from itertools import count

from skillgauge.api import (
    Blame,
    Failure,
    FailureClass,
    GivenUp,
    Keeper,
    KeptExecution,
    PluginError,
    Problem,
    Trial,
    TrialResult,
    get_logger,
)

from .wire import Frame, Kind, receive, send

log = get_logger(__name__)

CANCEL_S = 5.0
"""How long a worker may take to stop an attempt. One that takes longer is blocked by a plugin, and killed."""
CLOSE_S = 10.0
"""How long a worker may take to end once its connection is closed."""
_STDERR = 2

OnSpent = Callable[[str, GivenUp], None]
"""Takes the id of a trial and what its attempt has used so far."""


class Pool:
    """Hands attempts to worker processes, each to the one that has least to do.

    One that died is replaced when an attempt is meant for it.

    Args:
        recipe: of the run.
        workers: how many there may be.
        concurrency: attempts under way at once, divided among them.
        on_spent: called whenever a worker reports that an attempt has used more.
        keeper: keeps what workers have executed until it is graded.
    """

    def __init__(self, recipe: bytes, workers: int, concurrency: int, on_spent: OnSpent, keeper: Keeper) -> None:
        self._on_spent = on_spent
        self._keeper = keeper
        shares = [(concurrency + workers - 1 - at) // workers for at in range(workers)]
        self._places = [_Place(recipe, share) for share in shares]

    async def open(self) -> None:
        """Start every worker and wait for the first that is ready; one that cannot prepare the run is left out.

        Raises:
            PluginError: none can prepare the run.
        """
        opening = [place.start() for place in self._places]
        pending = set(opening)
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if not all(one.cancelled() or one.exception() for one in done):
                return
        opening[0].result()

    async def attempt(self, trial: Trial) -> TrialResult | Failure:
        """Have one attempt made; a worker that dies over it is a failure that another attempt may help."""
        places = list(self._places)
        while True:
            place = min(places, key=lambda one: (one.is_bad, one.under_way))
            place.under_way += 1
            try:
                connection = await place.connection()
                return await connection.attempt(trial, self._on_spent, self._keeper)
            except PluginError as error:
                places.remove(place)
                if not places:
                    return _failure(FailureClass.LAUNCH, str(error), retryable=True)
            finally:
                place.under_way -= 1

    async def close(self) -> None:
        """End every worker, and what it has under way."""
        await asyncio.gather(*(place.close() for place in self._places))


class _Place:
    """The state of one worker process."""

    def __init__(self, recipe: bytes, share: int) -> None:
        self._recipe = recipe
        self._share = share
        self._opening: asyncio.Task[_Connection] | None = None
        self._replaced: list[asyncio.Task[_Connection]] = []
        self.under_way = 0

    @property
    def is_bad(self) -> bool:
        """Whether its worker could not prepare the run when it was last tried."""
        opening = self._opening
        return opening is not None and opening.done() and (opening.cancelled() or opening.exception() is not None)

    def start(self) -> asyncio.Task[_Connection]:
        """Start a worker, unless there is one that lives or is about to."""
        opening = self._opening
        if opening is None or (opening.done() and (opening.exception() or not opening.result().lives)):
            if opening is not None:
                self._replaced.append(opening)
            opening = self._opening = asyncio.create_task(_connect(self._recipe, self._share))
        return opening

    async def connection(self) -> _Connection:
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
        for connection in await asyncio.gather(*started, return_exceptions=True):
            if isinstance(connection, _Connection):
                await connection.close()


async def _connect(recipe: bytes, share: int) -> _Connection:
    """Start a worker and let it prepare the run."""
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            process = await _spawn(theirs.fileno())
        except BaseException:
            writer.close()
            raise
    try:
        send(writer, Frame(Kind.PREPARE, share, recipe))
        answer = await receive(reader)
        if answer.kind is not Kind.READY:
            raise _unprepared(answer.content.decode())
    except BaseException as error:
        writer.close()
        await _end(process, 0 if isinstance(error, asyncio.CancelledError) else CLOSE_S)
        if isinstance(error, EOFError):
            raise _unprepared(f"it ended with {_end_of(process)}") from None
        raise
    log.debug("worker.ready", pid=process.pid, share=share)
    return _Connection(process, reader, writer)


async def _spawn(connection: int) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", f"{__package__}.worker", str(connection)),
        stdin=DEVNULL,
        stdout=_STDERR,  # what a plugin prints there would stand in the middle of a report
        pass_fds=(connection,),
        process_group=0,  # Ctrl-C is for the process that runs the evaluation, which ends this one in time
    )


class _Connection:
    """A worker that is ready."""

    def __init__(self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Frame]] = {}
        self._on_spent: dict[int, Callable[[GivenUp], None]] = {}
        self._keepers: dict[int, Keeper] = {}
        self._keeping: set[asyncio.Task[None]] = set()
        self._listening = asyncio.create_task(self._listen())
        self.lives = True

    async def attempt(self, trial: Trial, on_spent: OnSpent, keeper: Keeper) -> TrialResult | Failure:
        """See `Pool.attempt`."""
        number = next(self._numbers)
        if kept := await keeper.kept(trial):
            send(self._writer, Frame(Kind.KEPT, number, await asyncio.to_thread(_json, kept)))
        self._on_spent[number], self._keepers[number] = partial(on_spent, trial.trial_id), keeper
        try:
            answer = await self._ask(Frame(Kind.ATTEMPT, number, trial.model_dump_json().encode()))
        except asyncio.CancelledError:
            if self._waiting.pop(number, None):
                await self._cancel(number)
            raise
        finally:
            del self._on_spent[number], self._keepers[number]
        if answer.kind is Kind.RESULT:
            return TrialResult.model_validate_json(answer.content)
        died = answer.kind is Kind.CANCELLED
        kind = FailureClass.KILLED if died else FailureClass.INTERNAL
        return _failure(kind, answer.content.decode(), retryable=died)

    async def close(self) -> None:
        """Close the connection, which ends the worker."""
        self._writer.close()
        await _end(self._process, CLOSE_S)
        await self._listening
        await asyncio.gather(*self._keeping, return_exceptions=True)

    async def _ask(self, frame: Frame) -> Frame:
        answer: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._waiting[frame.number] = answer
        if self._listening.done():
            self._lose()
        send(self._writer, frame)
        return await answer

    async def _cancel(self, number: int) -> None:
        """Wait until an attempt has stopped; kill a worker that does not stop it."""
        try:
            await asyncio.wait_for(self._ask(Frame(Kind.CANCEL, number)), CANCEL_S)
        except TimeoutError:
            log.warning("worker.blocked", pid=self._process.pid)
            await _end(self._process, 0)

    async def _listen(self) -> None:
        try:
            while True:
                frame = await receive(self._reader)
                if frame.kind is Kind.SPENT:
                    if on_spent := self._on_spent.get(frame.number):
                        on_spent(GivenUp.model_validate_json(frame.content))
                    continue
                if frame.kind is Kind.KEEP:
                    keeping = asyncio.create_task(self._keep(frame))
                    self._keeping.add(keeping)
                    keeping.add_done_callback(self._keeping.discard)
                    continue
                answer = self._waiting.pop(frame.number, None)
                if answer and not answer.done():
                    answer.set_result(frame)
        except EOFError:
            self.lives = False
            self._writer.close()
            await _end(self._process, CLOSE_S)
            self._lose()

    async def _keep(self, frame: Frame) -> None:
        if keeper := self._keepers.get(frame.number):
            await keeper.keep(await asyncio.to_thread(KeptExecution.model_validate_json, frame.content))
            send(self._writer, Frame(Kind.SAFE, frame.number))

    def _lose(self) -> None:
        """Give everybody who waits for the worker an answer in its place."""
        ending = f"the worker process that made the attempt ended with {_end_of(self._process)}"
        for number in list(self._waiting):
            answer = self._waiting.pop(number)
            if not answer.done():
                answer.set_result(Frame(Kind.CANCELLED, number, ending.encode()))


def _json(kept: KeptExecution) -> bytes:
    return kept.model_dump_json().encode()


async def _end(process: Process, grace_s: float) -> None:
    """Wait for the end of a worker, and kill it if that takes too long."""
    try:  # not `asyncio.timeout`, which tells no time-out to a task that is being cancelled (Python 3.11.2)
        await asyncio.wait_for(process.wait(), grace_s)
    except TimeoutError:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _end_of(process: Process) -> str:
    code = process.returncode or 0
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _unprepared(why: str) -> PluginError:
    return PluginError(Problem("executor.worker", f"a worker process could not prepare the run: {why}"))


def _failure(kind: FailureClass, message: str, *, retryable: bool) -> Failure:
    return Failure(failure_class=kind, blame=Blame.INFRASTRUCTURE, message=message, retryable=retryable)
