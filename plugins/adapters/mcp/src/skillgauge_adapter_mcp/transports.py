"""The ways to a server. A process starts in the workspace like every other, not through the library's own stdio."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from types import TracebackType
from typing import Protocol

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from skillgauge.api import Command, Finished, JsonObject, Running, Workspace

from .bounded import Bounded

Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]

TOO_LARGE = "the answer is larger than {} bytes"
_ENVELOPE_BYTES = 65536
"""What a message may have around the output."""
_EXITING_S = 0.5
"""How long a process that closed its stdout may take to end by itself, so that its own exit code is told."""
_ID = re.compile(rb'"id"\s*:\s*([0-9]{1,15})\b')


class Link(Protocol):
    """One attempt to reach a server, and what is known of it apart from its messages."""

    def streams(self) -> AbstractAsyncContextManager[object]:
        """The transport for the library's client."""

    async def epitaph(self) -> str | None:
        """Return the end of the server's process in words, if it ended; waits a moment for it."""

    @property
    def sandbox_failure(self) -> str:
        """The failure of the sandbox around the server's process, known once `epitaph` has returned; else empty."""

    @property
    def status(self) -> int | None:
        """The last HTTP status that was a refusal."""


class Server(Protocol):
    """The address or the command of a server."""

    @property
    def tier(self) -> str | None:
        """Sandbox and tier that it runs in, if it was started here."""

    def link(self, env: JsonObject, output_bytes: int) -> Link:
        """A new link; nothing happens yet."""


@dataclass(frozen=True)
class Remote:
    """A server with an address."""

    url: str
    headers: Mapping[str, str]

    @property
    def tier(self) -> str | None:
        """It runs in none of ours."""
        return None

    def link(self, env: JsonObject, output_bytes: int) -> Link:
        """A new link over streamable HTTP; a remote server has its own environment."""
        return _HttpLink(self, output_bytes)


class _HttpLink:
    sandbox_failure = ""

    def __init__(self, server: Remote, output_bytes: int) -> None:
        self._server = server
        self._output_bytes = output_bytes
        self.status: int | None = None

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[object]:
        own = {"User-Agent": f"skillgauge/{version('skillgauge-core')}", "Accept-Encoding": "identity"}
        headers = {**self._server.headers, **own}
        async with (
            # No time limits here: deadlines are around whole calls, and they are kept by who makes them.
            httpx2.AsyncClient(
                headers=headers,
                timeout=None,
                trust_env=False,
                transport=Bounded(httpx2.AsyncHTTPTransport(trust_env=False), self._output_bytes + _ENVELOPE_BYTES),
                event_hooks={"response": [self._note]},
            ) as client,
            streamable_http_client(
                self._server.url, http_client=client, max_sse_event_size=self._output_bytes + _ENVELOPE_BYTES
            ) as streams,
        ):
            yield streams

    async def epitaph(self) -> str | None:
        return None

    async def _note(self, response: httpx2.Response) -> None:
        if response.status_code >= 400 and response.request.method == "POST":
            self.status = response.status_code


@dataclass(frozen=True)
class Spawned:
    """A server to be started."""

    workspace: Workspace
    argv: tuple[str, ...]
    cwd: str | None

    @property
    def tier(self) -> str | None:
        """The tier of the workspace."""
        return self.workspace.tier

    def link(self, env: JsonObject, output_bytes: int) -> Link:
        """A new process."""
        command = Command(argv=self.argv, cwd=self.cwd, env=env, interactive=True, output_bytes=output_bytes)
        return _ProcessLink(self.workspace, command)


class _ProcessLink:
    """JSON-RPC messages, one per line, with a process of the workspace."""

    def __init__(self, workspace: Workspace, command: Command) -> None:
        self._workspace = workspace
        self._command = command
        self._finished: Finished | None = None
        self._over = asyncio.Event()
        self._closing = False
        self.status: int | None = None

    def streams(self) -> AbstractAsyncContextManager[object]:
        return self

    async def __aenter__(self) -> Streams:
        self._running: Running = await self._workspace.start(self._command)
        self._incoming, incoming = anyio.create_memory_object_stream[Incoming](0)
        outgoing, self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self._ends = (self._incoming, incoming, outgoing, self._outgoing)
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._write())]
        return incoming, outgoing

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._closing:  # the library leaves at once when it meets the end; how the process ended is worth knowing
            await self._over.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._running.stop()
        self._over.set()
        for end in self._ends:
            end.close()

    async def epitaph(self) -> str | None:
        if self._closing:
            await self._over.wait()  # at most _EXITING_S and the time that killing takes
        if self._finished is None:
            return None
        finished = self._finished
        how = (
            f"exited with code {finished.exit_code}" if finished.signal is None else f"died of signal {finished.signal}"
        )
        words = " ".join(finished.stderr[-1200:].decode("utf-8", "replace").split())[-300:]
        return f"the server {how}{': ' if words else ''}{words}"

    @property
    def sandbox_failure(self) -> str:
        return self._finished.sandbox_failure if self._finished is not None else ""

    async def _read(self) -> None:
        async with self._incoming, aclosing(self._running.lines()) as lines:  # type: ignore[type-var]  # a generator
            async for line in lines:
                message = self._message(line)
                if message is not None:
                    await self._incoming.send(message)
            self._closing = True
        waiting = asyncio.create_task(self._running.wait())
        try:
            await asyncio.wait({waiting}, timeout=_EXITING_S)
            self._finished = waiting.result() if waiting.done() else await self._running.stop()
            await waiting
        finally:
            self._over.set()

    async def _write(self) -> None:
        async for message in self._outgoing:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await self._running.write(text.encode() + b"\n")
            except BrokenPipeError:  # whoever does not listen any more is of no use; the reader tells how it ended
                await self._running.stop()
                return

    def _message(self, line: bytes) -> SessionMessage | None:
        """The message in a line; `None` for anything else that a server writes to stdout."""
        if len(line) >= self._command.output_bytes:
            return self._too_large(line)
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            return None

    def _too_large(self, line: bytes) -> SessionMessage | None:
        """An error in place of an answer of which only the beginning was kept."""
        match = _ID.search(line[:200])
        if match is None:
            return None
        error = ErrorData(code=PARSE_ERROR, message=TOO_LARGE.format(self._command.output_bytes))
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(match[1]), error=error))
