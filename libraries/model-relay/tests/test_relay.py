"""The relay lets model calls through and nothing else, and keeps the key on its side."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import ssl
import struct
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import ModelRoute
from skillgauge_model_relay import Relay, RelayLimits, forwarding
from skillgauge_model_relay.answers import Tally
from skillgauge_model_relay.event_streams import EventReader
from skillgauge_model_relay.forwarding import within
from skillgauge_model_relay.meter import Meter
from skillgauge_model_relay.tunnels import address

Open = Callable[..., AbstractAsyncContextManager[Any]]
KEY = b"sk-real-0123456789abcdef"
END = b"Host: x\r\nConnection: close\r\n\r\n"


def test_key_comes_from_outside(setting: Open) -> None:
    """The route's headers replace the client's credentials, of every kind, and its query keys; the rest is kept."""

    async def main() -> None:
        async with setting() as it:
            said = await it.ask(
                b"POST /messages?beta=true&key=mine&api_key=mine HTTP/1.1\r\nX-Api-Key: mine\r\n"
                b"Authorization: Bearer mine\r\n"
                b"X-Goog-Api-Key: mine\r\nCookie: mine\r\nProxy-Authorization: mine\r\nAnthropic-Version: 1\r\n"
                b"Content-Length: 4\r\n" + END + b"body"
            )
            (head,) = it.upstream.requests
            assert said.startswith(b"HTTP/1.1 200")
            assert said.endswith(b"\r\n\r\nok")
            assert head.startswith(b"POST /v1/messages?beta=true HTTP/1.1\r\n")
            assert b"mine" not in head
            assert head.count(KEY) == 1
            assert b"anthropic-version: 1" in head
            assert b"accept-encoding: identity" in head
            assert it.upstream.bodies == [b"body"]
            assert KEY not in said
            assert b"x-hop" not in said.lower()

    asyncio.run(main())


def test_answers_stream(setting: Open) -> None:
    """A piece of an answer arrives while the API still waits for the next one."""
    go_on = asyncio.Event()

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"
        )
        await writer.drain()
        await go_on.wait()
        writer.write(b"4\r\nlast\r\n0\r\n\r\n")

    async def main() -> None:
        async with setting(answer=answer) as it:
            port = int(it.relay.addresses["api"].rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /stream HTTP/1.1\r\n" + END)
            assert b"first" in await asyncio.wait_for(reader.readuntil(b"first"), 20)
            go_on.set()
            assert b"last" in await asyncio.wait_for(reader.read(), 20)
            writer.close()

    asyncio.run(main())


def test_one_connection_carries_several_requests(setting: Open) -> None:
    """Bodies with a length and in pieces, one after the other, are told apart."""

    async def main() -> None:
        async with setting() as it:
            await it.ask(
                b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n"
                b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\ntwo"
                b"GET /c HTTP/1.1\r\n" + END
            )
            assert it.upstream.bodies == [b"one", b"two", b""]
            assert [head.split()[1] for head in it.upstream.requests] == [b"/v1/a", b"/v1/b", b"/v1/c"]

    asyncio.run(main())


@pytest.mark.parametrize(
    "request_",
    [
        b"GET http://127.0.0.1:1/ HTTP/1.1\r\n" + END,
        b"GET /../admin HTTP/1.1\r\n" + END,
        b"GET /a/%2e%2E/admin HTTP/1.1\r\n" + END,
        b"GET /a%2f..%2fadmin HTTP/1.1\r\n" + END,
        b"GET /%252e%252e/admin HTTP/1.1\r\n" + END,
        b"GET /..\\admin HTTP/1.1\r\n" + END,
        b"GET /a%0d%0aX-Smuggled:1 HTTP/1.1\r\n" + END,
        b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n" + END,
        b"POST /a HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 30\r\n" + END + b"abc",
        b"GET /a HTTP/1.1\r\nX-Api-Key : mine\r\n" + END,
        b"GET /a HTTP/1.1\r\nX\x00: y\r\n" + END,
        b"GET /a HTTP/1.1\r\nX: y\rGET /admin HTTP/1.1\r\n" + END,
        b"GET /a HTTP/1.1\r\nX: " + b"y" * 200_000 + b"\r\n" + END,
        b"\x16\x03\x01\x02\x00",
        b"nonsense\r\n\r\n",
    ],
)
def test_what_is_odd_goes_nowhere(setting: Open, request_: bytes) -> None:
    """Climbing paths, other addresses and what two servers could read differently are refused, not forwarded."""

    async def main() -> None:
        async with setting() as it:
            said = await it.ask(request_ + b"\r\n\r\n")
            assert it.upstream.requests == []
            assert said.startswith(b"HTTP/1.1 4") or not said

    asyncio.run(main())


def test_smuggled_request_stays_a_body(setting: Open) -> None:
    """Where a length and pieces are both given, what follows is never taken for a second request by the API."""

    async def main() -> None:
        async with setting() as it:
            await it.ask(
                b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n"
                b"0\r\n\r\nGET /../admin HTTP/1.1\r\nHost: x\r\n\r\n"
            )
            (head,) = it.upstream.requests
            assert head.split()[1] == b"/v1/a"
            assert b"content-length" not in head.lower()

    asyncio.run(main())


@given(st.text(alphabet="ab./%2eE5cCfF\\?&=key", max_size=30))
def test_targets_stay_within(tail: str) -> None:
    """Whatever is asked for, what goes out has no part that climbs, in any number of decodings."""
    from urllib.parse import unquote  # noqa: PLC0415 - the oracle's, not the subject's

    try:
        path = within(f"/{tail}").partition("?")[0]
    except ValueError:
        return
    for _ in range(3):
        assert ".." not in path.replace("\\", "/").split("/")
        path = unquote(path)


def test_limits_hold(setting: Open) -> None:
    """Beyond the allowed number of requests, or bytes, every request is refused in words."""

    async def main() -> None:
        async with setting(RelayLimits(requests=2)) as it:
            said = [await it.ask(b"GET /a HTTP/1.1\r\n" + END) for _ in range(3)]
            assert [b" 200 " in one.splitlines()[0] for one in said] == [True, True, False]
            assert b"403" in said[2]
            assert b"2 requests" in said[2]
        async with setting(RelayLimits(total_bytes=1000)) as it:
            big = b"POST /a HTTP/1.1\r\nContent-Length: 2000\r\n" + END + b"x" * 2000
            assert b"1000 bytes" in await it.ask(big)
            assert b"1000 bytes" in await it.ask(b"GET /a HTTP/1.1\r\n" + END)

    asyncio.run(main())


def test_an_api_that_is_gone(setting: Open) -> None:
    """Nothing listens at the route's address: the answer is 502, and does not tell the address."""

    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        async with setting() as it:
            it.relay._forwarders["api"]._base = f"http://127.0.0.1:{port}/v1"
            said = await it.ask(b"GET /a HTTP/1.1\r\n" + END)
            assert b"502" in said.splitlines()[0]
            assert str(port).encode() not in said

    asyncio.run(main())


