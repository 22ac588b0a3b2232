"""Connections to hosts on an allow list, for what no route can carry: an existing login."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus

from .exchange import Exchange
from .meter import ExceededError, Meter

_CHUNK = 65536
_TLS_PORT = 443
_TLS_HANDSHAKE = b"\x16\x03"
_PATIENCE_S = 30.0


class Tunnels:
    """A proxy that knows one method, CONNECT, and lets nothing but TLS through.

    Args:
        hosts: `name` or `name:port`.
        meter: counts what is used.
    """

    def __init__(self, hosts: Sequence[str], meter: Meter) -> None:
        self._allowed = frozenset(address(host, default_port=_TLS_PORT) for host in hosts)
        self._meter = meter

    async def serve(self, exchange: Exchange) -> None:
        """Answer one connection.

        Raises:
            h11.RemoteProtocolError: what came in is no HTTP.
            ExceededError: a limit was reached in the middle.
            OSError: one of the sides went away.
        """
        request = await exchange.request()
        if request is None:
            return
        if request.method != b"CONNECT":
            await exchange.refuse(HTTPStatus.FORBIDDEN, "only TLS connections are let through")
            return
        try:
            target = address(request.target.decode("ascii"))
            self._meter.count_request()
        except (ValueError, ExceededError) as error:
            await exchange.refuse(HTTPStatus.FORBIDDEN, str(error))
            return
        if target not in self._allowed:
            await exchange.refuse(HTTPStatus.FORBIDDEN, f"{target[0]}:{target[1]} is not an allowed host")
            return
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_connection(*target), _PATIENCE_S)
        except (OSError, TimeoutError) as error:
            await exchange.refuse(HTTPStatus.BAD_GATEWAY, f"the host cannot be reached ({type(error).__name__})")
            return
        try:
            await self._join(exchange, reader, writer)
        finally:
            writer.close()

    async def _join(self, exchange: Exchange, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await exchange.switch()
        while len(first) < len(_TLS_HANDSHAKE):
            piece = await exchange.reader.read(_CHUNK)
            if not piece:
                return
            first += piece
        if not first.startswith(_TLS_HANDSHAKE):
            return
        writer.write(first)
        self._meter.count_bytes(len(first))
        out = asyncio.create_task(self._copy(exchange.reader, writer))
        backward = asyncio.create_task(self._copy(reader, exchange.writer))
        try:
            done, _ = await asyncio.wait((out, backward), return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for task in (out, backward):
                task.cancel()
            await asyncio.gather(out, backward, return_exceptions=True)

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while piece := await source.read(_CHUNK):
            self._meter.count_bytes(len(piece))
            sink.write(piece)
            await sink.drain()
        with suppress(OSError):
            sink.write_eof()


def address(host: str, *, default_port: int | None = None) -> tuple[str, int]:
    """Name and port of a host, in one spelling.

    Raises:
        ValueError: it is no name with a port.
    """
    name, colon, port = host.rpartition(":")
    if not colon and default_port is not None:
        name, port = host, str(default_port)
    if not name or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{host!r} is no `name:port`")
    return name.lower().rstrip("."), int(port)
