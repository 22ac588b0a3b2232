"""Processes in a container, and their ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from skillgauge.api import Command, Finished, LaunchError, Running

from .container import Container
from .inside import ABSENT


class Contained:
    """A process in a container. What the program that started it cannot end is ended here."""

    def __init__(
        self,
        inner: Running,
        container: Container,
        mark: str,
        token: str,
        command: Command,
        ended: Callable[[], Awaitable[None]] | None,
    ) -> None:
        self._inner = inner
        self._container = container
        self._mark = mark
        self._token = token.encode()
        self._command = command
        self._ended = ended
        self._is_swept = False

    async def wait(self) -> Finished:
        """Wait for its end. Cancelling the caller ends all that came of it."""
        try:
            finished = await self._inner.wait()
        except asyncio.CancelledError:
            await asyncio.shield(self._sweep())
            raise
        if finished.timed_out or finished.signal is not None:
            await self._sweep()
        await self._end()
        if finished.exit_code == ABSENT and self._token in finished.stderr:
            raise LaunchError(f"{self._command.argv[0]!r} is not there in the container; use an image that has it")
        return finished

    async def write(self, data: bytes) -> None:
        """Send bytes to an interactive process. Raises `BrokenPipeError` if it no longer reads."""
        await self._inner.write(data)

    def lines(self) -> AsyncIterator[bytes]:
        """Lines of its stdout."""
        return self._inner.lines()

    async def stop(self) -> Finished:
        """End all that came of it and report."""
        finished = await self._inner.stop()
        await self._sweep()
        return finished

    async def _sweep(self) -> None:
        if not self._is_swept:
            self._is_swept = True
            await self._container.end_processes(self._mark)
        await self._end()

    async def _end(self) -> None:
        ended, self._ended = self._ended, None
        if ended is not None:
            await ended()
