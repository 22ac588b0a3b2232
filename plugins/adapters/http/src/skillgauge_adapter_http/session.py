"""Connections to a service; one request per call, under one deadline of its own."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib.metadata import version

from skillgauge.api import Blame, CallRequest, Execution, Failure, FailureClass, JsonValue, Target, thaw
from skillgauge_http_bodies import Decoder, EncodingError
from skillgauge_http_bodies.slim import httpx

from .answer import failure, is_success, output_of, status_failure, usage_of
from .token import Token

OUTPUT_BYTES = 5 * 1024 * 1024
"""Bytes read of an answer unless the suite sets another limit."""
_REFUSAL_BYTES = 16 * 1024
"""Bytes read of the body of anything but a success."""
_KEPT_CONNECTIONS = 64


class HttpSession:
    """Posts inputs to one address. A call that is cancelled closes its connection."""

    def __init__(self, target: Target, url: str, headers: Mapping[str, str], token: Token | None) -> None:
        self._target = target
        self._url = httpx.URL(url)
        self._headers = httpx.Headers(
            {
                "User-Agent": f"skillgauge/{version('skillgauge-core')}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",  # so that the limit on what is read is one on memory, too
                **headers,
                "Content-Type": "application/json",
            }
        )
        self._token = token
        self._verify = self._url.scheme == "https" and _certificates()  # reading them takes longer than a short run
        self._idle: list[httpx.AsyncHTTPTransport] = []
        """A transport for each connection that is not in use. One for all looks at every open connection before and
        after each request, which took as long as the requests with eight calls at a time."""

    async def call(self, request: CallRequest) -> Execution:
        """Post the input and read the answer."""
        if request.env:
            told = f"a server has its own environment: {', '.join(request.env)} of the case cannot be set there"
            return Execution(
                failure=Failure(failure_class=FailureClass.SETUP, blame=Blame.INFRASTRUCTURE, message=told)
            )
        started = time.perf_counter()
        limit_s = request.limits.timeout_s
        message = {"skillId": self._target.id, "version": self._target.version, "input": thaw(request.input)}
        body = json.dumps(message, ensure_ascii=False).encode()
        deadline = asyncio.timeout(limit_s)
        try:
            async with deadline:
                execution = await self._post(body, request.limits.output_bytes or OUTPUT_BYTES)
        except TimeoutError:
            if not deadline.expired():
                raise
            why = failure(FailureClass.TIMEOUT, f"no whole answer within {limit_s:g} s", retryable=True)
            execution = Execution(failure=why)
        except httpx.HTTPError as error:
            execution = Execution(failure=_broken(error))
        return self._clean(execution).model_copy(update={"duration_s": time.perf_counter() - started})

    async def close(self) -> None:
        """Close every connection."""
        idle, self._idle = self._idle, []
        for transport in idle:
            await transport.aclose()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        """Lend a connection that nobody else uses."""
        # Not a client, which would carry cookies from one trial to the next.
        transport = self._idle.pop() if self._idle else httpx.AsyncHTTPTransport(trust_env=False, verify=self._verify)
        try:
            yield transport
        except BaseException:
            await transport.aclose()
            raise
        if len(self._idle) < _KEPT_CONNECTIONS:
            self._idle.append(transport)
        else:
            await transport.aclose()

    async def _post(self, body: bytes, limit: int) -> Execution:
        request = httpx.Request("POST", self._url, headers=self._headers, content=body)
        async with self._connection() as transport:
            response = await transport.handle_async_request(request)
            status, headers = response.status_code, response.headers
            success = is_success(status)
            try:
                content, cut = await _read(response, limit if success else min(limit, _REFUSAL_BYTES))
            finally:
                await response.aclose()
        usage, notes = usage_of(headers)
        output: JsonValue = None
        why: Failure | None = None
        if not success:
            why = status_failure(status, headers, content, datetime.now(UTC))
        elif cut:
            why = failure(FailureClass.PROTOCOL, f"the answer is larger than {limit} bytes")
        else:
            try:
                output = output_of(content, headers.get("content-type", ""))
            except ValueError as error:
                why = failure(FailureClass.PROTOCOL, f"HTTP {status}: {error}")
        return Execution(output=output, usage=usage, notes=notes, failure=why, truncated=cut)

    def _clean(self, execution: Execution) -> Execution:
        """The execution without the token, which some services repeat."""
        if self._token is None:
            return execution
        why = execution.failure
        if why is not None:
            why = why.model_copy(update={"message": self._token.out_of_text(why.message)})
        notes = tuple(self._token.out_of_text(note) for note in execution.notes)
        return Execution(
            output=self._token.out_of(execution.output),
            usage=execution.usage,
            notes=notes,
            failure=why,
            truncated=execution.truncated,
        )


async def _read(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    """A body up to a limit, and whether there was more, which is neither read nor decoded.

    Raises:
        httpx.DecodingError: it is encoded in a way that nobody asked for, or damaged.
    """
    content = bytearray()
    try:
        decoder = Decoder(response.headers.get("content-encoding", ""))
        async for chunk in response.aiter_raw():
            for piece in decoder.pieces(chunk):
                content += piece
                if len(content) > limit:
                    return bytes(content[:limit]), True
    except EncodingError as error:
        raise httpx.DecodingError(str(error)) from error
    return bytes(content), False


def _certificates() -> ssl.SSLContext:
    """Return the certificates of httpx and of the system: only the system knows a company's own authority."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


def _broken(error: httpx.HTTPError) -> Failure:
    """Return the meaning of an exchange that did not come to its end."""
    if isinstance(error, httpx.DecodingError):
        return failure(FailureClass.PROTOCOL, f"the answer cannot be decoded: {error}")
    if isinstance(error, httpx.RemoteProtocolError) and "closed" not in f"{error}" and "disconnected" not in f"{error}":
        return failure(FailureClass.PROTOCOL, f"the answer is not HTTP: {error}")
    return failure(FailureClass.NETWORK, f"{_cause(error)} ({type(error).__name__})", retryable=True)


def _cause(error: BaseException) -> str:
    """Return the system's own words, below the layers that only say that something failed."""
    for cause in _below(error):
        if isinstance(cause, socket.gaierror | ssl.SSLError):
            return cause.strerror or str(cause)
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno)
    return str(error) or "the connection broke"


def _below(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause.__cause__ or cause.__context__
