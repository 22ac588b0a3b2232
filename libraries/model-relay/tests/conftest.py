"""A relay with an API behind it, and the sandbox's side of it without a sandbox."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from skillgauge.api import ModelRoute
from skillgauge_model_relay import Relay, RelayLimits

KEY = "sk-real-0123456789abcdef"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Hop: 1\r\nConnection: keep-alive, X-Hop\r\n\r\nok"


@dataclass
class Upstream:
    """Keeps each request as it came, and answers as it is told."""

    answer: Callable[[asyncio.StreamWriter], object] = lambda writer: writer.write(ANSWER)
    requests: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    port: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection in a task that can be ended."""
        self.tasks.add(asyncio.ensure_future(self.serve(reader, writer)))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.requests.append(head)
                self.bodies.append(await self._body(head.lower(), reader))
                done = self.answer(writer)
                if asyncio.iscoroutine(done):
                    await done
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _body(self, head: bytes, reader: asyncio.StreamReader) -> bytes:
        if b"content-length: " in head:
            return await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        body = b""
        while b"transfer-encoding: chunked" in head:
            size = int(await reader.readline(), 16)
            body += (await reader.readexactly(size + 2))[:-2]
            if not size:
                break
        return body


@dataclass(frozen=True)
class Setting:
    """An open relay, an API behind it and sockets in front of it."""

    relay: Relay
    upstream: Upstream
    channel: int

    async def ask(self, request: bytes, *, port: int | None = None) -> bytes:
        """Send bytes to the relay and read until it closes, or has sent a whole answer with a known length."""
        address = self.relay.addresses["api"]
        reader, writer = await asyncio.open_connection("127.0.0.1", port or int(address.rpartition(":")[2]))
        try:
            writer.write(request)
            return await asyncio.wait_for(reader.read(), 20)
        finally:
            writer.close()


def free_ports(count: int) -> int:
    """The first of some ports in a row that nobody listens on."""
    for base in range(20000 + os.getpid() % 10000, 60000, count):
        try:
            for port in range(base, base + count):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
        except OSError:
            continue
        return base
    raise AssertionError("no free ports")


@asynccontextmanager
async def open_setting(
    limits: RelayLimits | None = None,
    hosts: tuple[str, ...] = (),
    answer: object = None,
    requests: tuple[str, ...] = ModelRoute.model_fields["requests"].default,
) -> AsyncIterator[Setting]:
    """Do what the program inside does, in this process."""
    upstream = Upstream(answer) if callable(answer) else Upstream()
    server = await asyncio.start_server(upstream.accept, "127.0.0.1", 0)
    upstream.port = server.sockets[0].getsockname()[1]
    base_url, headers = f"http://127.0.0.1:{upstream.port}/v1", {"x-api-key": KEY, "X-Extra": "1"}
    route = ModelRoute(name="api", base_url=base_url, requests=requests, headers=headers)
    base = free_ports(2)
    async with Relay((route,), hosts, limits or RelayLimits(), first_port=base) as relay:
        channel = socket.socket(fileno=relay.admit())
        listeners = [socket.create_server(("127.0.0.1", port)) for port in relay.ports()]
        channel.setblocking(False)
        socket.send_fds(channel, [b"?"], [one.fileno() for one in listeners])
        assert await asyncio.get_running_loop().sock_recv(channel, 1) == b"!"
        for one in listeners:
            one.close()
        try:
            yield Setting(relay, upstream, channel.fileno())
        finally:
            channel.close()
    server.close()
    for task in upstream.tasks:
        task.cancel()
    await asyncio.gather(*upstream.tasks, return_exceptions=True)


@pytest.fixture
def setting() -> Callable[..., object]:
    """Opens a relay in front of an API."""
    return open_setting
