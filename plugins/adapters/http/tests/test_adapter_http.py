"""Calls over real connections: what goes out, what comes back, and every way in which it does not."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Blame, CallRequest, Execution, FailureClass, Limits, Severity, Target, thaw
from skillgauge_adapter_http.adapter import HttpAdapter, url_of
from skillgauge_adapter_http.answer import status_failure, usage_of
from skillgauge_testkit import (
    ADAPTERS,
    AdapterInputs,
    FakeWorkspace,
    Maker,
    check_adapter,
    check_light_import,
    check_plugin,
)

MODULE = "skillgauge_adapter_http.plugin"
VARIABLE = "ECHO_SKILL_TOKEN"
SECRET = "s3cret-t0ken/with+signs"
Service = Any


def skill(url: str, **changes: Any) -> Target:
    """A target behind a URL."""
    return Target(**{"id": "echo", "version": "1.2.3", "adapter": "http", "entrypoint": url, **changes})


def request(value: Any = None, **limits: Any) -> CallRequest:
    """A call with some input."""
    return CallRequest(trial_id="t", case_id="c", input=value, limits=Limits(**{"timeout_s": 5, **limits}))


def call(target: Target, value: Any = None, **limits: Any) -> Execution:
    """One call in a session of its own."""

    async def main() -> Execution:
        session = await HttpAdapter().open(target, FakeWorkspace())
        try:
            return await session.call(request(value, **limits))
        finally:
            await session.close()

    return asyncio.run(main())


def failed(execution: Execution, kind: FailureClass, *words: str, retryable: bool) -> None:
    """Require a failure of the target of some kind that says something."""
    assert execution.failure is not None, execution
    assert execution.failure.failure_class is kind, execution.failure
    assert execution.failure.blame is Blame.TARGET
    assert execution.failure.retryable is retryable
    assert execution.output is None
    assert execution.duration_s is not None
    for word in words:
        assert word in execution.failure.message


def test_variables_of_a_case_are_refused(service: Service) -> None:
    """Nothing is posted: an environment that the server does not have would grade another question (D-12)."""

    async def main() -> Execution:
        session = await HttpAdapter().open(skill(service.url), FakeWorkspace())
        try:
            return await session.call(request({"a": 1}).model_copy(update={"env": {"PLACE": "here"}}))
        finally:
            await session.close()

    failure = asyncio.run(main()).failure
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (FailureClass.SETUP, Blame.INFRASTRUCTURE)
    assert "PLACE of the case cannot be set there" in failure.message
    assert not service.requests


@pytest.mark.requirement("ES-ADAPT-001")
def test_what_is_posted_and_what_comes_back(service: Service) -> None:
    """The entrypoint gets skillId, version and input as JSON, and its whole JSON body is the output."""
    execution = call(skill(f"{service.url}/invoke?x=1"), {"query": "naïve 🚀", "n": [1, 2.5, None]})
    assert execution.failure is None
    assert thaw(execution.output) == {"echo": {"query": "naïve 🚀", "n": [1, 2.5, None]}}
    assert execution.usage is None
    assert execution.duration_s is not None
    ((path, headers, asked),) = service.requests
    assert path == "/invoke?x=1"
    assert asked == {"skillId": "echo", "version": "1.2.3", "input": {"query": "naïve 🚀", "n": [1, 2.5, None]}}
    assert headers["Content-Type"] == "application/json"
    assert headers["User-Agent"] == f"skillgauge/{version('skillgauge-core')}"
    assert "Authorization" not in headers
    assert "X-API-Key" not in headers


def test_a_trial_leaves_no_cookie_to_the_next(service: Service) -> None:
    """What a service wants to be remembered is forgotten, also on a connection that is used again."""
    service.answer = lambda handler, _: handler.say_json({}, Set_Cookie="trial=1; Path=/")

    async def main() -> None:
        session = await HttpAdapter().open(skill(service.url), FakeWorkspace())
        for _ in range(2):
            assert (await session.call(request())).failure is None
        await session.close()

    asyncio.run(main())
    assert ["Cookie" in headers for _, headers, _ in service.requests] == [False, False]


@pytest.mark.requirement("ES-ADAPT-002", "ES-ADAPT-003")
@pytest.mark.parametrize(
    ("kind", "header", "value"), [("bearer", "Authorization", f"Bearer {SECRET}"), ("api-key", "X-API-Key", SECRET)]
)
def test_the_token_goes_out_and_never_comes_back(
    service: Service, monkeypatch: pytest.MonkeyPatch, kind: str, header: str, value: str
) -> None:
    """The variable's value is sent in the right header, and is in no result even if the service repeats it."""
    monkeypatch.setenv(VARIABLE, SECRET)
    config = {"authType": kind, "authTokenEnvKey": VARIABLE, "headers": {header.lower(): "own", "X-Team": "a"}}
    target = skill(service.url, config=config)
    assert HttpAdapter().check_target(target) == ()
    service.answer = lambda handler, _: handler.say_json(
        {"got": [handler.headers[header]], SECRET: 1}, x_usage_input_tokens=SECRET
    )
    execution = call(target)
    assert service.requests[0][1][header] == value
    assert service.requests[0][1]["X-Team"] == "a"
    assert SECRET not in execution.model_dump_json()
    assert thaw(execution.output) == {
        "got": [value.replace(SECRET, f"[redacted:{VARIABLE}]")],
        f"[redacted:{VARIABLE}]": 1,
    }
    service.answer = lambda handler, _: handler.say(401, SECRET.encode())
    execution = call(target)
    failed(execution, FailureClass.REJECTED, "401", VARIABLE, retryable=False)
    assert SECRET not in execution.model_dump_json()
    assert SECRET not in repr(HttpAdapter().identity(target))