def test_broken_answers_are_not_completed(setting: Open) -> None:
    """An API that breaks off in the middle makes the relay break off, so that the client sees an error."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        await writer.drain()
        raise ConnectionError

    async def main() -> None:
        async with setting(answer=answer) as it:
            said = await it.ask(b"GET /a HTTP/1.1\r\n" + END)
            assert b"first" in said
            assert not said.endswith(b"0\r\n\r\n")

    asyncio.run(main())


def test_hosts_by_name_and_by_tls_only(setting: Open) -> None:
    """An allowed host is reached by what looks like TLS; another host, port, method or protocol is not."""
    seen: list[bytes] = []

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.read(100))
        writer.write(b"\x16\x03answer")
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with setting(hosts=(f"LocalHost:{port}", "allowed.example")) as it:
            proxy = it.relay.environment["HTTPS_PROXY"]
            assert it.relay.environment["no_proxy"] == "127.0.0.1,localhost"
            at = int(proxy.rpartition(":")[2])

            async def connect(target: str, first: bytes) -> bytes:
                got: bytes = await it.ask(f"CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode() + first, port=at)
                return got

            assert (await connect(f"localhost:{port}", b"\x16\x03\x01hello")).endswith(b"\x16\x03answer")
            assert seen == [b"\x16\x03\x01hello"]
            assert b"answer" not in await connect(f"localhost:{port}", b"GET / HTTP/1.1\r\n\r\n")
            for other in (
                f"127.0.0.1:{port}",
                "localhost:1",
                "other.example:443",
                f"localhost:{port}.",
                "x",
                "[::1]:443",
            ):
                assert (await connect(other, b"\x16\x03\x01")).startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))
            plain = await it.ask(f"GET http://localhost:{port}/ HTTP/1.1\r\n".encode() + END, port=at)
            assert plain.startswith(b"HTTP/1.1 403")
            assert [one for one in seen if one] == [b"\x16\x03\x01hello"]
        server.close()

    asyncio.run(main())


def test_addresses_have_one_spelling() -> None:
    """Case and a final dot make no other host; what is no host is refused."""
    assert address("API.Example.", default_port=443) == ("api.example", 443)
    assert address("a:1") == ("a", 1)
    for wrong in ("a", ":1", "a:x", "a:0", "a:70000", "a:"):
        with pytest.raises(ValueError, match="no `name:port`"):
            address(wrong)


def test_sockets_are_served_until_their_sandbox_ends(setting: Open) -> None:
    """When the channel closes, nothing listens any more, and the relay keeps nothing of it."""

    async def main() -> None:
        async with setting() as it:
            assert it.relay._admissions
            port = int(it.relay.addresses["api"].rpartition(":")[2])
            await it.ask(b"GET /a HTTP/1.1\r\n" + END)
            with socket.socket(fileno=os.dup(it.channel)) as copy:
                copy.shutdown(socket.SHUT_RDWR)
            for _ in range(1000):
                if not it.relay._admissions:
                    break
                await asyncio.sleep(0.01)
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(main())


def test_only_the_expected_sockets_are_served() -> None:
    """Handles of something else, too few, or none end the admission and are closed."""

    async def main() -> None:
        route = ModelRoute(name="api", base_url="http://127.0.0.1:1")
        async with Relay((route,), (), RelayLimits()) as relay:
            for make in (
                lambda: [os.open(os.devnull, os.O_RDONLY)],
                lambda: [socket.create_server(("127.0.0.1", 0)).detach()],
                lambda: [socket.socket().detach()],
                list[int],
            ):
                channel = socket.socket(fileno=relay.admit())
                channel.setblocking(False)
                handles = make()
                socket.send_fds(channel, [b"?"], handles)
                for handle in handles:
                    os.close(handle)
                assert await asyncio.get_running_loop().sock_recv(channel, 1) == b""
                assert not relay._admissions
                channel.close()

    asyncio.run(main())


def test_program_inside_becomes_the_command() -> None:
    """It hands its sockets out, hands nothing on to the command, and tells when the relay is gone."""

    async def main() -> None:
        route = ModelRoute(name="api", base_url="http://127.0.0.1:1")
        with socket.create_server(("127.0.0.1", 0)) as one:
            port = one.getsockname()[1]
        async with Relay((route,), (), RelayLimits(), first_port=port) as relay:
            fd = relay.admit()
            argv = relay.command(
                fd, (sys.executable, "-I", "-S", "-c", "import os; print(os.listdir('/proc/self/fd'))")
            )
            process = subprocess.Popen(argv, pass_fds=[fd], stdout=subprocess.PIPE)
            os.close(fd)
            out, _ = await asyncio.to_thread(process.communicate)
            assert eval(out) == ["0", "1", "2", "3"]  # the last is the folder itself
            assert process.returncode == 0
        ours, theirs = socket.socketpair()
        ours.close()
        argv = relay.command(theirs.fileno(), ("true",))
        done = subprocess.run(argv, pass_fds=[theirs.fileno()], capture_output=True, check=False)
        theirs.close()
        assert done.returncode != 0

    asyncio.run(main())


NAMED = ("POST /messages", "GET /models/*")


@pytest.mark.parametrize(
    ("ask", "passes"),
    [
        (b"POST /messages", True),
        (b"POST /messages?beta=true", True),
        (b"GET /models/a/b", True),
        (b"GET /messages", False),
        (b"POST /files", False),
        (b"POST /messages/batches", False),
        (b"DELETE /messages", False),
        (b"TRACE /messages", False),
        (b"PUT /models/a", False),
        (b"post /messages", False),
    ],
)
def test_only_named_requests_pass(setting: Open, ask: bytes, *, passes: bool) -> None:
    """T-S14: methods and paths that the route names, and no others, with or without a query."""

    async def main() -> None:
        async with setting(requests=NAMED) as it:
            said = await it.ask(ask + b" HTTP/1.1\r\nContent-Length: 0\r\n" + END)
            assert said.startswith(b"HTTP/1.1 200" if passes else b"HTTP/1.1 403")
            assert len(it.upstream.requests) == passes

    asyncio.run(main())


@pytest.mark.parametrize("method", [b"TRACE", b"DELETE", b"PUT", b"PATCH", b"OPTIONS"])
def test_a_route_that_names_nothing_lets_get_and_post_through(setting: Open, method: bytes) -> None:
    """T-S14: all else is refused; TRACE whatever a route allows."""

    async def main() -> None:
        async with setting() as it:
            assert (await it.ask(b"GET /any HTTP/1.1\r\n" + END)).startswith(b"HTTP/1.1 200")
            assert (await it.ask(method + b" /any HTTP/1.1\r\n" + END)).startswith(b"HTTP/1.1 403")
            assert len(it.upstream.requests) == 1
        async with setting(requests=("TRACE *",)) as it:
            assert (await it.ask(b"TRACE /any HTTP/1.1\r\n" + END)).startswith(b"HTTP/1.1 403")
            assert it.upstream.requests == []

    asyncio.run(main())


@pytest.mark.parametrize("name", [b"X-HTTP-Method-Override", b"X-HTTP-Method", b"X-Method-Override"])
def test_no_request_is_one_of_another_method(setting: Open, name: bytes) -> None:
    """T-S14: headers that say so are dropped."""

    async def main() -> None:
        async with setting() as it:
            await it.ask(b"POST /files/abc HTTP/1.1\r\nContent-Length: 0\r\n" + name + b": DELETE\r\n" + END)
            (head,) = it.upstream.requests
            assert b"delete" not in head.lower()

    asyncio.run(main())


@pytest.mark.parametrize("cut", range(1, len(KEY), 4))
def test_answers_do_not_hold_the_key(setting: Open, cut: int) -> None:
    """T-S14: neither a header nor a body, wherever a piece of it ends; no length changes."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        body = b"before " + KEY + b" after " + base64.b64encode(KEY)
        head = b"HTTP/1.1 200 OK\r\nX-Echo: a " + KEY + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
        at = body.index(KEY) + cut
        for piece in (head + body[:at], body[at:]):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    async def main() -> None:
        async with setting(answer=answer) as it:
            said = await it.ask(b"GET /models HTTP/1.1\r\n" + END)
            assert KEY not in said
            assert base64.b64encode(KEY) not in said
            assert b"x-echo: a ****" in said.lower()
            assert said.endswith(b"before " + b"*" * len(KEY) + b" after " + b"*" * len(base64.b64encode(KEY)))

    asyncio.run(main())


