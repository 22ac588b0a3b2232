"""A scripted model server on the loopback interface, so that judges and engines are tested over real HTTP.

It speaks four wire formats, answers what it is told to, in every wrong way too, and remembers what it was asked. It
never answers as a stream: a request for one is refused.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, Self

_REQUEST_BYTES = 16 * 1024 * 1024
_ENDLESS_BYTES = 256 * 1024 * 1024
_REQUESTS = 10_000
_DELAY_S = 60.0
_NONE: Mapping[str, str] = MappingProxyType({})


class ModelFault(StrEnum):
    """Ways in which a server does not answer."""

    UNAUTHORIZED = "unauthorized"
    """HTTP 401."""
    NOT_FOUND = "not_found"
    """HTTP 404: no such model."""
    RATE_LIMITED = "rate_limited"
    """HTTP 429; `ModelReply.headers` may hold a Retry-After."""
    SERVER_ERROR = "server_error"
    """HTTP 500."""
    OVERLOADED = "overloaded"
    """HTTP 529."""
    BAD_REQUEST = "bad_request"
    """HTTP 400."""
    REFUSED = "refused"
    """HTTP 200, but the model refuses to answer."""
    GARBAGE = "garbage"
    """HTTP 200 with a page of HTML."""
    CUT_BODY = "cut_body"
    """The connection ends in the middle of the body."""
    ENDLESS = "endless"
    """A body without an end."""
    DROPPED = "dropped"
    """The connection ends without a byte. For one that is not even accepted, use the URL of a server that ended."""


_STATUS: Mapping[ModelFault | None, tuple[int, str, str]] = {
    ModelFault.BAD_REQUEST: (400, "invalid_request_error", "the request is not valid"),
    ModelFault.UNAUTHORIZED: (401, "authentication_error", "the key is not valid"),
    ModelFault.NOT_FOUND: (404, "not_found_error", "there is no such model"),
    ModelFault.RATE_LIMITED: (429, "rate_limit_error", "too many requests"),
    ModelFault.SERVER_ERROR: (500, "api_error", "the server failed"),
    ModelFault.OVERLOADED: (529, "overloaded_error", "the server has too much to do"),
}


@dataclass(frozen=True)
class ModelReply:
    """What to answer."""

    text: str = ""
    input_tokens: int | None = 11
    """`None` for both: nothing is said about usage."""
    output_tokens: int | None = 7
    model: str | None = None
    """Model that claims to have answered; `None`: the one that was asked for."""
    is_cut: bool = False
    """Whether the answer claims to have reached the limit of tokens."""
    fault: ModelFault | None = None
    """What goes wrong instead."""
    message: str = ""
    """What a fault with a status says; empty: a sentence of its own."""
    headers: Mapping[str, str] = field(default_factory=lambda: _NONE)
    delay_s: float = 0.0
    """Wait before the first byte; at most a minute, and no longer than the server is there."""
    document: object = None
    """A body of your own in place of the usual one, for answers that no model gives."""


@dataclass(frozen=True)
class ModelRequest:
    """What was asked."""

    dialect: str
    """`anthropic`, `openai-responses`, `openai-chat` or `gemini`."""
    path: str
    """With its query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    """The JSON value that was sent."""
    model: str | None

    @property
    def text(self) -> str:
        """All that the model was told, joined by line breaks: instructions first if they come first."""
        return "\n".join(_texts(self.body))


Script = Callable[[ModelRequest], ModelReply]


