"""What trials of the contract tell the process that checks, over a connection of each attempt's own.

An attempt is under way as long as its connection is open: one that was cancelled says that it has stopped, and one
whose process was killed says nothing any more, which is seen here as well. No folder is shared for it.
"""

from __future__ import annotations

import asyncio
import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

LOOPBACK = "127.0.0.1"


@dataclass(eq=False)
class Mark:
    """One attempt that was begun somewhere."""

    ordinal: int
    """Of its trial."""
    worker: str
    """The process that makes it, by machine and number."""
    may_go: asyncio.Event
    ended: bool = False
    """It has stopped, answered, or died with its process."""


class Marks:
    """The place where attempts tell that they have begun and wait until they may go on.

    Args:
        host: address of this machine to listen at, as workers reach it.
    """

    def __init__(self, host: str = LOOPBACK) -> None:
        self._host = host
        self._all_may_go = False
        self._server: asyncio.Server | None = None
        self.seen: list[Mark] = []
        """Every attempt that has told, in the order in which they did."""

    @property
    def address(self) -> str:
        """HOST:PORT, for the input of a case."""
        assert self._server is not None  # it has been entered
        return f"{self._host}:{self._server.sockets[0].getsockname()[1]}"

    @property
    def under_way(self) -> list[Mark]:
        """Attempts that have begun and not ended."""
        return [one for one in self.seen if not one.ended]

    def release_one(self) -> None:
        """Let the attempt that has waited longest go on."""
        for one in self.under_way:
            if not one.may_go.is_set():
                one.may_go.set()
                return

    def release(self) -> None:
        """Let every attempt go on, those that are still to begin, too."""
        self._all_may_go = True
        for one in self.seen:
            one.may_go.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.release()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told = await reader.readline()
        if not told.endswith(b"\n"):  # its process was killed before it had begun
            writer.close()
            return
        ordinal, _, worker = told.decode().strip().partition(" ")
        mark = Mark(int(ordinal), worker, asyncio.Event())
        self.seen.append(mark)
        if self._all_may_go:
            mark.may_go.set()
        ends = asyncio.ensure_future(reader.read(1))
        goes = asyncio.ensure_future(mark.may_go.wait())
        try:
            await asyncio.wait({ends, goes}, return_when=asyncio.FIRST_COMPLETED)
            if not ends.done():
                writer.write(b"go\n")
            await asyncio.wait({ends})
        finally:
            goes.cancel()
            ends.cancel()
            mark.ended = True
            with suppress(OSError):
                writer.close()  # which answers who says that it has stopped


async def wait_at(address: str, ordinal: int) -> None:
    """In an attempt: tell that it has begun, and wait. Cancelled, it ends when that it has stopped is known there."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(f"{ordinal} {platform.node()}/{os.getpid()}\n".encode())
        await reader.readline()
    finally:
        with suppress(OSError):
            writer.write(b".")
            await reader.read()
        writer.close()
