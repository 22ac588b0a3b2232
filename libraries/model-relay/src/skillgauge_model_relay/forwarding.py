"""Requests to one model API, with the route's headers in place of the client's own credentials."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator
from fnmatch import fnmatchcase
from functools import cache
from http import HTTPStatus
from urllib.parse import unquote

import h11

from skillgauge.api import ModelRoute
from skillgauge_http_bodies.slim import httpx

from .answers import Scrubber
from .exchange import Exchange, Headers, end_to_end
from .meter import ExceededError, Meter

_CREDENTIALS = frozenset(b"api-key authorization cookie proxy-authorization x-api-key x-goog-api-key".split())
"""Headers by which APIs know their clients. What a client inside gives is dropped, whatever the route sets."""
_CREDENTIAL_QUERIES = re.compile(r"(?:^|(?<=&))(?:key|api[-_]key|access_token)=[^&]*&?")
_OWN = frozenset((b"host", b"expect", b"accept-encoding"))
_OVERRIDES = frozenset((b"x-http-method", b"x-http-method-override", b"x-method-override"))
"""Headers by which a service takes a request for one of another method."""
_METHODS = frozenset(("GET", "POST", "HEAD", "PUT", "PATCH", "DELETE"))
"""Those that a route may allow at all: `TRACE` would send the key back."""
_TIMEOUT = httpx.Timeout(30, read=3600)
"""Seconds. A model may think for long; how long a session may take is limited elsewhere."""


class Forwarder:
    """Sends what comes in to a route's address, and nowhere else.

    Args:
        route: where, and with which headers.
        meter: counts what is used.
    """

    def __init__(self, route: ModelRoute, meter: Meter) -> None:
        self._base = route.base_url.rstrip("/")
        self._headers = [(name.lower().encode(), str(value).encode()) for name, value in route.headers.items()]
        self._dropped = _CREDENTIALS | _OWN | _OVERRIDES | {name for name, _ in self._headers}
        self._allowed = [one.partition(" ")[::2] for one in route.requests]
        self._scrubber = Scrubber(value for _, value in self._headers)
        self._meter = meter
        is_plain = self._base.lower().startswith("http://")
        self._client = httpx.AsyncClient(
            timeout=_TIMEOUT, follow_redirects=False, trust_env=False, verify=not is_plain and _certificates()
        )

    async def close(self) -> None:
        """End its connections."""
        await self._client.aclose()

    async def serve(self, exchange: Exchange) -> None:
        """Answer the requests of one connection.

        Raises:
            h11.RemoteProtocolError: what came in is no HTTP.
            ExceededError: a limit was reached in the middle of an answer.
            OSError: the client went away.
        """
        while (request := await exchange.request()) is not None:
            try:
                self._meter.count_request()
                url = self._base + self._asked(request)
            except (ExceededError, PermissionError) as exceeded:
                return await exchange.refuse(HTTPStatus.FORBIDDEN, str(exceeded))
            except ValueError as error:
                return await exchange.refuse(HTTPStatus.BAD_REQUEST, str(error))
            with self._meter.pauses.asking():
                await self._forward(exchange, request, url)
        return None

    def _asked(self, request: h11.Request) -> str:
        """The path and query that a request may ask for.

        Raises:
            ValueError: it is no path.
            PermissionError: the route does not allow it.
        """
        method, target = request.method.decode("ascii"), within(request.target.decode("ascii"))
        path = unquote(target.partition("?")[0])
        if method not in _METHODS or not any(method == one and fnmatchcase(path, glob) for one, glob in self._allowed):
            raise PermissionError(f"{method} of this path is not among the requests that the agent's program needs")
        return target

    async def _forward(self, exchange: Exchange, request: h11.Request, url: str) -> None:
        headers = self._outgoing(request)
        has_body = any(name in (b"content-length", b"transfer-encoding") for name, _ in request.headers)
        content = self._counted(exchange.body()) if has_body else None
        try:
            upstream = httpx.Request(request.method.decode("ascii"), url, headers=headers, content=content)
            answer = await self._client.send(upstream, stream=True)
        except ExceededError as exceeded:
            return await exchange.refuse(HTTPStatus.FORBIDDEN, str(exceeded))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # Not its text, which may name what the workspace has no business to know.
            return await exchange.refuse(HTTPStatus.BAD_GATEWAY, f"the API cannot be reached ({type(error).__name__})")
        self._meter.pauses.hear(answer.status_code, answer.headers)
        try:
            if answer.headers.get("content-encoding", "identity") != "identity":
                why = "the API answers in an encoding that nobody asked for, so that the key could not be taken out"
                return await exchange.refuse(HTTPStatus.BAD_GATEWAY, why)
            if content is None:
                async for _ in exchange.body():
                    pass
            headers = [(name, self._scrubber.clean(value)) for name, value in end_to_end(answer.headers.raw)]
            media_type = answer.headers.get("content-type", "")
            pieces = self._scrubber.stream(self._meter.tally.stream(self._counted(answer.aiter_raw()), media_type))
            return await exchange.respond(answer.status_code, headers, pieces)
        except httpx.HTTPError as error:
            raise ConnectionError(f"the API broke off ({type(error).__name__})") from error
        finally:
            await answer.aclose()

    def _outgoing(self, request: h11.Request) -> Headers:
        in_pieces = any(name == b"transfer-encoding" for name, _ in request.headers)
        dropped = self._dropped | {b"content-length"} if in_pieces else self._dropped
        kept = [(name, value) for name, value in end_to_end(request.headers) if name not in dropped]
        return [*kept, (b"accept-encoding", b"identity"), *self._headers]

    async def _counted(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for piece in pieces:
            self._meter.count_bytes(len(piece))
            yield piece


def within(target: str) -> str:
    """A request's target, made sure to stay below the address that it is added to, without credentials.

    Raises:
        ValueError: it is no path, or one that climbs.
    """
    if not target.startswith("/"):
        raise ValueError("only paths are served here")
    path, mark, query = target.partition("?")
    plain = path
    for _ in range(3):  # servers differ in how often they decode
        if any(part in (".", "..") for part in re.split(r"[/\\]", plain)):
            raise ValueError("paths that climb are not served")
        plain = unquote(plain)
    if "\\" in plain or any(ord(character) < 32 for character in plain):
        raise ValueError("paths with control characters or backslashes are not served")
    query = _CREDENTIAL_QUERIES.sub("", query).rstrip("&")
    return f"{path}{mark}{query}" if query else path


@cache  # reading them takes a while
def _certificates() -> ssl.SSLContext:
    """Return the certificates of httpx and of the system: only the system knows a company's own authority."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context
