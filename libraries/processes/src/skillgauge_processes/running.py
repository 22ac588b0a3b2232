"""Start processes and talk to them from asyncio.

A thread attends to each live process (`_pump`, where caps, deadlines and the killing of groups live);
here asyncio waits for what the thread has to tell. asyncio's own subprocess support is not used, because a
spawn costs about twice as much with it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from signal import Signals

from skillgauge.api import Command, Finished, LaunchError, without_secrets

from ._pump import CHUNK, MARKER, TERM_GRACE_S, Pump, attend
from .starting import Starter

__all__ = ["MARKER", "Process", "start", "stop_all"]


async def start(
    command: Command,
    *,
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    fds: Sequence[int] = (),
    starter: Starter | None = None,
    on_output: Callable[[], object] = lambda: None,
) -> Process:
    """Start a process in a session of its own.

    Args:
        command: input, limits and mode; its `argv`, `cwd` and `env` are not looked at.
        argv: what to execute, sandbox prefix included; the program is looked up in the `PATH` of `env`.
        cwd: absolute working directory.
        env: the whole environment; the process gets the variable `MARKER` besides.
        fds: file descriptors that it inherits, beside those of its streams.
        starter: starts it in place of us; called in a thread.
        on_output: called whenever it has written something, in any thread.

    Raises:
        LaunchError: it cannot be started; the message says what to do.
    """
    if sys.platform == "win32":
        raise LaunchError("skillgauge starts no processes on Windows, where it cannot stop their children; use WSL")
    kind = _Interactive if command.interactive else _Streamed if command.streamed else Process
    process = kind(Pump(command, argv, cwd, env, fds, starter, on_output))
    try:
        await process._launch()
    except asyncio.CancelledError:
        await process._die()
        raise
    return process


async def stop_all(processes: Sequence[Process]) -> None:
    """Kill processes together and wait for the end of each, also if the caller is cancelled meanwhile."""
    for process in processes:
        process._kill()
    if any([await process._die() for process in processes]):
        raise asyncio.CancelledError


class Process:
    """A process that was started; implements `skillgauge.contract.sandboxes.Running`."""

    def __init__(self, pump: Pump) -> None:
        self._pump = pump
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.create_future()
        self._outcome: Finished | BaseException | None = None
        self._waiters: list[asyncio.Future[None]] = []
        self._condemned: str | None = None

    @property
    def pid(self) -> int:
        """Id of the process, of its group and of its session."""
        return self._pump.pid

    @property
    def has_ended(self) -> bool:
        """True if nothing of it is left."""
        return self._outcome is not None

    async def wait(self) -> Finished:
        """Wait for its end; what it wrote comes without secrets, before anybody cuts it.

        A cancelled caller leaves only when the whole process group is dead and reaped.
        """
        try:
            await self._end()
        except asyncio.CancelledError:
            await self._die()
            raise
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        assert self._outcome is not None
        if self._condemned is not None:
            stderr = self._outcome.stderr
            message = f"{'' if not stderr or stderr.endswith(bytes([10])) else chr(10)}skillgauge: {self._condemned}\n"
            return without_secrets(replace(self._outcome, stderr=stderr + message.encode()))
        return without_secrets(self._outcome)

    def condemn(self, reason: str) -> None:
        """Say why it is about to be killed, unless it has ended."""
        if self._outcome is None:
            self._condemned = reason

    async def write(self, data: bytes) -> None:
        """Refused: its input was given when it was started."""
        raise RuntimeError("the process is not interactive")

    def lines(self) -> AsyncIterator[bytes]:
        """Refused: its output comes with `wait`."""
        raise RuntimeError("the process is not interactive")

    async def stop(self) -> Finished:
        """Kill the whole process group and report. A process that has ended is left as it is."""
        self._kill()
        return await self.wait()

    async def _launch(self) -> None:
        try:
            attend(self._pump, self._report)
        except RuntimeError as error:
            raise LaunchError(f"the system allows no further thread ({error}); lower the concurrency") from error
        await self._started

    def _report(self, outcome: Finished | BaseException | None) -> None:
        """Take the thread's news: `None` when the process runs, and later how it ended."""
        with suppress(RuntimeError):  # the loop was closed: nobody wants to know
            if outcome is None:
                self._loop.call_soon_threadsafe(self._on_started)
            else:
                self._loop.call_soon_threadsafe(self._on_ended, outcome)

    def _on_started(self) -> None:
        if not self._started.done():
            self._started.set_result(None)

    def _on_ended(self, outcome: Finished | BaseException) -> None:
        self._outcome = outcome
        if isinstance(outcome, BaseException) and not self._started.done():
            self._started.set_exception(outcome)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _end(self) -> None:
        if self._outcome is None:
            waiter = self._loop.create_future()
            self._waiters.append(waiter)
            await waiter

    async def _die(self) -> bool:
        """Kill it and wait, even if cancelled, which is told then; takes less than a second."""
        self._kill()
        cancelled = False
        while self._outcome is None:
            try:
                await self._end()
            except asyncio.CancelledError:
                cancelled = True
        return cancelled

    def _kill(self) -> None:
        if self._outcome is None:
            self._pump.terminate()
            self._loop.call_later(TERM_GRACE_S, self._pump.send, Signals.SIGKILL)


