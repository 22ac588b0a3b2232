"""The relay of one workspace: what it tells to those inside, and the sockets that it serves for them."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Self

import h11

from skillgauge.api import ModelRoute, Usage

from .exchange import Exchange
from .forwarding import Forwarder
from .meter import ExceededError, Meter, RelayLimits
from .tunnels import Tunnels

_FIRST_PORT = 17870

Handler = Callable[[Exchange], Awaitable[None]]


class Relay:
    """Serves the sockets that processes of one workspace hand out, until it is closed.

    Args:
        routes: model APIs.
        hosts: `name` or `name:port`, to be reached by TLS.
        limits: what all processes of the workspace may use together.
        first_port: of as many as there are routes, and one more for hosts. Any will do where the network of a sandbox
            is its own.

    Raises:
        ValueError: a host or a route's address cannot be understood.
    """

    def __init__(
        self, routes: Sequence[ModelRoute], hosts: Sequence[str], limits: RelayLimits, *, first_port: int = _FIRST_PORT
    ) -> None:
        self._meter = meter = Meter(limits)
        self._connections = asyncio.Semaphore(limits.connections)
        self._forwarders = {route.name: Forwarder(route, meter) for route in routes}
        handlers: list[Handler] = [forwarder.serve for forwarder in self._forwarders.values()]
        if hosts:
            handlers.append(Tunnels(hosts, meter).serve)
        self._handlers = dict(enumerate(handlers, first_port))
        self._has_hosts = bool(hosts)
        self._admissions: set[_Admission] = set()
        self._doors: set[socket.socket] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def addresses(self) -> Mapping[str, str]:
        """Address of each route inside, by name. It has no path: what follows is added to the route's own."""
        return {name: f"http://127.0.0.1:{port}" for name, port in zip(self._forwarders, self._handlers, strict=False)}

    @property
    def used(self) -> Usage | None:
        """Tokens of all answers that model APIs have given so far, whoever inside asked; `None` if none named any."""
        return self._meter.tally.usage

    @property
    def broken_off(self) -> int:
        """Number of answers that did not come to their end, so that not all of their tokens are known."""
        return self._meter.tally.broken_off

    @property
    def pause(self) -> tuple[int, float] | None:
        """HTTP status of the newest answer, and the seconds left of the pause that it asks for; `None` without one."""
        return self._meter.pauses.pause

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables by which programs inside find the way to the allowed hosts."""
        if not self._has_hosts:
            return {}
        proxy, excepted = f"http://127.0.0.1:{max(self._handlers)}", "127.0.0.1,localhost"
        variables = {"HTTPS_PROXY": proxy, "HTTP_PROXY": proxy, "NO_PROXY": excepted}
        return variables | {name.lower(): value for name, value in variables.items()}

    def command(self, fd: int, argv: Sequence[str]) -> tuple[str, ...]:
        """A command with the program in front that makes its sockets.

        Args:
            fd: what `admit` gave.
            argv: the command.
        """
        ports = ",".join(map(str, self._handlers))
        return (os.path.realpath(sys.executable), "-I", "-S", "-c", _inside(), str(fd), ports, *argv)

    def admit(self) -> int:
        """Let one more sandbox in.

        Returns:
            A file descriptor that the sandbox must inherit, and keep open for as long as it lives: the sockets are
            served until then. The caller closes its own copy.
        """
        ours, theirs = socket.socketpair()
        self._admissions.add(_Admission(self, ours))
        return theirs.detach()

    def admit_at(self, path: Path) -> None:
        """Let the one in who connects first to a socket, by which it hands its own over.

        Args:
            path: where it is made; nothing is there, in a folder that nobody else can write to.
        """
        listener = socket.socket(socket.AF_UNIX)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            listener.bind(f"/proc/self/fd/{folder}/{path.name}")  # the name of a socket is short
            listener.listen(1)
        finally:
            os.close(folder)
        listener.setblocking(False)
        loop = asyncio.get_running_loop()
        self._doors.add(listener)

        def on_connection() -> None:
            with suppress(OSError):
                channel, _ = listener.accept()
                self._shut(listener)
                self._admissions.add(_Admission(self, channel))

        loop.add_reader(listener, on_connection)

    def _shut(self, door: socket.socket) -> None:
        asyncio.get_running_loop().remove_reader(door)
        self._doors.discard(door)
        door.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for door in tuple(self._doors):
            self._shut(door)
        for admission in tuple(self._admissions):
            admission.end()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for forwarder in self._forwarders.values():
            await forwarder.close()

    def ports(self) -> tuple[int, ...]:
        """Ports inside, in the order in which sockets come."""
        return tuple(self._handlers)

    def forget(self, admission: _Admission) -> None:
        """A sandbox has ended."""
        self._admissions.discard(admission)

    def accept(self, connection: socket.socket, port: int) -> None:
        """Serve a connection."""
        task = asyncio.get_running_loop().create_task(self._serve(connection, self._handlers[port]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: socket.socket, handler: Handler) -> None:
        if self._connections.locked():
            connection.close()
            return
        async with self._connections:
            reader, writer = await asyncio.open_connection(sock=connection)
            exchange = Exchange(reader, writer)
            try:
                with suppress(OSError, ExceededError, h11.LocalProtocolError):
                    try:
                        await handler(exchange)
                    except h11.RemoteProtocolError:
                        await exchange.refuse(HTTPStatus.BAD_REQUEST, "this is no proper HTTP request")
            finally:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()


class _Admission:
    """One sandbox: the channel on which its sockets come, and whose end is its end."""

    def __init__(self, relay: Relay, channel: socket.socket) -> None:
        self._relay = relay
        self._channel = channel
        self._listeners: list[socket.socket] = []
        self._loop = asyncio.get_running_loop()
        channel.setblocking(False)
        self._loop.add_reader(channel, self._on_news)

    def end(self) -> None:
        """Serve it no longer."""
        self._relay.forget(self)
        for connection in (self._channel, *self._listeners):
            if connection.fileno() >= 0:
                self._loop.remove_reader(connection)
            connection.close()

    def _on_news(self) -> None:
        expected = self._relay.ports()
        try:
            message, handles, _, _ = socket.recv_fds(self._channel, 1, len(expected))
        except OSError:
            message, handles = b"", []
        received = [] if self._listeners else _listening(handles, expected)
        if not message or not received:
            for handle in handles:
                os.close(handle)
            self.end()
            return
        self._listeners = received
        for listener, port in zip(received, expected, strict=True):
            listener.setblocking(False)
            self._loop.add_reader(listener, self._on_connection, listener, port)
        with suppress(OSError):
            self._channel.send(b"!")

    def _on_connection(self, listener: socket.socket, port: int) -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            connection.setblocking(False)
            self._relay.accept(connection, port)


def _listening(handles: Sequence[int], ports: Sequence[int]) -> list[socket.socket]:
    """The sockets that `inside` makes; none if these are others that somebody there would have us serve."""
    sockets: list[socket.socket] = []
    try:
        for handle in handles:
            sockets.append(socket.socket(fileno=handle))
        names = [listener.getsockname() for listener in sockets]
        listen = all(listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) for listener in sockets)
        if listen and names == [("127.0.0.1", port) for port in ports]:
            return sockets
    except OSError:
        pass
    for listener in sockets:
        listener.detach()
    return []


@cache
def _inside() -> str:
    return Path(__file__).with_name("inside.py").read_text(encoding="utf-8")