class ModelServer:
    """Answers each request with the next reply, or with what a function says about the request.

    Example::

        with ModelServer([ModelReply("8"), ModelReply(fault=ModelFault.OVERLOADED)]) as server:
            judge = AcmeJudge(AcmeOptions(base_url=server.url))
            ...
        assert server.requests[0].headers["x-api-key"] == "made-up-key"

    Leaving the context ends every connection and thread; an exception of the function is raised then.

    Args:
        script: replies in their order, or a function, which is called from several threads.
    """

    def __init__(self, script: Iterable[ModelReply] | Script = ()) -> None:
        self._answer = script if callable(script) else None
        self._queue = deque(() if callable(script) else script)
        self._lock = threading.Lock()
        self._errors: list[Exception] = []
        self.requests: list[ModelRequest] = []
        """In the order in which they came."""
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens; nothing does after its end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def enqueue(self, *replies: ModelReply) -> None:
        """Add replies to the queue."""
        with self._lock:
            self._queue.extend(replies)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self._server.finish()
        self._thread.join(10.0)
        if kind is None and self._errors:
            raise self._errors[0]

    def next_reply(self, request: ModelRequest) -> ModelReply:
        """Remember a request and say what to answer."""
        with self._lock:
            if len(self.requests) >= _REQUESTS:
                return _refusal(f"more than {_REQUESTS} requests")
            self.requests.append(request)
            if self._answer is None:
                return self._queue.popleft() if self._queue else _refusal("the script has no reply left")
        try:
            return self._answer(request)
        except Exception as error:  # noqa: BLE001 - raised where the server is left
            self._errors.append(error)
            return _refusal(f"the script failed: {type(error).__name__}: {error}")


def _refusal(why: str) -> ModelReply:
    """For faults of the test; with a status that no client tries again."""
    return ModelReply(fault=ModelFault.BAD_REQUEST, message=why)


@dataclass(frozen=True)
class _Dialect:
    """A wire format. Streaming would be a further field: the events of a reply."""

    name: str
    path: re.Pattern[str]
    document: Callable[[ModelReply, str | None], dict[str, Any]]
    error: Callable[[int, str, str], dict[str, Any]]


def _anthropic(reply: ModelReply, model: str | None) -> dict[str, Any]:
    refused = reply.fault is ModelFault.REFUSED
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [] if refused else [{"type": "text", "text": reply.text}],
        "stop_reason": "refusal" if refused else "max_tokens" if reply.is_cut else "end_turn",
        "stop_sequence": None,
        **_usage(reply, "input_tokens", "output_tokens"),
    }


def _responses(reply: ModelReply, model: str | None) -> dict[str, Any]:
    refused = reply.fault is ModelFault.REFUSED
    said = {"type": "refusal", "refusal": "I cannot help with that."}
    part = said if refused else {"type": "output_text", "text": reply.text, "annotations": []}
    return {
        "id": "resp_scripted",
        "object": "response",
        "model": model,
        "status": "incomplete" if reply.is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if reply.is_cut else None,
        "output": [{"type": "message", "id": "msg_scripted", "role": "assistant", "content": [part]}],
        **_usage(reply, "input_tokens", "output_tokens", "total_tokens"),
    }


def _chat(reply: ModelReply, model: str | None) -> dict[str, Any]:
    refused = reply.fault is ModelFault.REFUSED
    message = {"role": "assistant", "content": None if refused else reply.text}
    if refused:
        message["refusal"] = "I cannot help with that."
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "length" if reply.is_cut else "stop"}],
        **_usage(reply, "prompt_tokens", "completion_tokens", "total_tokens"),
    }


def _gemini(reply: ModelReply, model: str | None) -> dict[str, Any]:
    usage = _usage(reply, "promptTokenCount", "candidatesTokenCount", "totalTokenCount", key="usageMetadata")
    if reply.fault is ModelFault.REFUSED:
        return {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": model, **usage}
    candidate = {
        "index": 0,
        "content": {"role": "model", "parts": [{"text": reply.text}]},
        "finishReason": "MAX_TOKENS" if reply.is_cut else "STOP",
    }
    return {"candidates": [candidate], "modelVersion": model, **usage}


def _usage(reply: ModelReply, given: str, made: str, total: str = "", key: str = "usage") -> dict[str, Any]:
    pairs = {given: reply.input_tokens, made: reply.output_tokens}
    counts = {name: count for name, count in pairs.items() if count is not None}
    if not counts:
        return {}
    return {key: {**counts, total: sum(counts.values())} if total and len(counts) == len(pairs) else counts}


def _error(_status: int, kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"message": message, "type": kind, "param": None, "code": kind}}