class _Streamed(Process):
    """A process whose stdout is read as it comes.

    The event loop itself reads the pipe: through the thread it would take twice as long. What is not read yet is
    bounded by not reading on, so nothing gets lost while somebody wants it.
    """

    def __init__(self, pump: Pump) -> None:
        super().__init__(pump)
        self._limit = pump.command.output_bytes
        self._buffer = bytearray()
        self._dropped = 0
        self._readers = 0
        self._waited_for = False
        self._paused = False
        self._news = asyncio.Event()

    async def wait(self) -> Finished:
        """Wait for its end; output that no `lines` takes is kept up to the limit and then dropped."""
        self._waited_for = True
        self._read_on()
        finished = await super().wait()
        return replace(finished, stdout=without_secrets(bytes(self._buffer)), stdout_dropped=self._dropped)

    async def lines(self) -> AsyncIterator[bytes]:
        """Lines of its stdout without their ends; of a line beyond the limit only the beginning."""
        self._readers += 1
        searched, cutting = 0, False
        try:
            while True:
                end = self._buffer.find(b"\n", searched)
                if end < 0 and len(self._buffer) < self._limit and self._pump.stdout >= 0:
                    searched = len(self._buffer)
                    self._news.clear()
                    await self._news.wait()
                    continue
                if end < 0 and not self._buffer:
                    return
                line = bytes(self._buffer if end < 0 else self._buffer[:end])
                del self._buffer[: len(line) + 1]
                searched = 0
                self._read_on()
                self._dropped += len(line) if cutting else max(0, len(line) - self._limit)
                if not cutting:
                    yield without_secrets(line[: self._limit].removesuffix(b"\r"))
                cutting = end < 0
        finally:
            self._readers -= 1
            self._read_on()

    def _on_started(self) -> None:
        self._loop.add_reader(self._pump.stdout, self._on_readable)
        super()._on_started()

    def _on_readable(self) -> None:
        try:
            chunk = os.read(self._pump.stdout, CHUNK)
        except BlockingIOError:
            return
        self._pump.on_output()
        if not chunk:
            self._loop.remove_reader(self._pump.stdout)
            self._pump.close_stdout()
        elif self._waited_for and not self._readers:
            room = max(0, self._limit - len(self._buffer))
            self._buffer += chunk[:room]
            self._dropped += len(chunk[room:])
        else:
            self._buffer += chunk
            if len(self._buffer) >= self._limit:
                self._loop.remove_reader(self._pump.stdout)
                self._paused = True
        self._news.set()

    def _read_on(self) -> None:
        if self._paused and self._pump.stdout >= 0:
            self._paused = False
            self._loop.add_reader(self._pump.stdout, self._on_readable)

    def _on_ended(self, outcome: Finished | BaseException) -> None:
        self._waited_for = True
        for _ in range(64):  # more than a pipe holds; whoever escaped the killing must not keep us here
            if self._pump.stdout >= 0:
                self._on_readable()
        if self._pump.stdout >= 0:
            self._loop.remove_reader(self._pump.stdout)
        self._pump.close_stdout()
        self._news.set()
        super()._on_ended(outcome)


class _Interactive(_Streamed):
    """A process one talks to; the event loop writes to it, too."""

    def __init__(self, pump: Pump) -> None:
        super().__init__(pump)
        self._writing = asyncio.Lock()
        self._room = asyncio.Event()

    async def write(self, data: bytes) -> None:
        """Send bytes. Raises `BrokenPipeError` if it no longer reads."""
        async with self._writing:
            rest = memoryview(data)
            while rest:
                if self._pump.stdin < 0:
                    raise BrokenPipeError(errno.EPIPE, "the process has ended")
                try:
                    rest = rest[os.write(self._pump.stdin, rest) :]
                except BlockingIOError:
                    self._room.clear()
                    self._loop.add_writer(self._pump.stdin, self._room.set)
                    try:
                        await self._room.wait()
                    finally:
                        if self._pump.stdin >= 0:
                            self._loop.remove_writer(self._pump.stdin)

    def _on_ended(self, outcome: Finished | BaseException) -> None:
        if self._pump.stdin >= 0:
            self._loop.remove_writer(self._pump.stdin)
        self._pump.close_stdin()
        self._room.set()
        super()._on_ended(outcome)