def test_an_encoding_that_nobody_asked_for_is_refused(setting: Open) -> None:
    """T-S14: nobody could take the key out of it."""
    packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok"

    async def main() -> None:
        async with setting(answer=lambda writer: writer.write(packed)) as it:
            assert (await it.ask(b"GET /models HTTP/1.1\r\n" + END)).startswith(b"HTTP/1.1 502")

    asyncio.run(main())


def amazon(*events: bytes) -> bytes:
    """Events as Amazon streams them: binary messages with base64 inside."""
    stream = b""
    for event in events:
        body, headers = b'{"bytes": "%b", "p": "abcd"}' % base64.b64encode(event), b"\x0b:event-type\x07\x00\x05chunk"
        lengths = struct.pack("!II", 16 + len(headers) + len(body), len(headers))
        whole = lengths + struct.pack("!I", zlib.crc32(lengths)) + headers + body
        stream += whole + struct.pack("!I", zlib.crc32(whole))
    return stream


ANSWERS = {
    "anthropic": b'{"content": "\\"output_tokens\\": 9", "usage": {"input_tokens": 10, "output_tokens": 5}}',
    "stream": b'{"message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}\n{"usage": {"output_tokens": 5}}',
    "openai": b'{"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}',
    "responses": b'{"max_output_tokens": 99, "usage": {"input_tokens": 10, "output_tokens":5}}',
    "gemini": b'{"usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}',
    "amazon": amazon(
        b'{"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}',
        b'{"type": "content_block_delta", "delta": {"text": "a long text, so that no two figures share a piece"}}',
        b'{"type": "message_delta", "usage": {"input_tokens": 10, "output_tokens": 5}}',
    ),
}
MEDIA_TYPES = {"amazon": b"application/vnd.amazon.eventstream"}