def test_a_very_short_token_garbles_no_answer(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """What occurs by chance is not replaced."""
    monkeypatch.setenv(VARIABLE, "a")
    target = skill(service.url, config={"authType": "bearer", "authTokenEnvKey": VARIABLE})
    assert call(target, "banana").output == {"echo": "banana"}
    service.answer = lambda handler, _: handler.say(400, b"banana")
    failed(call(target), FailureClass.REJECTED, "banana", retryable=False)


@pytest.mark.requirement("ES-ADAPT-003")
@pytest.mark.parametrize(
    ("entrypoint", "base", "url"),
    [
        ("http://127.0.0.1:9/invoke", None, "http://127.0.0.1:9/invoke"),
        ("/invoke", "http://127.0.0.1:9/v1/", "http://127.0.0.1:9/v1/invoke"),
        ("invoke", "http://127.0.0.1:9", "http://127.0.0.1:9/invoke"),
        ("http://127.0.0.1:9/invoke", "http://127.0.0.1:8", "http://127.0.0.1:9/invoke"),
    ],
)
def test_where_calls_go(entrypoint: str, base: str | None, url: str) -> None:
    """The base stands before a path with one slash between them, and does not spoil a whole URL."""
    assert url_of(skill(entrypoint, config={"baseUrl": base} if base else {})) == url


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"entrypoint": "ftp://127.0.0.1/x"}, "no http or https URL"),
        ({"entrypoint": "python3 skill.py"}, "no http or https URL"),
        ({"entrypoint": ""}, "no http or https URL"),
        ({"entrypoint": "http://"}, "no http or https URL"),
        ({"entrypoint": "http://127.0.0.1:port/"}, "is no URL"),
        ({"entrypoint": f"http://{'a' * 64}.test/"}, "is no URL"),
        ({"entrypoint": "http://user:hunter22@127.0.0.1/"}, "authTokenEnvKey"),
        ({"config": {"headers": {"X-Team": 1}}}, "'X-Team'"),
        ({"config": {"headers": {"X-Team": "a\nb"}}}, "'X-Team'"),
        ({"config": {"authType": "digest"}}, "'digest'"),
        ({"config": {"authType": "bearer"}}, "needs authTokenEnvKey"),
        ({"config": {"authType": "bearer", "authTokenEnvKey": "ECHO_SKILL_UNSET"}}, "ECHO_SKILL_UNSET"),
        ({"config": {"authType": "bearer", "authTokenEnvKey": VARIABLE}}, f"value of environment variable {VARIABLE}"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], words: str
) -> None:
    """Addresses, headers and credentials are checked first; no secret is in the message."""
    monkeypatch.setenv(VARIABLE, "two\nlines")
    (problem,) = HttpAdapter().check_target(skill("http://127.0.0.1:9/", **changes))
    assert problem.severity is Severity.ERROR
    assert words in problem.message
    assert "two" not in str(problem)
    assert "hunter22" not in str(problem)


