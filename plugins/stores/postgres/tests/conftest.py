"""Databases, processes and a proxy for the tests."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import postgres_servers
from postgres_servers import PostgresServer
from skillgauge_store_postgres.options import PostgresOptions
from skillgauge_store_postgres.store import PostgresStore

CHILD = Path(__file__).with_name("child.py")


class Place:
    """An empty database of the shared server."""

    def __init__(self, server: PostgresServer, name: str) -> None:
        self.server = server
        self.name = name
        self.address = server.create(name)

    def store(self, address: str = "", **options: Any) -> PostgresStore:
        """A store there."""
        return PostgresStore(PostgresOptions(location=address or self.address, **options))

    def sql(self, statements: str) -> str:
        """Run statements past the store; returns what they print."""
        return self.server.psql(statements, self.name)

    def end_connections(self) -> int:
        """End every connection to it, as an administrator does; returns how many there were."""
        ended = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity"
        return int(self.server.psql(f"{ended} WHERE datname = '{self.name}' AND pid <> pg_backend_pid()"))


@pytest.fixture
def place(postgres_server: PostgresServer) -> Place:
    """An empty database of its own for the test."""
    return Place(postgres_server, f"store_{uuid4().hex[:12]}")


class Child:
    """A process that works on a store and is told what to do line by line; see `child.py`."""

    def __init__(self, address: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD), address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def tell(self, line: str) -> None:
        """Give an order."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        """The next line it says; empty once it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        """Kill it, if it still lives, and forget it."""
        self.process.kill()
        self.process.wait(timeout=30)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


@pytest.fixture
def child() -> Iterator[Callable[[str], Child]]:
    """Starts processes that work on the database of an address, and kills what is left of them."""
    children: list[Child] = []

    def start(address: str) -> Child:
        children.append(Child(address))
        return children[-1]

    yield start
    for process in children:
        process.end()


class Proxy:
    """Stands before a server, and cuts a connection right after the server has done what it was asked to."""

    def __init__(self, server: PostgresServer) -> None:
        self._to = ("127.0.0.1", server.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = [self._listener]
        self._threads = [self._thread(self._accept)]
        self._armed = threading.Event()
        self.cuts = 0

    def cut_next_commit(self) -> None:
        """Lose the answer to the next COMMIT, and the connection with it."""
        self._armed.set()

    def close(self) -> None:
        """End everything."""
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in self._threads:
            thread.join(30)

    def _thread(self, work: Callable[..., None], *arguments: Any) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        return thread

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._to)
                self._sockets += [client, server]
                is_cut = threading.Event()
                self._threads += [
                    self._thread(self._forward, client, server, is_cut, True),
                    self._thread(self._forward, server, client, is_cut, False),
                ]

    def _forward(self, source: socket.socket, target: socket.socket, is_cut: threading.Event, asks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if asks and self._armed.is_set() and b"COMMIT" in data:
                    self._armed.clear()
                    is_cut.set()
                if not asks and is_cut.is_set():
                    self.cuts += 1
                    break  # the server has answered, so it has done it
                target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy in front of the shared server, which the environment lets in."""
    monkeypatch.setenv("PGPASSWORD", postgres_servers.PASSWORD)
    proxy = Proxy(postgres_server)
    yield proxy
    proxy.close()
