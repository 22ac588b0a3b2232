"""HTTP: what comes in, and how answers and faults go out."""

from __future__ import annotations

import json
import selectors
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, Protocol
from urllib.parse import unquote

from .dialects import DIALECTS, Answer, Dialect, Failure
from .faults import NOISE, failure, frames, page
from .listings import listed_models, token_count
from .replies import NONE, ModelFault

_REQUEST_BYTES = 64 * 1024 * 1024
_ENDLESS_BYTES = 256 * 1024 * 1024
_LONGEST_S = 60.0
_ENDLESS_PAUSE_S = 0.01
_PAGES = {ModelFault.GARBAGE: 200, ModelFault.BAD_GATEWAY: 502}


@dataclass(frozen=True)
class Incoming:
    """A request for an answer, as it came."""

    dialect: Dialect
    path: str
    """With its query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    action: str
    """What the path says to do, if it does."""
    named_model: str | None
    """Model in the path."""

    @property
    def fields(self) -> dict[str, Any]:
        """The body, empty if it is no JSON object."""
        return self.body if isinstance(self.body, dict) else {}

    @property
    def model(self) -> str | None:
        """The model that is asked for."""
        model = self.named_model or self.fields.get("model")
        return model if isinstance(model, str) else None

    @property
    def is_stream(self) -> bool:
        """True if the answer is to come as a stream."""
        return self.dialect.is_stream(self.fields, self.action)


class Host(Protocol):
    """The part that decides on the answer."""

    models: tuple[str, ...]

    def answer(self, incoming: Incoming) -> Answer:
        """The answer to a request."""

    def noted(self, what: str) -> None:
        """Take note of a request that no script answers."""


class ConnectionServer(ThreadingHTTPServer):
    """Knows its connections, so that it can end them."""

    daemon_threads = False  # `server_close` waits for the others only
    request_queue_size = 128

    def __init__(self, host: Host) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.host = host
        self.over = threading.Event()
        self._open: set[socket.socket] = set()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Serve one connection."""
        self._open.add(request)
        if not self.over.is_set():
            super().finish_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget one connection."""
        self._open.discard(request)
        super().shutdown_request(request)

    def finish(self) -> None:
        """End every connection and every thread."""
        self.over.set()
        self.shutdown()
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def handle_error(self, *_arguments: object) -> None:
        """A client that leaves is no error."""


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60.0
    server: ConnectionServer

    def do_GET(self) -> None:
        """A list of models."""
        self.server.host.noted(f"GET {self.path}")
        path = self.path.partition("?")[0]
        document = listed_models(path, self.server.host.models, is_anthropic="anthropic-version" in self.headers)
        self._say(200 if document else 404, document or _nothing_at(path))

    def do_POST(self) -> None:
        """A request for an answer or for a count."""
        path = self.path.partition("?")[0]
        matches = ((one, match) for one in DIALECTS if (match := one.path.fullmatch(path)))
        dialect, match = next(matches, (None, None))
        length = self.headers.get("Content-Length", "")
        if dialect is None or match is None:
            self.close_connection = True  # the body is still to come
            self.server.host.noted(f"POST {self.path}")
            self._say(404, _nothing_at(path))
        elif not length.isdecimal() or int(length) > _REQUEST_BYTES:
            self.close_connection = True
            reason = "the body has no length, or too much of it"
            self._say(413, dialect.error(Failure(413, "request_too_large", reason)))
        else:
            self._converse(dialect, match.groupdict(), self.rfile.read(int(length)))

    def _converse(self, dialect: Dialect, told: Mapping[str, str | None], content: bytes) -> None:
        try:
            body = json.loads(content)
        except ValueError:
            self._say(400, dialect.error(Failure(400, "invalid_request_error", "the body is not JSON")))
            return
        headers = MappingProxyType({name.lower(): value for name, value in self.headers.items()})
        model = unquote(told.get("model") or "") or None
        incoming = Incoming(dialect, self.path, headers, body, told.get("action") or "", model)
        if incoming.action in dialect.counts:
            self.server.host.noted(f"POST {self.path}")
            self._say(200, {dialect.counts[incoming.action]: token_count(dialect.read(incoming.fields))})
            return
        answer = self.server.host.answer(incoming)
        if self._has_waited(answer.reply.delay_s):
            self._reply(incoming, answer)

    def _reply(self, incoming: Incoming, answer: Answer) -> None:
        reply, dialect, is_stream = answer.reply, incoming.dialect, incoming.is_stream
        is_cut = reply.fault is ModelFault.CUT_BODY
        if reply.fault is ModelFault.DROPPED:
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif reply.fault in _PAGES:
            self._send(_PAGES[reply.fault], page(reply.message), {"Content-Type": "text/html", **reply.headers})
        elif reply.fault is ModelFault.NOISE:
            kind = dialect.stream_type if is_stream else "application/json"
            self._send(200, NOISE, {"Content-Type": kind, **reply.headers})
        elif error_body := failure(reply.fault, reply.message, is_stream=is_stream):
            self._say(error_body.status, reply.document or dialect.error(error_body), reply.headers)
        elif reply.document is not None:
            self._say(200, reply.document, reply.headers, is_cut=is_cut)
        elif is_stream:
            self._stream(dialect, answer, frames(dialect, answer, incoming.fields), is_cut=is_cut)
        elif reply.fault is ModelFault.ENDLESS:
            self._endless()
        else:
            self._say(200, dialect.document(answer), reply.headers, is_cut=is_cut)

    def _say(self, status: int, document: object, headers: Mapping[str, str] = NONE, *, is_cut: bool = False) -> None:
        body = json.dumps(document).encode()
        if is_cut:
            self.close_connection = True
            headers = {**headers, "Content-Length": str(2 * len(body))}
        self._send(status, body, {"Content-Type": "application/json", **headers})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._head(status, {"Content-Length": str(len(body)), **headers})
        self.wfile.write(body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, dialect: Dialect, answer: Answer, events: Iterator[bytes], *, is_cut: bool) -> None:
        """Send events as chunks; a stream that is cut lacks the chunk that ends it."""
        reply = answer.reply
        is_endless = reply.fault is ModelFault.ENDLESS
        pause_s = max(reply.chunk_delay_s, _ENDLESS_PAUSE_S if is_endless else 0.0)
        end_s = time.monotonic() + _LONGEST_S
        kind = {"Content-Type": dialect.stream_type, "Cache-Control": "no-cache"}
        self._head(200, {**kind, "Transfer-Encoding": "chunked", **reply.headers})
        self.close_connection = is_cut or is_endless
        for number, event in enumerate(events):
            if number and pause_s and not self._has_waited(pause_s):
                self.close_connection = True
                return
            if is_endless and time.monotonic() > end_s:
                return
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        if not is_cut:
            self.wfile.write(b"0\r\n\r\n")

    def _endless(self) -> None:
        self._head(200, {"Content-Type": "application/json", "Connection": "close"})  # this handler closes it too
        chunk = b'{"text": "' + b"x" * 65_526
        for _ in range(_ENDLESS_BYTES // len(chunk)):
            if self.server.over.is_set():
                return
            self.wfile.write(chunk)

    def _has_waited(self, seconds: float) -> bool:
        """Wait; `False` as soon as the client leaves or the server ends."""
        seconds = min(seconds, _LONGEST_S)
        if seconds <= 0:
            return True
        end_s = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.connection, selectors.EVENT_READ)
            if not selector.select(seconds):
                return True
        # The end of the connection, or the beginning of a next request, which a client may send early.
        if self.server.over.is_set() or not self.connection.recv(1, socket.MSG_PEEK):
            self.close_connection = True
            return False
        return not self.server.over.wait(max(0.0, end_s - time.monotonic()))

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


def _nothing_at(path: str) -> dict[str, Any]:
    return {"error": {"message": f"no model API is at {path}"}}
