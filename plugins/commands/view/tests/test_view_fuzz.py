"""Thousands of odd requests with a fixed seed leave the server up, and nothing of them acts on an answer."""

from __future__ import annotations

import random
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from skillgauge.api import RunNotes, TrialNotes
from skillgauge_command_view.noting import seen
from skillgauge_command_view.pages.label_page import Labels
from skillgauge_command_view.sources import StoredRuns
from skillgauge_testkit.contract.views import HOSTILE

SEED = 125
FORM_POSTS = 2_000
PARTS = (
    *("/", "/runs", "/runs/run2", "/runs/run6", "/runs/run3/cases/0-0", "/runs/run6/trials/1", "/compare", "/history"),
    *("..", "/..", "%2e%2e", "%2f", "\\", "//", "/view.css", "/static/", "/cases/", "/trials/", "-", "0-0", "%00"),
    *("/runs/run6/trials/1/notes", "/runs/run6/notes", "/runs/run6/stop", "/runs/run6/labels", "until=", "reason="),
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
    """Each is answered by a page or a refusal; without the cookie no answer holds anything of a run.

    Ten thousand in all where tests may be slow.
    """
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


WORDS = (
    *HOSTILE,
    "",
    "x",
    "flaky, slow",
    "team=search",
    "2999-01-01",
    "0",
    "-1",
    "yes",
    "\udcff",
    "a" * 11_000,
    "\0",
    "\r\n",
)
FORMS = ("/runs/{}/notes", "/runs/{}/trials/{}/notes", "/runs/{}/stop", "/runs/{}/labels", "/runs/{}", "/compare")


def fields(chance: random.Random, right: dict[str, str]) -> dict[str, str]:
    """A form, most of it right, the rest made of hostile texts."""
    names = ("name", "note", "labels", "tags", "seen", "key", "holds", "execution", "check", "answer", "skipped", "zz")
    own = right if chance.random() < 0.8 else {}
    return own | {chance.choice(names): chance.choice(WORDS) for _ in range(chance.randint(0, 4))}


@pytest.mark.slow
def test_odd_forms(serve: Any, stored: StoredRuns) -> None:
    """Each is taken or refused; what is not taken changes nothing, and what is taken is the words of a form."""
    chance = random.Random(SEED)
    statuses: Counter[int] = Counter()
    with serve([], source=stored, labels=Labels(Path("no-such-folder/labels.jsonl"), can_add=True)) as served:
        key = served.server._tickets.form_key
        for _ in range(FORM_POSTS):
            run, trial = chance.choice(("run0", "run1", "run9")), chance.choice(("0", "1", "2", "77", "-1", "x"))
            path = chance.choice(FORMS).format(run, trial)
            before = said_of(stored)
            state = stored.trial_notes(run) or {}
            notes = state.get(int(trial) if trial.isdigit() else -1, TrialNotes()) if "trials" in path else None
            held = next((row.notes for row in stored.rows() if row.run_id == run), None)
            right = {"key": key, "seen": seen(notes or held or RunNotes())}
            body = urlencode(fields(chance, right), errors="surrogatepass")
            headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": served.origin}
            if chance.random() < 0.1:
                headers["Origin"] = chance.choice(("null", "http://example.invalid", f"{served.origin}.example"))
            answer = served.client.post(path, content=body, headers=headers)
            statuses[answer.status_code] += 1
            assert answer.status_code < 500, (path, body[:500])
            assert "<script" not in answer.text
            if answer.status_code != 303:
                assert said_of(stored) == before, (path, body[:500])
            else:
                assert headers["Origin"] == served.origin
                assert key in body
        assert served.get("/runs").status_code == 200
    assert statuses[303] > FORM_POSTS // 20
    assert statuses[403] > FORM_POSTS // 20


def said_of(stored: StoredRuns) -> object:
    """All that people say of the runs of a store."""
    return {row.run_id: (row.notes, stored.trial_notes(row.run_id)) for row in stored.rows()}
