"""The scripted model server: four wire formats, every fault, and nothing left behind."""

from __future__ import annotations

import json
import socket
import threading
import time
from email.message import Message
from http.client import HTTPConnection, IncompleteRead
from typing import Any

import pytest

from skillgauge.testing import ModelFault, ModelReply, ModelRequest, ModelServer

PATHS = {
    "anthropic": "/v1/messages",
    "openai-responses": "/v1/responses",
    "openai-chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/m-1:generateContent",
}
BODY = {"model": "m-1", "messages": [{"role": "user", "content": "hello"}]}


def connected(server: ModelServer) -> HTTPConnection:
    """A connection that gives up before the test does."""
    return HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=10)


def post(server: ModelServer, path: str, body: object = BODY, **headers: str) -> tuple[int, Message, Any]:
    """Status, headers and body of one answer."""
    connection = connected(server)
    try:
        connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body), headers)
        response = connection.getresponse()
        content = response.read()
        kind = response.headers["Content-Type"]
        return response.status, response.headers, json.loads(content) if kind == "application/json" else content
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("dialect", "text", "model", "usage"),
    [
        ("anthropic", ("content", 0, "text"), "model", {"input_tokens": 3, "output_tokens": 4}),
        (
            "openai-responses",
            ("output", 0, "content", 0, "text"),
            "model",
            {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
        ),
        (
            "openai-chat",
            ("choices", 0, "message", "content"),
            "model",
            {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        ),
        (
            "gemini",
            ("candidates", 0, "content", "parts", 0, "text"),
            "modelVersion",
            {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7},
        ),
    ],
)
def test_answers_in_every_format(dialect: str, text: tuple[Any, ...], model: str, usage: dict[str, int]) -> None:
    """Text, model and usage are where the wire format has them, and the request is remembered."""
    with ModelServer([ModelReply("héllo", 3, 4)]) as server:
        status, _, document = post(server, f"{PATHS[dialect]}?beta=true", **{"X-Api-Key": "made-up"})
    said = document
    for step in text:
        said = said[step]
    assert (status, said, document[model]) == (200, "héllo", "m-1")
    assert usage in (document.get("usage"), document.get("usageMetadata"))
    (request,) = server.requests
    assert (request.dialect, request.model, request.body) == (dialect, "m-1", BODY)
    assert request.path.endswith("?beta=true")
    assert request.headers["x-api-key"] == "made-up"
    assert request.text == "hello"


@pytest.mark.parametrize("dialect", PATHS)
def test_unknown_usage_other_model_and_cut_answers(dialect: str) -> None:
    """Silence about usage is silence, half of it is no total, another model can answer, and an answer can be cut."""
    replies = [ModelReply("x", None, None, model="m-1-2026", is_cut=True), ModelReply("x", 5, None)]
    with ModelServer(replies) as server:
        _, _, document = post(server, PATHS[dialect])
        _, _, half = post(server, PATHS[dialect])
    assert "m-1-2026" in (document.get("model"), document.get("modelVersion"))
    assert not {"usage", "usageMetadata"} & set(document)
    said = json.dumps(document)
    assert any(word in said for word in ('"max_tokens"', '"incomplete"', '"length"', '"MAX_TOKENS"'))
    assert list((half.get("usage") or half.get("usageMetadata")).values()) == [5]


@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (ModelFault.BAD_REQUEST, 400),
        (ModelFault.UNAUTHORIZED, 401),
        (ModelFault.NOT_FOUND, 404),
        (ModelFault.RATE_LIMITED, 429),
        (ModelFault.SERVER_ERROR, 500),
        (ModelFault.OVERLOADED, 529),
    ],
)
def test_faults_with_a_status(dialect: str, fault: ModelFault, status: int) -> None:
    """The status, the sentence in the format's own place, and the headers of the script."""
    with ModelServer([ModelReply(fault=fault, message="no luck", headers={"Retry-After": "7"})]) as server:
        found, headers, document = post(server, PATHS[dialect])
    assert (found, headers["Retry-After"], document["error"]["message"]) == (status, "7", "no luck")


@pytest.mark.parametrize("dialect", PATHS)
def test_refusal_of_the_model(dialect: str) -> None:
    """A refusal is a well-formed answer without a text."""
    with ModelServer([ModelReply("secret", fault=ModelFault.REFUSED)]) as server:
        status, _, document = post(server, PATHS[dialect])
    said = json.dumps(document)
    assert status == 200
    assert "secret" not in said
    assert "refus" in said or "SAFETY" in said


