"""Answers of a remote server, whose bytes are counted while they are decoded."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from skillgauge_http_bodies import Decoder, EncodingError

_EVENTS = "text/event-stream"
"""A stream that may go on for as long as the session does; the library bounds each event of it."""


class Bounded(httpx2.AsyncBaseTransport):
    """Gives answers decoded, piece by piece, and breaks one off that is too large.

    Args:
        inner: what carries the requests.
        limit: bytes of an answer that is no stream of events.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, limit: int) -> None:
        self._inner = inner
        self._limit = limit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Carry one request.

        Raises:
            httpx2.DecodingError: the answer is encoded in a way that nobody asked for.
        """
        response = await self._inner.handle_async_request(request)
        try:
            decoder = Decoder(response.headers.pop("content-encoding", ""))
        except EncodingError as error:
            await response.aclose()
            raise httpx2.DecodingError(f"the answer cannot be decoded: {error}", request=request) from error
        response.headers.pop("content-length", None)
        is_stream = response.headers.get("content-type", "").lower().startswith(_EVENTS)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Pieces(response.stream, decoder, None if is_stream else self._limit)
        return response

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()


class _Pieces(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, decoder: Decoder, limit: int | None) -> None:
        self._stream = stream
        self._decoder = decoder
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        try:
            async for chunk in self._stream:
                for piece in self._decoder.pieces(chunk):
                    length += len(piece)
                    if self._limit is not None and length > self._limit:
                        raise httpx2.DecodingError(f"the answer is larger than {self._limit} bytes")
                    yield piece
        except EncodingError as error:
            raise httpx2.DecodingError(f"the answer cannot be decoded: {error}") from error

    async def aclose(self) -> None:
        await self._stream.aclose()
