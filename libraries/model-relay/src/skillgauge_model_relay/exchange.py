"""The server's side of HTTP/1.1 on one connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import suppress
from http import HTTPStatus

import h11

_CHUNK = 65536
_HEAD = 65536
_LINGER_S = 1.0
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    b"upgrade".split()
)

Headers = list[tuple[bytes, bytes]]


class Exchange:
    """Requests that come in on a connection, one after the other.

    h11 refuses what two programs could understand differently: doubled lengths, odd white space, bare line feeds.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD)

    async def request(self) -> h11.Request | None:
        """The next request without its body; `None` when there will be no other.

        Raises:
            h11.RemoteProtocolError: it is no proper request.
        """
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        elif self._http.our_state is not h11.IDLE:
            return None
        event = await self._next()
        return event if isinstance(event, h11.Request) else None

    async def body(self) -> AsyncIterator[bytes]:
        """The body of the request, as it comes."""
        if self._http.they_are_waiting_for_100_continue:
            await self._send(h11.InformationalResponse(status_code=100, headers=[]))
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)

    async def respond(self, status: int, headers: Headers, body: AsyncIterable[bytes]) -> None:
        """Send a response, each piece of its body as it comes."""
        await self._send(h11.Response(status_code=status, headers=headers))
        async for piece in body:
            await self._send(h11.Data(data=piece))
        await self._send(h11.EndOfMessage())

    async def refuse(self, status: HTTPStatus, why: str) -> None:
        """Answer with an error in words; the connection ends with it."""
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        text = json.dumps({"error": {"type": "skillgauge_relay", "message": f"skillgauge relay: {why}"}}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
        response = h11.Response(status_code=status, headers=[*headers, (b"connection", b"close")])
        await self._send(response)
        await self._send(h11.Data(data=text))
        await self._send(h11.EndOfMessage())
        # To close while something is unread would take the answer from the client.
        self.writer.write_eof()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_S):
                while await self.reader.read(_CHUNK):
                    pass

    async def switch(self) -> bytes:
        """Accept a CONNECT request; from now on bytes are nobody's business. Returns those that came already."""
        while not isinstance(await self._next(), h11.EndOfMessage):
            pass
        await self._send(h11.Response(status_code=HTTPStatus.OK, headers=[]))
        return bytes(self._http.trailing_data[0])

    async def _next(self) -> h11.Event | type[h11.PAUSED]:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self.reader.read(_CHUNK))
        return event  # type: ignore[return-value]  # not NEED_DATA any more

    async def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self.writer.write(data)
            await self.writer.drain()


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers without those that concern one connection only; names in lower case."""
    pairs = [(name.lower(), value) for name, value in headers]
    named = {one.strip().lower() for name, value in pairs if name == b"connection" for one in value.split(b",")}
    return [(name, value) for name, value in pairs if name not in _HOP_BY_HOP and name not in named]
