"""Thousands of odd requests with a fixed seed leave the server up, and nothing of them acts on an answer."""

from __future__ import annotations

import random
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from skillgauge_testkit.contract.views import HOSTILE

SEED = 125
PARTS = (
    *("/", "/runs", "/runs/run2", "/runs/run6", "/runs/run3/cases/0-0", "/runs/run6/trials/1", "/compare", "/history"),
    *("..", "/..", "%2e%2e", "%2f", "\\", "//", "/view.css", "/static/", "/cases/", "/trials/", "-", "0-0", "%00"),
    *("?", "&", "a=", "b=", "run=", "q=", "page=", "from=", "skill=", "token=", ";", "#", "%", "%zz", "etc/passwd"),
)
PAGES = ("/runs", "/runs/run6", "/runs/run6/cases/0-1", "/runs/run6/trials/1", "/history", "/compare")
METHODS = ("GET", "GET", "GET", "HEAD", "POST", "PUT", "OPTIONS", "BREW", "get")


def addresses(chance: random.Random) -> Iterator[str]:
    """Paths with queries, made of what routes, traversals and hostile texts are made of."""
    while True:
        parts = chance.choices((*PARTS, *map(quote, HOSTILE)), k=chance.randint(1, 6))
        if chance.random() < 0.4:  # a page that exists, with an odd query
            yield f"{chance.choice(PAGES)}?{''.join(parts)}".replace("#", "")[:4_000]
            continue
        yield "/" + "".join(parts)[: chance.choice((40, 400, 4_000))].lstrip("/")


def headers(chance: random.Random, host: str) -> Iterator[tuple[str, str]]:
    """Headers of a request, most of them right."""
    odd = ("example.invalid", "", "127.0.0.1:1", f"{host}:{host}", "a" * 500, "[::1", "%00", f"{host} x")
    yield "Host", chance.choice(odd) if chance.random() < 0.2 else host
    if chance.random() < 0.2:
        yield "Origin", chance.choice((f"http://{host}", "null", "http://example.invalid", *odd))
    if chance.random() < 0.1:
        yield "Content-Length", chance.choice(("0", "5", "-1", "99999999999", "x"))
    if chance.random() < 0.1:
        name = chance.choice(("X-Forwarded-Host", "Forwarded", "Range", "If-None-Match", "Referer", "Host", "Cookie"))
        yield name, chance.choice(odd)


def exchanged(port: int, request: bytes, *, is_all: bool = False) -> bytes:
    """The answer to some bytes; empty where the server cuts them off. `is_all`: nothing more will come."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        try:
            connection.sendall(request)
            if is_all:
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65_536):
                answer += piece
        except ConnectionError:
            pass  # it was cut off before all was sent
    return answer


@pytest.mark.parametrize("requests", [800, pytest.param(5_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("has_cookie", [True, False], ids=["cookie", "no cookie"])
def test_odd_requests(served: Any, has_cookie: bool, requests: int) -> None:
    """Each is answered by a page or a refusal; without the cookie no answer holds anything of a run."""
    chance = random.Random(SEED + has_cookie)
    port = served.server.port
    cookie = [("Cookie", f"{name}={value}") for name, value in served.client.cookies.items()] if has_cookie else []
    made = addresses(chance)
    statuses: Counter[int] = Counter()
    for _ in range(requests):
        lines = [f"{name}: {value}" for name, value in (*headers(chance, f"127.0.0.1:{port}"), *cookie)]
        target = next(made)
        head = "\r\n".join((f"{chance.choice(METHODS)} {target} HTTP/1.1", *lines, "Connection: close", "", ""))
        answer = exchanged(port, head.encode("latin-1", "replace") + chance.choice((b"", b"", b"x" * 5)))
        status = int(answer.split(b" ", 2)[1]) if answer else 0
        statuses[status] += 1
        assert status < 500, target
        if answer and not answer.endswith(b"Invalid HTTP request received."):
            assert b"content-security-policy: default-src 'none'" in answer, target
        assert b"<script" not in answer
        assert b"root:" not in answer
        if not has_cookie:
            assert b"run6" not in answer, target
            assert status != 200 or target.startswith("/view.css")
    assert statuses[421] > requests // 20
    assert statuses[200 if has_cookie else 401] > requests // 20
    assert served.get("/runs").status_code == 200


def test_bytes_that_are_no_request(served: Any) -> None:
    """They are cut off, and others are served meanwhile and afterwards."""
    chance = random.Random(SEED)
    heads = (b"", b"GET / HTTP/1.1\r\n", b"GET /" + b"a" * 20_000, b"\x16\x03\x01", b"PRI * HTTP/2.0\r\n\r\n")
    for _ in range(300):
        length = chance.choice((0, 1, 10, 1_000, 40_000))
        answer = exchanged(served.server.port, chance.choice(heads) + chance.randbytes(length), is_all=True)
        assert b"run6" not in answer
    assert served.get("/runs/run6").status_code == 200