def test_a_token_that_would_not_be_sent_is_a_warning() -> None:
    """A variable without a way to send it is pointed out, and the run goes on."""
    (problem,) = HttpAdapter().check_target(skill("http://127.0.0.1:9/", config={"authTokenEnvKey": "X"}))
    assert problem.severity is Severity.WARNING
    assert "no token is sent" in problem.message


def test_a_base_url_without_effect_is_a_warning() -> None:
    """R3-M9: an entrypoint that is a whole URL needs no base, and beside a path it is no mistake."""
    target = skill("http://127.0.0.1:9/", config={"baseUrl": "http://127.0.0.1:10"})
    (problem,) = HttpAdapter().check_target(target)
    assert problem.severity is Severity.WARNING
    assert "`baseUrl` is ignored" in problem.message
    assert HttpAdapter().check_target(skill("run", config={"baseUrl": "http://127.0.0.1:10"})) == ()


def test_nothing_listens() -> None:
    """A refused connection is the target's failure and may pass."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        execution = call(skill(f"http://127.0.0.1:{taken.getsockname()[1]}/"))
    failed(execution, FailureClass.NETWORK, "refused", retryable=True)


def test_no_such_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that nobody knows is the target's failure and may pass; no real name server is asked."""

    def unknown(*_arguments: object, **_named: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    execution = call(skill("http://no-such-host.invalid/"))
    failed(execution, FailureClass.NETWORK, "Name or service not known", "ConnectError", retryable=True)


@pytest.mark.parametrize(
    "answer",
    [
        lambda handler, _: handler.reset(),
        lambda handler, _: handler.close(),
        lambda handler, _: handler.raw(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half":'),
    ],
    ids=["reset", "closed", "half an answer"],
)
def test_a_connection_that_breaks(service: Service, answer: Callable[..., None]) -> None:
    """Whenever the connection ends too early, it is a network failure that may pass, and the session goes on."""

    async def main() -> None:
        session = await HttpAdapter().open(skill(service.url), FakeWorkspace())
        usual, service.answer = service.answer, answer
        failed(await session.call(request()), FailureClass.NETWORK, retryable=True)
        service.answer = usual
        assert (await session.call(request("x"))).output == {"echo": "x"}
        await session.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda handler, _: handler.say(200, b"<html>hi</html>", "text/html"), "not JSON (Content-Type: text/html)"),
        (lambda handler, _: handler.say(200, b"hi", ""), "not JSON: hi"),
        (lambda handler, _: handler.say(200, b"\xff\xfe\x00"), "not JSON"),
        (lambda handler, _: handler.say(200, b"[" * 100_000), "not JSON"),
        (lambda handler, _: handler.say(200, b"NaN"), "no JSON value"),
        (lambda handler, _: handler.say(200, b'"\\ud800"'), "no JSON value"),
        (lambda handler, _: handler.say(200, b""), "no body"),
        (lambda handler, _: handler.say(204, b""), "HTTP 204"),
        (lambda handler, _: handler.say(200, b"no gzip", Content_Encoding="gzip"), "cannot be decoded"),
        (lambda handler, _: handler.raw(b"hello\r\n\r\n"), "not HTTP"),
    ],
    ids=["html", "text", "bytes", "deep", "nan", "surrogate", "empty", "204", "gzip", "no http"],
)
def test_an_answer_that_is_none(service: Service, answer: Callable[..., None], words: str) -> None:
    """A success without a JSON body is a breach of the protocol, and another attempt will not help."""
    service.answer = answer
    failed(call(skill(service.url)), FailureClass.PROTOCOL, words, retryable=False)


