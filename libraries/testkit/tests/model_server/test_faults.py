"""Every way in which a server does not answer, and that nothing is left behind."""

from __future__ import annotations

import json
import socket
import threading
import time
from http.client import IncompleteRead
from itertools import product

import pytest

from skillgauge_testkit import ModelFault, ModelReply, ModelServer
from skillgauge_testkit.leftovers import leaves_nothing

from .conftest import BODY, PATHS, ask, connected, streaming

STATUSES = [
    (ModelFault.BAD_REQUEST, 400),
    (ModelFault.TOO_LONG, 400),
    (ModelFault.UNAUTHORIZED, 401),
    (ModelFault.FORBIDDEN, 403),
    (ModelFault.NOT_FOUND, 404),
    (ModelFault.RATE_LIMITED, 429),
    (ModelFault.SERVER_ERROR, 500),
    (ModelFault.OVERLOADED, 529),
]


@pytest.mark.slow
def test_faults_with_a_status(subtests: pytest.Subtests) -> None:
    """The status, the sentence in the format's own place, and the headers of the script."""
    for dialect, (fault, status) in product(PATHS, [*STATUSES, (ModelFault.STREAM_ERROR, 500)]):
        with subtests.test(dialect=dialect, fault=fault):
            with ModelServer([ModelReply(fault=fault, message="no luck", headers={"Retry-After": "7"})]) as server:
                answer = ask(server, dialect)
            assert (answer.status, answer.headers["Retry-After"]) == (status, "7")
            assert answer.document["error"]["message"] == "no luck"
            (session,) = server.sessions.values()
            assert session.tokens.input == 0


@pytest.mark.slow
def test_faults_with_a_status_are_no_streams(subtests: pytest.Subtests) -> None:
    """Who asks for a stream gets the status and a document all the same."""
    for dialect, (fault, status) in product(PATHS, STATUSES):
        with subtests.test(dialect=dialect, fault=fault):
            path, body = streaming(dialect)
            with ModelServer([ModelReply(fault=fault)]) as server:
                answer = ask(server, path, body)
            assert (answer.status, answer.headers["Content-Type"]) == (status, "application/json")
            assert answer.document["error"]["message"]


def test_too_long_says_so() -> None:
    """Programs recognise it by the sentence or by the code."""
    with ModelServer([ModelReply(fault=ModelFault.TOO_LONG)] * 2) as server:
        assert "prompt is too long" in ask(server, "anthropic").document["error"]["message"]
        assert ask(server, "openai-responses").document["error"]["code"] == "context_length_exceeded"


def test_faults_of_the_transport() -> None:
    """HTML in place of JSON, no text at all, a body cut in the middle, no byte, and a document of one's own."""
    faults = (ModelFault.GARBAGE, ModelFault.NOISE, ModelFault.CUT_BODY, ModelFault.DROPPED)
    with ModelServer([ModelReply(fault=fault) for fault in faults]) as server:
        server.enqueue(ModelReply(document={"choices": []}))
        answer = ask(server, "anthropic")
        assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html")
        assert answer.content[:15] == b"<!doctype html>"
        answer = ask(server, "anthropic")
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
        with pytest.raises(UnicodeDecodeError):
            answer.content.decode()
        with pytest.raises(IncompleteRead):
            ask(server, "anthropic")
        with pytest.raises(ConnectionError):
            ask(server, "anthropic")
        assert ask(server, "openai-chat").document == {"choices": []}


@pytest.mark.parametrize("dialect", PATHS)
def test_faults_in_the_middle_of_a_stream(dialect: str) -> None:
    """A stream that is cut has some events and no end; an error comes after some events and ends it well."""
    path, body = streaming(dialect)
    said = "a sentence of some length, told in several pieces"
    faults = (ModelFault.CUT_BODY, ModelFault.STREAM_ERROR)
    with ModelServer([*(ModelReply(said, fault=fault, message="oh") for fault in faults), ModelReply(said)]) as server:
        with pytest.raises(IncompleteRead) as cut:
            ask(server, path, body)
        failed = ask(server, path, body)
        whole = ask(server, path, body)
    assert b"a sent" in cut.value.partial
    assert b"pieces" not in cut.value.partial
    assert failed.content.count(b"data: ") < whole.content.count(b"data: ")
    told = failed.events[-1]
    assert told.get("response", told)["error"]["message"] == "oh"


