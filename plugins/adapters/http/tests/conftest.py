"""A service on the loopback interface that answers as a test tells it, also in ways no framework would."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Answer = Callable[["Handler", Any], None]


class Handler(BaseHTTPRequestHandler):
    """Reads a request, remembers it, and leaves the answer to the test."""

    protocol_version = "HTTP/1.1"
    server: Service

    def do_POST(self) -> None:
        """Any request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), asked))
        self.server.answer(self, asked)

    def say(self, status: int, body: bytes, content_type: str = "application/json", **headers: str) -> None:
        """A well-formed answer."""
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def say_json(self, value: object, **headers: str) -> None:
        """The usual answer."""
        self.say(200, json.dumps(value).encode(), **headers)

    def begin(self, status: int = 200) -> None:
        """Headers of an answer whose length is not told."""
        self.send_response(status)
        self.send_header("Connection", "close")
        self.end_headers()

    def reset(self) -> None:
        """End the connection as a crashing process does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        """End the connection without a word."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()

    def raw(self, data: bytes) -> None:
        """Whatever bytes, and then the end."""
        self.close_connection = True
        self.wfile.write(data)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


class Service(ThreadingHTTPServer):
    """Listens on a free port."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer: Answer = lambda handler, asked: handler.say_json({"echo": asked["input"]})
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.over = threading.Event()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_arguments: object) -> None:
        """A client that leaves is no error."""


@pytest.fixture
def service() -> Iterator[Service]:
    """A service for one test."""
    service = Service()
    thread = threading.Thread(target=service.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield service
    service.over.set()
    service.shutdown()
    thread.join(5)
    service.server_close()
