"""The queue of attempts, in the process that runs the evaluation.

Workers dial in, say the token, get the recipe of the run, and take one attempt after
another. Messages are lines: JSON, but for the token and the recipe.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from secrets import token_hex

from skillgauge.api import (
    Blame,
    Failure,
    FailureClass,
    GivenUp,
    Keeper,
    KeptExecution,
    PluginError,
    SkillgaugeError,
    Trial,
    TrialResult,
    get_logger,
)
from skillgauge_run_content import Content
from skillgauge_workers import Admission, NotAdmittedError, Reason, none_admitted

from .options import QueueOptions

TOKEN = "ACME_QUEUE_TOKEN"
"""Variable of what workers have to say. Whoever knows it gets the recipe of the run."""
LONGEST_LINE = 1 << 30
GRACE_S = 10.0
"""How long a worker may take to stop an attempt, or to end."""

ENDED = Admission(
    worker="that dialled in", reasons=(Reason(code="worker.gone", message="it ended while it prepared the run"),)
).model_dump_json()

log = get_logger(__name__)


class _Attempt:
    def __init__(self, trial: Trial, kept: KeptExecution | None) -> None:
        self.trial = trial
        self.kept = kept
        """The session of an earlier attempt, which this one only grades."""
        self.answer: asyncio.Future[TrialResult | Failure] = asyncio.Future()
        self.is_given_up = False
        self.stopped = asyncio.Event()
        """Nobody makes it, or nobody does any more."""
        self.worker: asyncio.StreamWriter | None = None
        """The way to who makes it."""

    async def stop(self) -> None:
        """Have it stopped; a worker that does not obey is dropped."""
        self.is_given_up = True
        if self.worker is None:
            return
        self.worker.write(b'{"stop":true}\n')
        try:
            await asyncio.wait_for(self.stopped.wait(), GRACE_S)
        except TimeoutError:
            self.worker.close()


class Queue:
    """Hands attempts to whichever worker is free."""

    def __init__(self, options: QueueOptions) -> None:
        self.recipe = b""
        self.files: Content | None = None
        self.spent: Callable[[str, GivenUp], None] = lambda _trial_id, _attempt: None
        self.keeper: Keeper | None = None
        self.local: dict[int, Process] = {}
        """Workers that this process has started, by process id."""
        self._options = options
        self._token = os.environ.get(TOKEN) or token_hex(16)
        self._waiting: asyncio.Queue[_Attempt] = asyncio.Queue()
        self._serving: set[asyncio.Task[None]] = set()
        self._ready = 0
        self._preparing = 0
        self._refusals: list[NotAdmittedError] = []
        self.has_trouble = asyncio.Event()
        """Set once the run cannot go on."""
        self._opening: asyncio.Task[asyncio.Server] | None = None
        self._why = "no worker could be started"
        self._is_closed = False

    async def attempt(self, trial: Trial) -> TrialResult | Failure:
        """Have one attempt made. Cancelled, it ends when the attempt has stopped."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        await asyncio.shield(self._opening)
        assert self.keeper is not None  # it comes with the recipe
        waiting = _Attempt(trial, await self.keeper.kept(trial))
        self._waiting.put_nowait(waiting)
        self._refuse_if_nobody_comes()
        try:
            return await waiting.answer
        except asyncio.CancelledError:
            await waiting.stop()
            raise

    def trouble(self) -> PluginError:
        """Return why the run cannot go on: every worker was refused."""
        return none_admitted(self._refusals)

    async def close(self) -> None:
        """Send every worker away, and wait for those that were started here."""
        self._is_closed = True
        if self._opening is None:
            return
        server = await self._opening
        server.close()
        for serving in self._serving:
            serving.cancel()
        if self._serving:
            await asyncio.wait(self._serving)
        await asyncio.gather(*map(_ended, list(self.local.values())))

    async def _open(self) -> asyncio.Server:
        host, port = self._options.listen.rsplit(":", 1)
        server = await asyncio.start_server(self._serve, host, int(port), limit=LONGEST_LINE)
        self.address = f"{host}:{server.sockets[0].getsockname()[1]}"
        log.info("workers.expected", address=self.address)
        for _ in range(self._options.workers):
            await self.start_worker()
        return server

    async def start_worker(self) -> None:
        """Start one on this machine; elsewhere the same command does so."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", f"{__package__}.worker", self.address),
            stdout=2,  # what plugins print must not stand in a report
            env={**os.environ, TOKEN: self._token},
            process_group=0,  # Ctrl-C is for this process, which ends that one in time
        )
        self.local[process.pid] = process
        watching = asyncio.create_task(self._watch(process))
        self._serving.add(watching)
        watching.add_done_callback(self._serving.discard)

    async def _watch(self, process: Process) -> None:
        code = await process.wait()
        del self.local[process.pid]
        self._why = f"the last worker ended with {code}"
        self._refuse_if_nobody_comes()

    def _refuse_if_nobody_comes(self) -> None:
        """Workers that dial in are waited for, unless all that were there were refused."""
        if self.local or self._ready or self._preparing:
            return
        if self._refusals:
            self.has_trouble.set()
            return
        if not self._options.workers:
            return
        while not self._waiting.empty():
            _answer(self._waiting.get_nowait(), _failure(FailureClass.LAUNCH, self._why))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # this is a coroutine of the server's
        self._serving.add(task)
        try:
            words = await asyncio.wait_for(reader.readline(), GRACE_S)
            if hmac.compare_digest(words.strip(), self._token.encode()):
                await self._admit(reader, writer)
        except (OSError, ValueError, TimeoutError) as error:
            log.warning("worker.lost", reason=str(error))
        except asyncio.CancelledError:
            pass  # the queue is closed, and this is the outermost function of its task
        finally:
            self._serving.discard(task)
            writer.close()

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Give attempts to a worker that could prepare the run, as long as it lives."""
        writer.write(base64.b64encode(self.recipe) + b"\n")
        self._preparing += 1
        try:
            answer = await self._prepared(reader, writer)
        finally:
            self._preparing -= 1
        if "ready" not in answer:
            error = NotAdmittedError(Admission.model_validate(answer))
            log.warning("worker.refused", reason=str(error))
            self._refusals.append(error)
            self._refuse_if_nobody_comes()
            return
        self._ready += 1
        try:
            while True:
                attempt = await self._next(reader)
                await self._make(attempt, reader, writer)
        except EOFError:
            if answer["ready"] in self.local and not self._is_closed:
                await self.start_worker()  # in place of one that has died
        finally:
            self._ready -= 1

    async def _prepared(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> dict[str, object]:
        """Send what a worker asks for of the run's files; its word that it is ready, or why not."""
        assert self.files is not None  # it comes with the recipe
        while True:
            words = json.loads(await reader.readline() or ENDED)
            try:
                if "manifest" in words:
                    content = await self.files.manifest()
                elif "content" in words:
                    content = await self.files.content(words["content"])
                else:
                    return words
            except SkillgaugeError as error:
                return Admission.refused(error, "of this run").model_dump(mode="json")
            writer.write(base64.b64encode(content) + b"\n")
            await writer.drain()

    async def _next(self, reader: asyncio.StreamReader) -> _Attempt:
        """Wait for an attempt that somebody still wants.

        Raises:
            EOFError: the worker is gone; what waits is for another.
        """
        while True:
            words = asyncio.ensure_future(reader.readline())
            more = asyncio.ensure_future(self._waiting.get())
            try:
                await asyncio.wait({words, more}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                words.cancel()
                more.cancel()
                await asyncio.wait({words, more})
            if not more.cancelled() and not more.result().is_given_up:
                return more.result()
            if not words.cancelled() and not words.result():
                raise EOFError

    async def _make(
        self,
        attempt: _Attempt,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Have a worker make an attempt. What it says of others, as when it says a thing twice, is passed over.

        Raises:
            EOFError: the worker is gone, and the attempt has that for an answer.
        """
        attempt.worker = writer
        kept = attempt.kept.model_dump_json() if attempt.kept else "null"
        words = f'{{"trial":{attempt.trial.model_dump_json()},"kept":{kept}}}\n'
        writer.write(words.encode())
        try:
            while line := await reader.readline():
                words = json.loads(line)
                if words["of"] == attempt.trial.trial_id and await self._is_end(words, attempt):
                    return
            failure = _failure(FailureClass.KILLED, "the worker that made the attempt is gone")
            _answer(attempt, failure)
            raise EOFError
        finally:
            attempt.worker = None
            attempt.stopped.set()

    async def _is_end(self, words: dict[str, object], attempt: _Attempt) -> bool:
        """Take in what a worker says of an attempt; whether that was the last of it."""
        if "spent" in words:
            self.spent(attempt.trial.trial_id, GivenUp.model_validate(words["spent"]))
            return False
        if "keep" in words:
            assert self.keeper is not None  # it comes with the recipe
            await self.keeper.keep(KeptExecution.model_validate(words["keep"]))
            if attempt.worker:
                attempt.worker.write(b'{"safe":true}\n')
            return False
        if "result" in words:
            _answer(attempt, TrialResult.model_validate(words["result"]))
        elif "failed" in words:
            _answer(attempt, _failure(FailureClass.INTERNAL, str(words["failed"])))
        return True


def _answer(attempt: _Attempt, made: TrialResult | Failure) -> None:
    if not attempt.answer.done():
        attempt.answer.set_result(made)


def _failure(kind: FailureClass, message: str) -> Failure:
    return Failure(
        failure_class=kind,
        blame=Blame.INFRASTRUCTURE,
        message=message,
        retryable=kind is not FailureClass.INTERNAL,
    )


async def _ended(process: Process) -> None:
    """Wait for the end of a worker that was sent away, and kill one that a plugin blocks."""
    try:
        await asyncio.wait_for(process.wait(), GRACE_S)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