@pytest.mark.parametrize("fault", [ModelFault.GARBAGE, ModelFault.NOISE])
def test_unreadable_streams(fault: ModelFault) -> None:
    """A page of HTML stays one; noise claims to be the stream that was asked for."""
    path, body = streaming("openai-chat")
    with ModelServer([ModelReply(fault=fault)]) as server:
        answer = ask(server, path, body)
    kind = "text/html" if fault is ModelFault.GARBAGE else "text/event-stream"
    assert (answer.status, answer.headers["Content-Type"]) == (200, kind)
    assert b"data: " not in answer.content


def test_body_without_an_end() -> None:
    """It goes on for as long as somebody reads, and ends with the server."""
    threads = set(threading.enumerate())
    with ModelServer([ModelReply(fault=ModelFault.ENDLESS)] * 2) as server:
        left, reading = connected(server), connected(server)
        for connection in (left, reading):
            connection.request("POST", PATHS["openai-chat"], json.dumps(BODY))
            assert len(connection.getresponse().read(200_000)) == 200_000
        left.close()
    reading.close()
    assert not set(threading.enumerate()) - threads


@pytest.mark.parametrize("dialect", PATHS)
def test_stream_without_an_end(dialect: str) -> None:
    """Texts come for as long as somebody reads; the server can end nevertheless, and then the stream is cut."""
    path, body = streaming(dialect)
    with ModelServer([ModelReply("x", fault=ModelFault.ENDLESS)]) as server:
        connection = connected(server)
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        content = b"".join(response.readline() for _ in range(60))
        assert content.count(b"and so on ") > 10
    with pytest.raises((IncompleteRead, ConnectionError)):
        response.read()
    connection.close()


def test_slow_first_byte_ends_with_the_server() -> None:
    """An answer can be late; one that is still due when the server ends never comes, and no thread waits for it."""
    threads = set(threading.enumerate())
    with ModelServer([ModelReply("late", delay_s=0.1), ModelReply("never", delay_s=50)]) as server:
        started = time.monotonic()
        ask(server, "anthropic")
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
    assert not set(threading.enumerate()) - threads
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=5)


@pytest.mark.parametrize("reply", [ModelReply("never", delay_s=50), ModelReply("x" * 80, chunk_delay_s=50)])
def test_delay_ends_when_the_client_leaves(reply: ModelReply) -> None:
    """Nobody waits for a client that has given up, before the first byte or between two events."""
    path, body = streaming("openai-chat")
    with leaves_nothing(), ModelServer([reply]) as server:
        running = set(threading.enumerate())
        connection = connected(server)
        connection.request("POST", path, json.dumps(body))
        while not server.requests:
            time.sleep(0.01)
        (waiting,) = set(threading.enumerate()) - running
        connection.close()
        waiting.join(20)
        assert not waiting.is_alive()


def test_delay_outlasts_a_request_that_comes_early() -> None:
    """Bytes of a next request do not shorten the wait, and both get their answers in order."""
    with ModelServer([ModelReply("first", delay_s=0.3), ModelReply("second")]) as server:
        started = time.monotonic()
        content = json.dumps(BODY).encode()
        head = f"POST {PATHS['anthropic']} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n"
        with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=30) as connection:
            connection.sendall(head.encode() + b"\r\n" + content)
            while not server.requests:
                time.sleep(0.01)
            connection.sendall(head.encode() + b"Connection: close\r\n\r\n" + content)
            received = b"".join(iter(lambda: connection.recv(65_536), b""))
        assert time.monotonic() - started >= 0.3
    assert received.index(b"first") < received.index(b"second")


def test_slow_stream() -> None:
    """Each event after the first comes later than the one before it."""
    path, body = streaming("anthropic")
    with ModelServer([ModelReply("x" * 32, chunk_delay_s=0.02)]) as server:
        started = time.monotonic()
        answer = ask(server, path, body)
    assert time.monotonic() - started >= 0.02 * (len(answer.events) - 1)
    assert len(answer.events) > 4