def test_faults_of_the_transport() -> None:
    """HTML in place of JSON, a body cut in the middle, no byte at all, and a document of one's own."""
    with ModelServer() as server:
        server.enqueue(*(ModelReply(fault=fault) for fault in (ModelFault.GARBAGE, ModelFault.CUT_BODY)))
        server.enqueue(ModelReply(fault=ModelFault.DROPPED), ModelReply(document={"choices": []}))
        status, headers, page = post(server, PATHS["anthropic"])
        assert (status, headers["Content-Type"], page[:15]) == (200, "text/html", b"<!doctype html>")
        with pytest.raises(IncompleteRead):
            post(server, PATHS["anthropic"])
        with pytest.raises(ConnectionError):
            post(server, PATHS["anthropic"])
        assert post(server, PATHS["openai-chat"])[2] == {"choices": []}


def test_body_without_an_end() -> None:
    """It goes on for as long as somebody reads, and ends with the server."""
    threads = threading.active_count()
    with ModelServer([ModelReply(fault=ModelFault.ENDLESS)] * 2) as server:
        left, reading = connected(server), connected(server)
        for connection in (left, reading):
            connection.request("POST", PATHS["openai-chat"], json.dumps(BODY))
            assert len(connection.getresponse().read(200_000)) == 200_000
        left.close()
    reading.close()
    assert threading.active_count() == threads


def test_slow_first_byte_ends_with_the_server() -> None:
    """An answer can be late; one that is still due when the server ends never comes, and no thread waits for it."""
    threads = threading.active_count()
    with ModelServer([ModelReply("late", delay_s=0.1), ModelReply("never", delay_s=50)]) as server:
        started = time.monotonic()
        post(server, PATHS["anthropic"])
        assert time.monotonic() - started >= 0.1
        waiting = connected(server)
        waiting.request("POST", PATHS["anthropic"], json.dumps(BODY))
        while len(server.requests) < 2:
            time.sleep(0.01)
        idle = connected(server)
        idle.connect()
    with pytest.raises(ConnectionError):
        waiting.getresponse()
    waiting.close()
    idle.close()
    assert threading.active_count() == threads
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=5)


def test_script_as_a_function() -> None:
    """A function sees the request and decides."""

    def answer(request: ModelRequest) -> ModelReply:
        return ModelReply(request.text.upper())

    body = {"system": "be terse", "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}
    with ModelServer(answer) as server:
        _, _, document = post(server, PATHS["anthropic"], body)
    assert document["content"][0]["text"] == "BE TERSE\nHI"


def test_faults_of_a_script_are_seen() -> None:
    """Both an empty queue and a failing function answer with a status that nobody retries; the latter raises later."""

    def fail(_request: ModelRequest) -> ModelReply:
        raise KeyError("absent")

    with ModelServer() as server:
        status, _, document = post(server, PATHS["gemini"])
    assert (status, document["error"]["message"]) == (400, "the script has no reply left")
    with pytest.raises(KeyError, match="absent"), ModelServer(fail) as server:
        assert post(server, PATHS["gemini"])[0] == 400
    with pytest.raises(ZeroDivisionError), ModelServer(fail) as server:
        assert 1 / (post(server, PATHS["gemini"])[0] - 400)  # what the test itself found comes first


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/v1/models", BODY, {}, 404),
        (PATHS["gemini"] + "/..", BODY, {}, 404),
        (PATHS["anthropic"], b"{", {}, 400),
        (PATHS["anthropic"], b"[]", {"Content-Length": "x"}, 413),
        (PATHS["anthropic"], b"[]", {"Content-Length": "99999999"}, 413),
        (PATHS["anthropic"], {**BODY, "stream": True}, {}, 400),
    ],
)
def test_wrong_requests(path: str, body: object, headers: dict[str, str], status: int) -> None:
    """No such path, no JSON, too much of it, and a stream, which it does not speak."""
    with ModelServer([ModelReply("8")]) as server:
        assert post(server, path, body, **headers)[0] == status


def test_it_does_not_remember_for_ever() -> None:
    """After very many requests it refuses, and says so."""
    with ModelServer(lambda _request: ModelReply("8")) as server:
        post(server, PATHS["anthropic"], [])
        server.requests *= 10_000
        status, _, document = post(server, PATHS["anthropic"])
    assert (status, document["error"]["message"]) == (400, "more than 10000 requests")
    assert server.requests[0].model is None