@pytest.mark.parametrize("name", ANSWERS)
def test_tokens_of_all_answers_are_counted(setting: Open, name: str) -> None:
    """T-S14: of every service, whoever inside asked, wherever a piece of the answer ends."""
    body = ANSWERS[name]

    async def answer(writer: asyncio.StreamWriter) -> None:
        kind = MEDIA_TYPES.get(name, b"application/json")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (kind, len(body)))
        for at in range(0, len(body), 7):
            writer.write(body[at : at + 7])
            await writer.drain()
            await asyncio.sleep(0)

    async def main() -> None:
        async with setting(answer=answer) as it:
            assert it.relay.used is None
            for number in (1, 2):
                answered = await it.ask(b"POST /messages HTTP/1.1\r\nContent-Length: 0\r\n" + END)
                assert answered.endswith(b"\r\n\r\n" + body)
                used = it.relay.used
                assert (used.input_tokens, used.output_tokens, used.total_tokens) == (
                    10 * number,
                    5 * number,
                    15 * number,
                )

    asyncio.run(main())


KINDS = {
    "anthropic": (
        b'{"usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3, '
        b'"output_tokens": 5}}',
        (10, 90, 3, 5, None, 108),
    ),
    "openai": (
        b'{"usage": {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 90}, '
        b'"completion_tokens_details": {"reasoning_tokens": 2}}}',
        (10, 90, None, 5, 2, 105),
    ),
    "responses": (
        b'{"usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 90}, "output_tokens": 5, '
        b'"output_tokens_details": {"reasoning_tokens": 2}}}',
        (10, 90, None, 5, 2, 105),
    ),
    "gemini": (
        b'{"usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 90, "candidatesTokenCount": 3, '
        b'"thoughtsTokenCount": 2}}',
        (10, 90, None, 5, 2, 105),
    ),
    "an answer of thoughts alone": (b'{"usageMetadata": {"thoughtsTokenCount": 2}}', (None, None, None, 2, 2, 2)),
}
"""An answer's body, and the tokens in it: input, read from a cache, written to it, output, reasoning, all."""


