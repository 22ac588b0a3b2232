"""One process for many calls: a worker reads requests line by line until its stdin is closed.

It gets one request at a time, so that whatever it writes meanwhile belongs to that request. Only a worker that has
answered twice is trusted: a program that reads its whole input first, or ends after one answer, is found out before
any trial depends on it.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import suppress

from skillgauge.api import (
    EMPTY,
    CallRequest,
    Command,
    Execution,
    Failure,
    FailureClass,
    JsonValue,
    LaunchError,
    Running,
)

from .one_shot import OneShotSession, Program
from .outcome import (
    EXCERPT_BYTES,
    OUTPUT_BYTES,
    crashed,
    excerpt,
    failed,
    last_words,
    left_behind,
    not_launched,
    rejected,
    timed_out,
)
from .wire import FIRST_WORKER_ID, Answer, NoAnswer, answer_in, request

_PROOFS = 2
_EXITING_S = 0.5
"""How long a process that closed its stdout may take to end by itself, so that its own exit code is told."""


class Unproven(Exception):  # noqa: N818 - it names what was found
    """A process did not show that it answers more than once.

    Attributes:
        execution: how that request went which it did not answer.
        failure: why.
    """

    def __init__(self, execution: Execution) -> None:
        assert execution.failure is not None
        super().__init__(execution.failure.message)
        self.execution = execution
        self.failure = execution.failure


class WorkerSession:
    """Lends a worker to each call: one that is idle, or else a new one.

    So there are as many workers as there are calls at a time. One that ends by itself between two calls is replaced
    silently; the call that finds it gone goes to a new one.

    Args:
        program: what to start.
        first: a worker that has proven itself.
    """

    def __init__(self, program: Program, first: Worker) -> None:
        self._program = program
        self._one_shot = OneShotSession(program)
        self._idle = [first]

    async def call(self, request_: CallRequest) -> Execution:
        """Send the input to a worker and read its answer; the duration is without the time that starting one takes.

        What a running process cannot be given, an environment of its own or a larger limit of output, is a reason
        to start one for this call alone.
        """
        limits = request_.limits
        output_bytes = limits.output_bytes or OUTPUT_BYTES
        if request_.env or output_bytes > OUTPUT_BYTES:
            return await self._one_shot.call(request_)
        time_limit = TimeLimit(limits.timeout_s)
        if self._idle:
            worker = self._idle.pop()
            execution = await self._lend(worker, request_.input, output_bytes, time_limit)
            if not worker.has_left:
                return execution
        try:
            worker = await proven_worker(self._program, time_limit)
        except Unproven as why:
            return why.execution
        return await self._lend(worker, request_.input, output_bytes, time_limit)

    async def close(self) -> None:
        """End every worker."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(worker.stop() for worker in idle))

    async def _lend(self, worker: Worker, params: JsonValue, output_bytes: int, time_limit: TimeLimit) -> Execution:
        try:
            return await worker.call("invoke", params, output_bytes, time_limit)
        finally:
            if worker.usable:
                self._idle.append(worker)
            else:
                await worker.stop()


class TimeLimit:
    """A limit that runs from when it is made; `None` is none."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.until = None if seconds is None else asyncio.get_running_loop().time() + seconds


async def proven_worker(program: Program, time_limit: TimeLimit) -> Worker:
    """Start a worker and have it answer twice; that it knows no `healthcheck` is an answer, too.

    Raises:
        Unproven: it did not answer in time, or not twice; it is ended by then.
    """
    try:
        worker = await Worker.start(program)
    except LaunchError as error:
        raise Unproven(not_launched(error, program.workspace.tier)) from error
    try:
        for _ in range(_PROOFS):
            execution = await worker.call("healthcheck", EMPTY, OUTPUT_BYTES, time_limit)
            if not worker.usable:
                raise Unproven(execution)
    finally:
        if not worker.usable:
            await worker.stop()
    return worker


class Worker:
    """A running process that answers one request after the other."""

    def __init__(self, running: Running, tier: str) -> None:
        self._running = running
        self._lines = running.lines()
        self._tier = tier
        self._ids = itertools.count(FIRST_WORKER_ID)
        self.usable = True
        """False while it works, and for ever after a call that did not end with an answer."""
        self.has_left = False
        """Whether it ended by itself and without a fault, as if it had had enough."""

    @classmethod
    async def start(cls, program: Program) -> Worker:
        """Start the process. Raises `LaunchError` if that is not possible."""
        command = Command(argv=program.argv, cwd=program.root, interactive=True, output_bytes=OUTPUT_BYTES)
        return cls(await program.workspace.start(command), program.workspace.tier)

    async def call(self, method: str, params: JsonValue, output_bytes: int, time_limit: TimeLimit) -> Execution:
        """Send a request and report how it went. A worker that is not `usable` afterwards must be stopped."""
        self.usable = False
        output = _Heard(output_bytes)
        started = time.perf_counter()
        answer: Answer | Failure | None = None
        deadline = asyncio.timeout_at(time_limit.until)
        try:
            async with deadline:
                answer = await self._ask(method, params, output)
        except TimeoutError:
            if not deadline.expired():
                raise
        duration_s = time.perf_counter() - started
        if isinstance(answer, Answer):
            self.usable = True
            return Execution(output=answer.result, duration_s=duration_s, failure=rejected(answer), sandbox=self._tier)
        return await self._failed(answer, output, duration_s, time_limit.seconds)

    async def stop(self) -> None:
        """End it, with all that it started."""
        await self._running.stop()

    async def _ask(self, method: str, params: JsonValue, output: _Heard) -> Answer | Failure:
        """Its answer, or what it did instead."""
        request_id = next(self._ids)
        with suppress(BrokenPipeError):  # it has ended, and reading on tells more of that
            await self._running.write(request(params, method=method, request_id=request_id))
        try:
            async for line in self._lines:
                output.add(line)
                for part in line.splitlines():
                    answer = answer_in(part, request_id)
                    if answer is not None:
                        return answer
        except NoAnswer as why:
            return failed(FailureClass.PROTOCOL, str(why))
        try:
            async with asyncio.timeout(_EXITING_S):
                finished = await self._running.wait()
        except TimeoutError:
            return failed(FailureClass.PROTOCOL, "the process closed its stdout without an answer")
        self.has_left = finished.exit_code == 0
        return crashed(finished, last_words(finished.stderr)) or failed(
            FailureClass.PROTOCOL, "the process ended without an answer"
        )

    async def _failed(
        self, failure: Failure | None, output: _Heard, duration_s: float, limit_s: float | None
    ) -> Execution:
        finished = await self._running.stop()
        return Execution(
            exit_code=finished.exit_code,
            stdout=excerpt(output.beginning),
            stderr=last_words(finished.stderr) or None,
            truncated=output.too_much or bool(finished.stderr_dropped),
            duration_s=duration_s,
            failure=failure or timed_out(limit_s, last_words(finished.stderr)),
            sandbox=self._tier,
            notes=left_behind(finished),
        )


class _Heard:
    """The output of a worker since it got its request."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.size = 0
        self.beginning = bytearray()

    @property
    def too_much(self) -> bool:
        return self.size > self._limit

    def add(self, line: bytes) -> None:
        self.size += len(line) + 1
        if len(self.beginning) < EXCERPT_BYTES:
            self.beginning += line[:EXCERPT_BYTES] + b"\n"
        if self.too_much:
            raise NoAnswer(f"stdout exceeded its limit of {self._limit} bytes before an answer")
