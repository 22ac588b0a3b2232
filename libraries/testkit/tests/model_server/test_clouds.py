"""The Messages API as clouds serve it: other paths, other streams, other errors, the same answers."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

import pytest

from skillgauge_testkit import ModelFault, ModelReply, ModelServer, ToolCall

from .conftest import BODY, ask

VERTEX = "/v1/projects/p-1/locations/us-east5/publishers/anthropic/models/m@1"
QUESTION = {"messages": BODY["messages"], "max_tokens": 9}
REPLIES = [ModelReply("hello, said in several pieces", thinking="hm"), ModelReply("", tools=[ToolCall("t", {"a": 1})])]


def messages(stream: bytes) -> list[tuple[dict[str, str], Any]]:
    """Headers and payload of each message of an event stream of Amazon's, whose checksums are right."""
    messages = []
    while stream:
        length, headers_length, checksum = struct.unpack_from("!III", stream)
        assert checksum == zlib.crc32(stream[:8])
        assert struct.unpack_from("!I", stream, length - 4)[0] == zlib.crc32(stream[: length - 4])
        headers, at = {}, 12
        while at < 12 + headers_length:
            size = stream[at]
            name = stream[at + 1 : at + 1 + size].decode()
            kind, count = struct.unpack_from("!BH", stream, at + 1 + size)
            assert kind == 7
            start = at + 4 + size
            headers[name] = stream[start : start + count].decode()
            at = start + count
        messages.append((headers, json.loads(stream[12 + headers_length : length - 4])))
        stream = stream[length:]
    return messages


def test_amazons_stream_has_the_events_of_the_vendors() -> None:
    """Each is a message of its own, in base64; the model is the one in the path, decoded."""
    path = "/model/us.m-1%3A0/invoke"
    with ModelServer([*REPLIES, *REPLIES, *REPLIES]) as server:
        streams = [ask(server, f"{path}-with-response-stream", QUESTION) for _ in REPLIES]
        usual = [ask(server, "/v1/messages", {**QUESTION, "model": "us.m-1:0", "stream": True}) for _ in REPLIES]
        whole = [ask(server, path, QUESTION).document for _ in REPLIES]
    assert [request.model for request in server.requests] == ["us.m-1:0"] * 6
    for stream, expected in zip(streams, usual, strict=True):
        assert stream.headers["Content-Type"] == "application/vnd.amazon.eventstream"
        parts = messages(stream.content)
        assert {headers[":message-type"] for headers, _ in parts} == {"event"}
        events = [json.loads(base64.b64decode(payload["bytes"])) for _, payload in parts]
        assert [event["type"] for event in events] == [event["type"] for event in expected.events]
        assert [event.get("delta") for event in events] == [event.get("delta") for event in expected.events]
    assert [document["content"][-1]["type"] for document in whole] == ["text", "tool_use"]


def test_googles_path_says_whether_it_streams() -> None:
    """The answers are those of the vendor."""
    with ModelServer([*REPLIES, *REPLIES]) as server:
        streams = [ask(server, f"{VERTEX}:streamRawPredict", QUESTION).events for _ in REPLIES]
        whole = [ask(server, f"{VERTEX}:rawPredict", QUESTION).document for _ in REPLIES]
    assert {request.model for request in server.requests} == {"m@1"}
    assert [events[0]["type"] for events in streams] == ["message_start"] * 2
    assert [document["stop_reason"] for document in whole] == ["end_turn", "tool_use"]


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/model/m-1/invoke", {"message": "slow down"}),
        (f"{VERTEX}:rawPredict", {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}),
        ("/anthropic/v1/messages", {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}),
    ],
)
def test_errors_in_the_words_of_each(path: str, error: object) -> None:
    """The status is that of the vendor, and what is said is the cloud's."""
    reply = ModelReply(fault=ModelFault.RATE_LIMITED, message="slow down", headers={"Retry-After": "7"})
    with ModelServer([reply]) as server:
        answered = ask(server, path, {**QUESTION, "model": "m-1"})
    assert (answered.status, answered.document, answered.headers["Retry-After"]) == (429, error, "7")


def test_an_error_in_amazons_stream() -> None:
    """It is a message of another type after the first half of the events."""
    with ModelServer([ModelReply("hello", fault=ModelFault.STREAM_ERROR)]) as server:
        answered = ask(server, "/model/m-1/invoke-with-response-stream", QUESTION)
    *events, (headers, payload) = messages(answered.content)
    assert events
    assert (headers[":message-type"], headers[":exception-type"]) == ("exception", "internalServerException")
    assert "message" in payload


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21", "my-gpt"),
        ("/openai/v1/chat/completions", "m-1"),
        ("/api/v1/chat/completions", "m-1"),
    ],
)
def test_other_places_of_chat_completions(path: str, model: str) -> None:
    """Azure's deployments name the model in the path; its key has a header of its own."""
    with ModelServer([ModelReply("hello")]) as server:
        document = ask(server, path, BODY, **{"api-key": "made-up-key"}).document
    assert document["choices"][0]["message"]["content"] == "hello"
    (request,) = server.requests
    assert (request.model, request.key) == (model, "made-up-key")
