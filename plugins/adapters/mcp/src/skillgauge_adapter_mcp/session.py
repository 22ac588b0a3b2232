"""One connection per environment, shared by overlapping calls and made anew after it broke."""

from __future__ import annotations

import asyncio
import time

from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, PARSE_ERROR, CallToolResult

from skillgauge.api import (
    Blame,
    CallRequest,
    Execution,
    Failure,
    FailureClass,
    canonical_json,
    did_you_mean,
    thaw,
    without_secrets,
)

from .answer import notes_of, output_of, text_of
from .connection import LIBRARY_ERRORS, ConnectError, Connection, connect
from .transports import Remote, Server

OUTPUT_BYTES = 5 * 1024 * 1024
"""Bytes read of an answer unless the suite sets another limit."""
_TOGETHER_S = 4.0
"""How much longer than its limit a call may take with connecting; the kernel cuts it off at five."""
_ASKING_S = 2.0
"""How long to wait for the list of tools, which is only for a better message."""
_SERVER_ERRORS = range(-32099, -31999)


class McpSession:
    """Calls one tool of one server."""

    def __init__(self, server: Server, tool: str) -> None:
        self._server = server
        self._tool = tool
        self._connections: dict[str, Connection] = {}
        self._connecting = asyncio.Lock()
        self._all: set[Connection] = set()

    async def call(self, request: CallRequest) -> Execution:
        """Call the tool with the input as its arguments; the duration is that of the call, or of failing to connect."""
        arguments = thaw(request.input) if request.input is not None else {}
        if not isinstance(arguments, dict):
            message = f"a tool takes an object of arguments, but the input is a {type(arguments).__name__}"
            return self._execution(
                0.0, Failure(failure_class=FailureClass.BAD_REQUEST, blame=Blame.INFRASTRUCTURE, message=message)
            )
        if request.env and isinstance(self._server, Remote):
            message = f"a server has its own environment: {', '.join(request.env)} of the case cannot be set there"
            why = Failure(failure_class=FailureClass.SETUP, blame=Blame.INFRASTRUCTURE, message=message)
            return self._execution(0.0, why)
        started = time.perf_counter()
        limit_s = request.limits.timeout_s
        limit = request.limits.output_bytes or OUTPUT_BYTES
        deadline = asyncio.timeout(limit_s)
        try:
            async with deadline:
                connection = await self._connection(request, limit)
        except TimeoutError:
            if not deadline.expired():
                raise
            failure = _failure(FailureClass.TIMEOUT, f"no connection to the server within {limit_s:g} s", True)
            return self._execution(started, failure)
        except ConnectError as error:
            return self._execution(started, error.failure)
        connected = time.perf_counter()
        if limit_s is not None:
            limit_s = max(0.0, min(limit_s, limit_s + _TOGETHER_S - (connected - started)))
        return await self._request(connection, arguments, limit, limit_s)

    async def close(self) -> None:
        """End every connection."""
        await asyncio.gather(*(connection.end() for connection in self._all))

    async def _connection(self, request: CallRequest, limit: int) -> Connection:
        key = canonical_json(request.env)
        async with self._connecting:
            connection = self._connections.get(key)
            if connection is None or not connection.usable:
                connection = await connect(self._server, request.env, limit)
                self._connections[key] = connection
                self._all = {connection, *(one for one in self._all if not one.ended)}
            connection.in_flight += 1
            return connection

    async def _request(
        self, connection: Connection, arguments: dict[str, object], limit: int, limit_s: float | None
    ) -> Execution:
        started = time.perf_counter()
        deadline = asyncio.timeout(limit_s)
        try:
            async with deadline:
                result = await connection.request(self._tool, arguments)
        except TimeoutError:
            connection.retired = True  # it may hang for good, and the next call must not wait for that
            if not deadline.expired():
                raise
            return self._execution(started, _failure(FailureClass.TIMEOUT, f"no answer within {limit_s:g} s", True))
        except MCPError as error:
            return self._execution(started, await self._refused(connection, error))
        except asyncio.CancelledError:
            connection.retired = True
            raise
        except LIBRARY_ERRORS as error:
            connection.retired = not isinstance(error, RuntimeError | ValueError)  # these are about one answer
            return self._execution(started, await connection.failure(error, "no answer"))
        finally:
            connection.in_flight -= 1
            if connection.retired:
                connection.retire()
        assert isinstance(result, CallToolResult)
        ended = time.perf_counter()
        if result.is_error:
            failure = await self._rejected(connection, text_of(result) or "the tool reports an error", False)
            return self._execution(started, failure, ended)
        try:
            output = output_of(result, limit)
        except ValueError as error:
            return self._execution(started, _failure(FailureClass.PROTOCOL, str(error), False), ended)
        return Execution(output=output, notes=notes_of(result), duration_s=ended - started, sandbox=self._server.tier)

    async def _refused(self, connection: Connection, error: MCPError) -> Failure:
        """Return the failure of a call that came back as an error of the protocol."""
        failure = await connection.failure(error, "no answer")
        if failure.failure_class is not FailureClass.PROTOCOL:
            connection.retired = failure.failure_class in (FailureClass.CRASH, FailureClass.NETWORK)
            return failure
        if error.code == PARSE_ERROR:
            return _failure(FailureClass.PROTOCOL, error.message, False)
        passing = error.code == INTERNAL_ERROR or error.code in _SERVER_ERRORS
        return await self._rejected(connection, f"JSON-RPC error {error.code}: {error.message}", passing)

    async def _rejected(self, connection: Connection, message: str, retryable: bool) -> Failure:
        """A refusal; where the server has no such tool, with the names of those that it has."""
        names: tuple[str, ...] = ()
        try:
            async with asyncio.timeout(_ASKING_S):
                names = await connection.tool_names()
        except (MCPError, TimeoutError):
            pass
        if names and self._tool not in names:
            guess = did_you_mean(self._tool, names)
            names_text = ", ".join(names[:20])
            return _failure(
                FailureClass.REJECTED, f"the server has no tool {self._tool!r}{guess}; it has {names_text}", False
            )
        return _failure(FailureClass.REJECTED, without_secrets(message)[:500], retryable)

    def _execution(self, started: float, failure: Failure, ended: float | None = None) -> Execution:
        took = (time.perf_counter() if ended is None else ended) - started if started else 0.0
        return Execution(failure=failure, duration_s=took, sandbox=self._server.tier)


def _failure(failure_class: FailureClass, message: str, retryable: bool) -> Failure:
    return Failure(failure_class=failure_class, blame=Blame.TARGET, message=message, retryable=retryable)