@pytest.mark.parametrize("name", KINDS)
def test_no_kind_of_tokens_is_counted_twice(name: str) -> None:
    """Each service counts input that a cache held, and reasoning, in its own way; the kinds of a result do not."""
    body, expected = KINDS[name]
    tally = Tally()

    async def read(number: int) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            yield body

        async for _ in tally.stream(pieces()):
            assert tally.usage is not None
            assert tally.usage.total_tokens == number * (expected[-1] or 0)

    for number in (1, 2):
        asyncio.run(read(number))
    usage = tally.usage
    assert usage
    kinds = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)
    sums = (*kinds, usage.reasoning_tokens, usage.total_tokens)
    assert sums == tuple(None if count is None else 2 * count for count in expected)


@given(stream=st.binary(max_size=200), cut=st.integers(0, 200))
def test_what_is_no_event_stream_goes_through(stream: bytes, cut: int) -> None:
    """Bytes under the name of Amazon's streams that are none are read to their end, and name nothing."""
    reader = EventReader()
    assert b"".join([*reader.events(stream[:cut]), *reader.events(stream[cut:])]) == b""


def test_tokens_of_an_answer_that_breaks_off_are_counted(setting: Open) -> None:
    """What it has named is counted while it comes in and after it broke off, which is counted as well."""
    seen: list[int | None] = []

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b'{"usage": {"input_tokens": 12, "x": 1')
        await writer.drain()
        for _ in range(1000):
            if found := relays[0].used:
                seen.append(found.total_tokens)
                break
            await asyncio.sleep(0.01)
        writer.close()

    relays: list[Relay] = []

    async def main() -> None:
        async with setting(answer=answer) as it:
            relays.append(it.relay)
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await it.ask(b"POST /messages HTTP/1.1\r\nContent-Length: 0\r\n" + END)
            for _ in range(1000):
                if it.relay.broken_off:
                    break
                await asyncio.sleep(0.01)
            assert (seen, it.relay.used.total_tokens, it.relay.broken_off) == ([12], 12, 1)

    asyncio.run(main())