def test_an_answer_beyond_the_limit_is_not_read(service: Service) -> None:
    """Reading stops at the limit, also of an answer that never ends; at the limit itself all is well."""

    def endless(handler: Any, _asked: Any) -> None:
        handler.begin()
        while not service.over.is_set():
            handler.wfile.write(b"[" * 4096)

    service.answer = endless
    execution = call(skill(service.url), timeout_s=20, output_bytes=100_000)
    failed(execution, FailureClass.PROTOCOL, "100000 bytes", retryable=False)
    assert execution.truncated
    execution = call(skill(service.url), timeout_s=20)
    failed(execution, FailureClass.PROTOCOL, str(5 * 1024 * 1024), retryable=False)
    service.answer = lambda handler, _: handler.say(200, b'"' + b"a" * 98 + b'"')
    assert call(skill(service.url), output_bytes=100).output == "a" * 98
    failed(call(skill(service.url), output_bytes=99), FailureClass.PROTOCOL, "99 bytes", retryable=False)


def silent(handler: Any, _asked: Any) -> None:
    """Say nothing for as long as the test takes."""
    handler.server.over.wait(20)
    handler.close_connection = True


def dripping(handler: Any, _asked: Any) -> None:
    """Send a byte now and then, so that no single read takes long."""
    handler.begin()
    while not handler.server.over.wait(0.02):
        handler.wfile.write(b" ")


def dripping_refusal(handler: Any, _asked: Any) -> None:
    """The same with a status that says no."""
    handler.begin(500)
    while not handler.server.over.wait(0.02):
        handler.wfile.write(b" ")


@pytest.mark.parametrize("answer", [silent, dripping, dripping_refusal])
def test_one_deadline_is_around_the_whole_call(service: Service, answer: Callable[..., None]) -> None:
    """No first byte, or a body without end: the call is over when its time is."""
    service.answer = answer
    started = time.monotonic()
    execution = call(skill(service.url), timeout_s=0.3)
    assert time.monotonic() - started < 5
    failed(execution, FailureClass.TIMEOUT, "0.3 s", retryable=True)


def test_the_deadline_covers_connecting() -> None:
    """A host that accepts no connection, because its queue is full, does not hold a call up."""
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for one in (first, second):
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        execution = call(skill(f"http://127.0.0.1:{full.getsockname()[1]}/"), timeout_s=0.3)
    failed(execution, FailureClass.TIMEOUT, retryable=True)


def test_another_time_out_is_not_taken_for_the_deadline(service: Service) -> None:
    """Who calls with a deadline of his own gets his own exception."""

    async def main() -> None:
        session = await HttpAdapter().open(skill(service.url), FakeWorkspace())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await session.call(request())
        await session.close()

    service.answer = silent
    asyncio.run(main())


def test_without_a_limit_a_call_may_take_its_time(service: Service) -> None:
    """No limit means none, not one of the library's."""
    service.answer = lambda handler, _: (service.over.wait(0.3), handler.say_json(1))
    assert call(skill(service.url), timeout_s=None).output == 1


@pytest.mark.parametrize(
    ("status", "headers", "kind", "retryable", "wait_s"),
    [
        (400, {}, FailureClass.REJECTED, False, None),
        (404, {"Retry_After": "3"}, FailureClass.REJECTED, False, None),
        (429, {}, FailureClass.RATE_LIMITED, True, None),
        (429, {"Retry_After": "7"}, FailureClass.RATE_LIMITED, True, 7.0),
        (500, {}, FailureClass.SERVER, True, None),
        (503, {"Retry_After": "1.5"}, FailureClass.SERVER, True, 1.5),
        (599, {"Retry_After": "soon"}, FailureClass.SERVER, True, None),
    ],
)
def test_statuses(
    service: Service, status: int, headers: dict[str, str], kind: FailureClass, retryable: bool, wait_s: float | None
) -> None:
    """Each refusal has its class, tells whether it may pass, and when."""
    service.answer = lambda handler, _: handler.say(
        status, b'{"error": {"message": "no way"}}', x_usage_total_tokens="5", **headers
    )
    execution = call(skill(service.url))
    failed(execution, kind, f"HTTP {status}", "no way", retryable=retryable)
    assert execution.failure is not None
    assert execution.failure.retry_after_s == wait_s
    assert execution.usage is not None
    assert execution.usage.total_tokens == 5


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": "no way"}', "no way"),
        (b'{"detail": ["no", "way"]}', '{"detail": ["no", "way"]}'),
        (b'{"code": 7}', '{"code": 7}'),
        (b"<html>\n <p>no   way</p></html>", "<html> <p>no way</p></html>"),
        (b"no way " * 10_000, "…"),
    ],
)
def test_the_reason_of_a_refusal(service: Service, body: bytes, said: str) -> None:
    """The body's own sentence is quoted, else its beginning, on one line."""
    service.answer = lambda handler, _: handler.say(422, body)
    execution = call(skill(service.url))
    failed(execution, FailureClass.REJECTED, said, retryable=False)
    assert execution.failure is not None
    assert len(execution.failure.message) < 400