def _gemini_error(status: int, kind: str, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": message, "status": kind.upper()}}


_DIALECTS = (
    _Dialect("anthropic", re.compile("/v1/messages"), _anthropic, _error),
    _Dialect("openai-responses", re.compile("/v1/responses"), _responses, _error),
    _Dialect("openai-chat", re.compile("/v1/chat/completions"), _chat, _error),
    _Dialect("gemini", re.compile("/v1beta/models/(?P<model>[^/:]+):generateContent"), _gemini, _gemini_error),
)


def _texts(value: object, key: str = "") -> Iterator[str]:
    """Texts of a request in their order, but not its words for roles and types."""
    if isinstance(value, str):
        if key in ("text", "content", "system", "instructions", "input"):
            yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)


class _Server(ThreadingHTTPServer):
    """Knows its connections, so that it can end them."""

    daemon_threads = False  # `server_close` waits for the others only
    request_queue_size = 64

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
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
    timeout = 30.0
    server: _Server

    def do_POST(self) -> None:
        """Any request."""
        path = self.path.partition("?")[0]
        found = ((one, match) for one in _DIALECTS if (match := one.path.fullmatch(path)))
        dialect, match = next(found, (None, None))
        length = self.headers.get("Content-Length", "")
        if dialect is None or match is None:
            self._say(404, {"error": {"message": f"no model API is at {path}"}})
        elif not length.isdecimal() or int(length) > _REQUEST_BYTES:
            self.close_connection = True
            self._say(413, dialect.error(413, "request_too_large", "the body has no length, or too much of it"))
        else:
            self._converse(dialect, match.groupdict().get("model"), self.rfile.read(int(length)))

    def _converse(self, dialect: _Dialect, model: str | None, content: bytes) -> None:
        try:
            body = json.loads(content)
        except ValueError:
            self._say(400, dialect.error(400, "invalid_request_error", "the body is not JSON"))
            return
        if model is None and isinstance(body, dict) and isinstance(body.get("model"), str):
            model = body["model"]
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = ModelRequest(dialect.name, self.path, MappingProxyType(headers), body, model)
        reply = self.server.model.next_reply(request)
        if isinstance(body, dict) and body.get("stream"):
            reply = _refusal("this server does not stream")
        if not (reply.delay_s and self.server.over.wait(min(reply.delay_s, _DELAY_S))):
            self._reply(dialect, reply, model)

    def _reply(self, dialect: _Dialect, reply: ModelReply, model: str | None) -> None:
        fault, status, document = reply.fault, 200, reply.document
        if fault is ModelFault.DROPPED:
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif fault is ModelFault.ENDLESS:
            self._endless()
        elif fault is ModelFault.GARBAGE:
            page = f"<!doctype html><html><body>{reply.message or 'Welcome to the hotel network'}</body></html>"
            self._send(status, page.encode(), {"Content-Type": "text/html", **reply.headers})
        else:
            if fault in _STATUS:
                status, kind, message = _STATUS[fault]
                document = document or dialect.error(status, kind, reply.message or message)
            elif document is None:
                document = dialect.document(reply, reply.model or model)
            self._say(status, document, reply.headers, is_cut=fault is ModelFault.CUT_BODY)

    def _say(self, status: int, document: object, headers: Mapping[str, str] = _NONE, *, is_cut: bool = False) -> None:
        body = json.dumps(document).encode()
        if is_cut:
            self.close_connection = True
            headers = {**headers, "Content-Length": str(2 * len(body))}
        self._send(status, body, {"Content-Type": "application/json", **headers})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")  # also makes this handler do so
        self.end_headers()
        chunk = b'{"text": "' + b"x" * 65_526
        for _ in range(_ENDLESS_BYTES // len(chunk)):
            if self.server.over.is_set():
                return
            self.wfile.write(chunk)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""
