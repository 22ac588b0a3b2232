"""A model that says what is written here, on this machine and without a key, in the language of OpenAI's servers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

ANSWER = "The probe says 4711."
"""The answer of each session: words that no program says by itself."""
_ASIDE = "A title"
_SKILL_TOOLS = ("skill", "skills", "load_skill", "activate_skill")
"""Names of tools for skills, in lower case."""
_SKILL_ARGUMENTS = ("skill", "name", "skill_name", "command")
_COUNTS = ((1013, 0, 29), (2017, 1201, 31), (2503, 1409, 37))
"""Input with what a cache held, what the cache held, and output of each call: numbers that mean nothing else."""


@dataclass(frozen=True)
class Counts:
    """Tokens that the model has told."""

    sent: int
    """All input, with that of a cache."""
    cached: int
    output: int

    @classmethod
    def total(cls, calls: Sequence[Counts]) -> Counts:
        """The sum of several calls."""
        return cls(*(sum(getattr(call, name) for call in calls) for name in ("sent", "cached", "output")))


@dataclass
class ScriptedModel:
    """Serves at `address` while it is entered. It loads one of the skills that it is offered, then answers.

    Args:
        skills: names of the skills that are installed, any of which a program may offer.
    """

    skills: Sequence[str]
    address: str = ""
    calls: list[Counts] = field(default_factory=list)
    """Of sessions; what a program asks beside them has no tools."""
    asides: list[Counts] = field(default_factory=list)
    offered: dict[str, None] = field(default_factory=dict)
    """Installed skills that a program has told the model of."""
    strange: dict[str, None] = field(default_factory=dict)
    """Requests that are none of this language."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"scripted": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def spent(self) -> tuple[Counts, ...]:
        """Sums that a program may tell: with what it asked beside its session or without, or after it."""
        calls, fewest = self.calls, min(2, len(self.calls))
        sessions = [calls[:count] for count in range(fewest, len(calls) + 1)] if calls else []
        return tuple(Counts.total([*part, *more]) for part in reversed(sessions) for more in ([], self.asides))

    def reply(self, request: Mapping[str, Any]) -> tuple[Mapping[str, Any], Counts]:
        """Return the message for a request, and what it has used."""
        tools = [tool.get("function", {}) for tool in request.get("tools") or ()]
        if not tools:
            counts = Counts(11, 0, 3)
            with self._lock:
                self.asides.append(counts)
            return {"role": "assistant", "content": _ASIDE}, counts
        document = json.dumps(request)
        with self._lock:
            self.offered.update(dict.fromkeys(name for name in self.skills if name in document))
            counts = Counts(*_COUNTS[min(len(self.calls), len(_COUNTS) - 1)])
            self.calls.append(counts)
        is_first = not any(message.get("role") == "tool" for message in request.get("messages") or ())
        tool = next((tool for tool in tools if tool.get("name", "").lower() in _SKILL_TOOLS), None)
        if is_first and tool is not None and self.offered:
            properties = tool.get("parameters", {}).get("properties", {})
            argument = next((name for name in _SKILL_ARGUMENTS if name in properties), _SKILL_ARGUMENTS[0])
            sent = {"name": tool["name"], "arguments": json.dumps({argument: next(iter(self.offered))})}
            call = {"id": "call_probe", "type": "function", "function": sent}
            return {"role": "assistant", "content": None, "tool_calls": [call]}, counts
        return {"role": "assistant", "content": ANSWER}, counts


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedModel

    def do_GET(self) -> None:
        self.scripted.strange.update({} if "/models" in self.path else {f"GET {self.path}": None})
        self._say(200, "application/json", json.dumps({"object": "list", "data": []}).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            request = json.loads(body)
        except ValueError:
            request = None
        if not self.path.split("?")[0].endswith("/chat/completions") or not isinstance(request, dict):
            self.scripted.strange[f"POST {self.path}"] = None
            self._say(404, "application/json", b'{"error": {"message": "this model speaks chat/completions alone"}}')
            return
        message, counts = self.scripted.reply(request)
        usage = {
            "prompt_tokens": counts.sent,
            "completion_tokens": counts.output,
            "total_tokens": counts.sent + counts.output,
            "prompt_tokens_details": {"cached_tokens": counts.cached},
        }
        head = {"id": "chatcmpl-probe", "created": 1, "model": request.get("model", "probe")}
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        if request.get("stream"):
            lines = _events({**head, "object": "chat.completion.chunk"}, message, reason, usage)
            self._say(200, "text/event-stream", b"".join(lines))
            return
        choice = {"index": 0, "message": message, "finish_reason": reason}
        document = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        self._say(200, "application/json", json.dumps(document).encode())

    def _say(self, status: int, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # whoever asked is gone
            self.close_connection = True

    def log_message(self, *_arguments: object) -> None:
        """Nothing: what is asked is in the findings."""


def _events(
    head: Mapping[str, Any], message: Mapping[str, Any], reason: str, usage: Mapping[str, Any]
) -> Iterator[bytes]:
    calls = [{"index": 0, **call} for call in message.get("tool_calls") or ()]
    delta = {key: value for key, value in {**message, "tool_calls": calls}.items() if value}
    choices: tuple[Sequence[Mapping[str, Any]], ...] = (
        [{"index": 0, "delta": delta, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": reason}],
    )
    for choice in choices:
        yield b"data: " + json.dumps({**head, "choices": choice}).encode() + b"\n\n"
    yield b"data: " + json.dumps({**head, "choices": [], "usage": usage}).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"