def test_a_refusal_without_words() -> None:
    """Status and phrase are enough."""
    now = datetime.now(UTC)
    assert status_failure(404, {}, b"", now).message == "HTTP 404 Not Found"
    assert status_failure(302, {}, b"", now).message == "HTTP 302 Found: redirected to nowhere, which is not followed"


def test_redirects_are_named_and_not_followed(service: Service) -> None:
    """The token must not go where the user did not send it."""
    service.answer = lambda handler, _: handler.say(307, b"", Location=f"{service.url}/elsewhere")
    execution = call(skill(f"{service.url}/here"))
    failed(execution, FailureClass.REJECTED, f"{service.url}/elsewhere", retryable=False)
    assert [path for path, *_ in service.requests] == ["/here"]


def test_usage(service: Service) -> None:
    """Tokens come from the headers; a missing total is the sum, what is unknown stays unknown."""
    service.answer = lambda handler, _: handler.say_json(1, x_usage_input_tokens="3", x_usage_output_tokens="4")
    usage = call(skill(service.url)).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (3, 4, 7)
    assert usage.cost_usd is None
    names = [f"x-usage-{kind}-tokens" for kind in ("input", "output", "total")]
    found, notes = usage_of(dict(zip(names, ("9", "", "8"), strict=True)))
    assert found is not None
    assert (found.input_tokens, found.output_tokens, found.total_tokens) == (9, None, 8)
    assert notes == ()
    found, notes = usage_of(dict(zip(names, ("-1", "1.5", "many"), strict=True)))
    assert found is None
    assert [note.split(" is ")[0] for note in notes] == [f"header {name}" for name in names]