def test_a_pause_that_the_api_asks_for_is_known(setting: Open) -> None:
    """It is that of the newest answer, once it has ended."""
    replies = [
        (b"429 Too Many Requests\r\nRetry-After: 3600", (429, 3600)),
        (b"500 Internal Server Error\r\nRetry-After: 7", None),
        (b"529 Overloaded\r\nRetry-After: 60", (529, 60)),
        (b"429 Too Many Requests", None),
        (b"429 Too Many Requests\r\nRetry-After: soon", None),
        (b"200 OK", None),
        (b"503 Service Unavailable\r\nRetry-After: 0", (503, 0)),
    ]
    heads = iter([head for head, _ in replies])
    during: list[tuple[int, float] | None] = []

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 " + next(heads) + b"\r\nContent-Length: 4\r\n\r\nno")
        await writer.drain()
        await asyncio.sleep(0.05)
        during.append(relays[0].pause)
        writer.write(b"no")

    relays: list[Relay] = []

    async def main() -> None:
        async with setting(answer=answer) as it:
            relays.append(it.relay)
            assert it.relay.pause is None
            for _, expected in replies:
                await it.ask(b"POST /messages HTTP/1.1\r\nContent-Length: 0\r\n" + END)
                pause = it.relay.pause
                if expected is None or pause is None:
                    assert pause is expected
                else:
                    assert pause[0] == expected[0]
                    assert expected[1] - 60 < pause[1] <= expected[1]
            assert during == [None] * len(replies)

    asyncio.run(main())


@pytest.mark.parametrize(("address", "times"), [("http://127.0.0.1:1", 0), ("HTTPS://models.example", 1)])
def test_certificates_are_read_for_tls_alone(monkeypatch: pytest.MonkeyPatch, address: str, times: int) -> None:
    """A model on this machine waits for none, and one behind TLS is never asked without them."""
    read: list[ssl.SSLContext] = []

    def certificates() -> ssl.SSLContext:
        read.append(ssl.create_default_context())
        return read[-1]

    monkeypatch.setattr(forwarding, "_certificates", certificates)
    asyncio.run(forwarding.Forwarder(ModelRoute(name="m", base_url=address), Meter(RelayLimits())).close())
    assert len(read) == times
