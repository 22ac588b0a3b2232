"""A live connection. The library holds connections in task scopes, so one task of its own enters and leaves each.

The library's own time limits are not used: it may take 13 seconds where one was allowed. Here whoever waits leaves
when his time is up, and the connection is ended behind his back.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from importlib.metadata import version
from typing import Literal

import anyio
import httpx2
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    Implementation,
    ListToolsResult,
)

from skillgauge.api import Blame, Failure, FailureClass, JsonObject, LaunchError, without_secrets

from .transports import Link, Server

Mode = Literal["legacy", "auto"]

_CLOSING_S = 1.0
"""How long a connection may take to end, once by itself and once when it was cancelled."""
LIBRARY_ERRORS = (RuntimeError, ValueError, OSError, httpx2.HTTPError, anyio.ClosedResourceError, anyio.EndOfStream)
"""What the library lets through besides `MCPError`: answers against the protocol or a tool's own schema, and what
befalls connections."""
_MODERN_ONLY = (UNSUPPORTED_PROTOCOL_VERSION, METHOD_NOT_FOUND)
_PAGES = 100

# What the library has to say is in its exceptions; without a handler Python would print it to stderr.
logging.getLogger("mcp").addHandler(logging.NullHandler())
logging.getLogger("httpx2").addHandler(logging.NullHandler())


class ConnectError(Exception):
    """There is no connection; carries the failure."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


async def connect(server: Server, env: JsonObject, output_bytes: int) -> Connection:
    """Connect. A caller who is cancelled leaves nothing behind.

    The handshake that every server knows comes first: to one that ignores what it does not know, the library's
    automatic mode would wait ten seconds for an answer. Servers that know only newer ways say so.

    Raises:
        ConnectError: it is not possible.
    """
    for mode in ("legacy", "auto"):
        connection = Connection(server.link(env, output_bytes), mode)
        try:
            await connection.ready()
            with suppress(MCPError):  # who calls a tool gets the server's words on that
                await connection.tool_names()
        except MCPError as error:
            await connection.end()
            if mode == "auto" or error.code not in _MODERN_ONLY:
                raise ConnectError(await connection.failure(error, "the server refused to connect")) from error
        except LIBRARY_ERRORS as error:
            connection.end_soon()
            raise ConnectError(await connection.failure(error, "no connection")) from error
        except BaseException:
            connection.end_soon()
            raise
        else:
            return connection
    raise AssertionError("unreachable")  # pragma: no cover - the second mode returns or raises


class Connection:
    """One connection to a server; requests may overlap."""

    def __init__(self, link: Link, mode: Mode) -> None:
        self._link = link
        own = Implementation(name="skillgauge", version=version("skillgauge-core"))
        self.client = Client(link.streams(), mode=mode, client_info=own, cache=None)  # type: ignore[arg-type]  # streams
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._leave = asyncio.Event()
        self._keeper = asyncio.create_task(self._keep())
        self._ending: asyncio.Task[None] | None = None
        self._names: tuple[str, ...] | None = None
        self.in_flight = 0
        self.retired = False
        """Whether it takes no further requests."""

    @property
    def usable(self) -> bool:
        """True if a further request may be sent."""
        return not self.retired and not self._keeper.done()

    @property
    def ended(self) -> bool:
        """True if nothing of it is left."""
        return self._ending is not None and self._ending.done()

    async def ready(self) -> None:
        """Wait for the end of the handshake. Raises what it failed with."""
        await asyncio.wait({self._keeper, self._ready}, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.done():
            raise _first(self._keeper.exception() or RuntimeError("the connection ended"))

    async def request(self, tool: str, arguments: dict[str, object]) -> object:
        """Call a tool. Raises what went wrong; `MCPError` if the server says so or is gone."""
        task = asyncio.create_task(self.client.call_tool(tool, arguments))
        try:
            await asyncio.wait({task, self._keeper}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise _first(self._keeper.exception() or MCPError(CONNECTION_CLOSED, "Connection closed"))
            return task.result()
        finally:
            task.cancel()
            task.add_done_callback(_retrieved)

    async def tool_names(self) -> tuple[str, ...]:
        """Names of the tools that the server lists; none if it lists none."""
        if self._names is None:
            names: list[str] = []
            cursor: str | None = None
            for _ in range(_PAGES):
                page: ListToolsResult = await self.client.list_tools(cursor=cursor)
                names += [tool.name for tool in page.tools]
                cursor = page.next_cursor
                if not cursor:
                    break
            self._names = tuple(names)
        return self._names

    def retire(self) -> None:
        """Take no further requests, and end when the last one has its answer."""
        self.retired = True
        if not self.in_flight:
            self.end_soon()

    def end_soon(self) -> None:
        """End without making the caller wait."""
        if self._ending is None:
            self.retired = True
            self._ending = asyncio.create_task(self._end())

    async def end(self) -> None:
        """End and wait for it."""
        self.end_soon()
        assert self._ending is not None
        await asyncio.shield(self._ending)

    async def failure(self, error: Exception, action: str) -> Failure:
        """Return the failure that an exception of `ready` or `request` means."""
        if isinstance(error, LaunchError):
            return Failure(failure_class=FailureClass.LAUNCH, blame=Blame.INFRASTRUCTURE, message=str(error))
        lost = isinstance(error, MCPError) and error.code == CONNECTION_CLOSED
        epitaph = await self._link.epitaph()
        if self._link.sandbox_failure:
            return Failure.of_agent(FailureClass.KILLED, self._link.sandbox_failure)
        if epitaph is not None:
            return _failure(FailureClass.CRASH, epitaph, retryable=True)
        if isinstance(error, httpx2.TransportError | OSError) or (lost and _is_ours(str(error))):
            return _failure(FailureClass.NETWORK, f"{action}: {str(error) or type(error).__name__}", retryable=True)
        status = self._link.status
        if status is not None and isinstance(error, MCPError):
            return _refused(status, f"{action}: HTTP {status}: {error}")
        return _failure(FailureClass.PROTOCOL, f"{action}: {without_secrets(str(error))[:500]}", retryable=False)

    async def _keep(self) -> None:
        async with self.client:
            self._ready.set_result(None)
            await self._leave.wait()

    async def _end(self) -> None:
        self._leave.set()
        if not self._ready.done():
            self._keeper.cancel()
        for _ in range(2):
            await asyncio.wait({self._keeper}, timeout=_CLOSING_S)
            if self._keeper.done():
                break
            self._keeper.cancel()
        self._keeper.add_done_callback(_retrieved)


def _is_ours(message: str) -> bool:
    """Tell whether an error with the code of a lost connection is the library's: servers use that code for anything."""
    return message == "Connection closed" or message.startswith("SSE stream")


def _refused(status: int, message: str) -> Failure:
    """Return the failure that the status of a refusal means."""
    if status == 429:
        return _failure(FailureClass.RATE_LIMITED, message, retryable=True)
    if status >= 500:
        return _failure(FailureClass.SERVER, message, retryable=True)
    return _failure(FailureClass.REJECTED, message, retryable=False)


def _failure(failure_class: FailureClass, message: str, *, retryable: bool) -> Failure:
    return Failure(failure_class=failure_class, blame=Blame.TARGET, message=message, retryable=retryable)


def _first(error: BaseException) -> BaseException:
    """The one exception inside of a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _retrieved(task: asyncio.Task[object] | asyncio.Task[None]) -> None:
    """Asyncio complains about exceptions that nobody looked at."""
    if not task.cancelled():
        task.exception()