def test_no_proxy_of_the_environment_is_used(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where calls go is what the suite says."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert call(skill(service.url), 1).failure is None


def test_calls_overlap_on_pooled_connections(service: Service) -> None:
    """Twenty calls at once each get their own answer, and the next ones open no new connection."""
    peers = set()

    def answer(handler: Any, asked: Any) -> None:
        peers.add(handler.client_address)
        handler.say_json(asked["input"])

    async def main() -> None:
        session = await HttpAdapter().open(skill(service.url), FakeWorkspace())
        answers = await asyncio.gather(*(session.call(request(number)) for number in range(20)))
        assert [one.output for one in answers] == list(range(20))
        known = set(peers)
        for number in range(5):
            assert (await session.call(request(number))).output == number
        assert peers == known
        await session.close()
        await session.close()

    service.answer = answer
    asyncio.run(main())


@pytest.mark.parametrize(("at_once", "opened"), [(1, 1), (2, 2), (70, 76)])
def test_a_connection_is_used_again_as_long_as_few_are_kept(service: Service, at_once: int, opened: int) -> None:
    """Calls at a time, twice, open as many connections as there are calls at a time; 64 of them are kept."""
    peers = []
    all_there = threading.Barrier(at_once)

    def answer(handler: Any, asked: Any) -> None:
        peers.append(handler.client_address)
        all_there.wait(30)
        handler.say_json(asked["input"])

    async def main() -> None:
        session = await HttpAdapter().open(skill(service.url), FakeWorkspace())
        for _ in range(2):
            answers = await asyncio.gather(*(session.call(request(number, timeout_s=60)) for number in range(at_once)))
            assert [one.output for one in answers] == list(range(at_once))
        await session.close()

    service.answer = answer
    asyncio.run(main())
    assert len(peers) == 2 * at_once
    assert len(set(peers)) == opened


def test_a_cancelled_call_closes_its_connection(service: Service) -> None:
    """The service sees the end of the connection, so it need not work on."""
    heard: list[bytes] = []

    def answer(handler: Any, _asked: Any) -> None:
        handler.connection.settimeout(10)
        heard.append(handler.connection.recv(1))
        handler.close_connection = True
        service.over.set()

    async def main() -> None:
        session = await HttpAdapter().open(skill(service.url), FakeWorkspace())
        task = asyncio.create_task(session.call(request()))
        while not service.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(service.over.wait, 10)
        await session.close()

    service.answer = answer
    asyncio.run(main())
    assert heard == [b""]


def test_what_is_not_encrypted_as_promised(service: Service) -> None:
    """An https address where plain HTTP is spoken is a failure to connect, with the reason."""
    execution = call(skill(service.url.replace("http:", "https:")))
    failed(execution, FailureClass.NETWORK, "SSL", retryable=True)


@pytest.mark.requirement("ES-EVAL-024")
def test_a_service_may_change_at_any_time() -> None:
    """Its identity is incomplete, so nothing may be answered from an earlier run."""
    identity = HttpAdapter().identity(skill("http://127.0.0.1:9/a"))
    assert not identity.complete
    assert identity.settings == {"url": "http://127.0.0.1:9/a", "authType": "none"}


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.skipif(not find_spec("skillgauge_format_eval_skills"), reason="needs the format plugin")
@pytest.mark.requirement("ES-EVAL-024", "ES-ADAPT-001", "ES-ADAPT-002", "ES-ADAPT-003")
def test_the_whole_program(service: Service, tmp_path: Path) -> None:
    """`eval` reads adapter.config.json, sends the token, keeps it out of all files, and calls again in a new run."""
    config = {"type": "http", "baseUrl": service.url, "authType": "bearer", "authTokenEnvKey": VARIABLE}
    described = {"id": "remote", "name": "Remote", "version": "1.0.0", "description": "", "adapterType": "http"}
    (tmp_path / "skill.json").write_text(json.dumps({**described, "entrypoint": "/invoke"}))
    (tmp_path / "adapter.config.json").write_text(json.dumps(config))
    task = {"id": "t", "description": "", "inputData": {"q": "hi"}, "expectedOutput": {"type": "exact", "value": "hi"}}
    (tmp_path / "tasks.json").write_text(json.dumps([{**task, "evaluator": {"type": "exact"}}]))
    service.answer = lambda handler, _: handler.say_json({"result": "hi", "said": handler.headers["Authorization"]})
    command = [sys.executable, "-m", "skillgauge", "eval", "--skills", "skill.json", "--tasks", "tasks.json", "--json"]
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], VARIABLE: SECRET}
    for run in (1, 2):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr).decode()
        assert len(service.requests) == run, "a service is called again in a new run"
    assert service.requests[0][0] == "/invoke"
    assert service.requests[0][1]["Authorization"] == f"Bearer {SECRET}"
    written = [done.stdout, done.stderr, *(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())]
    assert not any(SECRET.encode() in content for content in written)
    del environment[VARIABLE]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert VARIABLE in done.stdout.decode()
    assert len(service.requests) == 2


def skillful(handler: Any, asked: Any) -> None:
    """A skill as the contract wants it."""
    wanted = asked["input"]
    if wanted == "crash":
        handler.reset()
    elif wanted == "garble":
        handler.say(200, b"hello")
    elif wanted == "refuse":
        handler.say(400, b"{}")
    elif wanted == "wait" and not handler.server.over.wait(3):
        handler.say_json("late")
    elif wanted != "wait":
        handler.say_json({"echo": wanted})


@pytest.mark.slow
def test_contract(service: Service) -> None:
    """Calls answer who asked, fail as facts, and end when they are to end."""
    service.answer = skillful
    check_adapter(
        Maker(ADAPTERS, MODULE),
        skill(service.url),
        AdapterInputs(good="a", other={"b": [1, 2.5, None]}, slow="wait", failing=["crash", "garble", "refuse"]),
        failing_targets=[skill("http://127.0.0.1:9/", id="nowhere")],
        wrong_targets=[skill(""), skill("ftp://127.0.0.1/")],
    )


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing imports nothing heavy."""
    check_plugin(MODULE, "adapters")
    check_light_import(MODULE)
