"""A plain HTTP client, so that nothing of the server is taken for granted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPMessage
from typing import Any

from skillgauge_testkit import ModelServer

PATHS = {
    "anthropic": "/v1/messages",
    "openai-responses": "/v1/responses",
    "openai-chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/m-1:generateContent",
}
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m-1", "messages": [{"role": "user", "content": "hello"}]},
    "openai-responses": {"model": "m-1", "input": "hello"},
    "openai-chat": {"model": "m-1", "messages": [{"role": "user", "content": "hello"}]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
}
BODY = BODIES["anthropic"]


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    headers: HTTPMessage
    content: bytes

    @property
    def document(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)

    @property
    def events(self) -> list[Any]:
        """The documents of a stream, without the mark at the end of some."""
        assert self.headers["Content-Type"] == "text/event-stream"
        found = []
        for block in self.content.decode().split("\n\n")[:-1]:
            *names, data = block.split("\n")
            value = json.loads(data.removeprefix("data: ")) if data != "data: [DONE]" else None
            assert names == ([f"event: {value['type']}"] if value and "type" in value else [])
            found += [value] if value else []
        return found


def connected(server: ModelServer) -> HTTPConnection:
    """A connection that gives up before the test does."""
    return HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=30)


def ask(server: ModelServer, path: str, body: object = BODY, method: str = "POST", **headers: str) -> Answered:
    """Send a request and read all of the answer; dialects serve as paths too."""
    connection = connected(server)
    try:
        content = body if isinstance(body, bytes) else json.dumps(body)
        connection.request(method, PATHS.get(path, path), content, headers)
        response = connection.getresponse()
        return Answered(response.status, response.headers, response.read())
    finally:
        connection.close()


def streaming(dialect: str) -> tuple[str, dict[str, Any]]:
    """Path and body of a request for a stream."""
    if dialect == "gemini":
        return PATHS[dialect].replace("generateContent", "streamGenerateContent") + "?alt=sse", BODIES[dialect]
    return PATHS[dialect], {**BODIES[dialect], "stream": True, "stream_options": {"include_usage": True}}
