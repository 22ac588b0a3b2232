"""Calls of real servers over stdio and streamable HTTP: answers, refusals, deaths, silence, and what is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from skillgauge.api import Blame, CallRequest, Execution, FailureClass, LaunchError, Limits, SandboxSpec, Target, thaw
from skillgauge_adapter_mcp.adapter import McpAdapter, headers_of
from skillgauge_testkit import (
    ADAPTERS,
    AdapterInputs,
    FakeWorkspace,
    Maker,
    TemporarySandbox,
    check_adapter,
    check_light_import,
    check_plugin,
)

MODULE = "skillgauge_adapter_mcp.plugin"
HERE = Path(__file__).parent
PLAIN = f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(HERE / 'plain_server.py'))}"
REAL = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'real_server.py'))}"
PATIENT_S = 60.0

Call = Callable[..., Awaitable[Execution]]


def skill(entrypoint: str = PLAIN, tool: str = "work", **changes: Any) -> Target:
    """A target that is a tool of a server."""
    return Target(
        **{"id": "skill", "adapter": "mcp", "entrypoint": entrypoint, "metadata": {"toolName": tool}, **changes}
    )


def using(target: Target, scenario: Callable[[Call], Awaitable[None]]) -> None:
    """Run a scenario with calls of one session."""

    async def main() -> None:
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            session = await McpAdapter().open(target, workspace)

            async def call(value: Any = None, env: Any = None, **limits: Any) -> Execution:
                bounds = Limits(**{"timeout_s": PATIENT_S, **limits})
                return await session.call(
                    CallRequest(trial_id="t", case_id="c", input=value, limits=bounds, env=env or {})
                )

            try:
                await scenario(call)
            finally:
                await session.close()
                await session.close()

    asyncio.run(main())


def call_once(target: Target, value: Any = None, **limits: Any) -> Execution:
    """One call in a session of its own."""
    got: list[Execution] = []

    async def scenario(call: Call) -> None:
        got.append(await call(value, **limits))

    using(target, scenario)
    return got[0]


def failed(execution: Execution, kind: FailureClass, *words: str, retryable: bool) -> None:
    """Require a failure of the target of some kind that says something."""
    assert execution.failure is not None, execution
    assert execution.failure.failure_class is kind, execution.failure
    assert execution.failure.blame is Blame.TARGET
    assert execution.failure.retryable is retryable, execution.failure
    assert execution.output is None
    assert execution.duration_s is not None
    for word in words:
        assert word in execution.failure.message


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a real server listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*shlex.split(REAL), str(port)], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENT_S
        while time.monotonic() < until and process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.requirement("ES-ADAPT-006")
def test_a_server_made_with_the_library_over_stdio() -> None:
    """Structured content is the output; a plain text comes in the library's own wrapping; errors are rejections."""

    async def echo(call: Call) -> None:
        execution = await call({"value": "naïve 🚀"})
        assert execution.failure is None, execution
        assert thaw(execution.output) == {"echo": "naïve 🚀"}
        assert execution.sandbox == "temporary/none"
        failed(await call({"values": 1}), FailureClass.REJECTED, "value", retryable=False)
        failed(
            await call({"value": "x", "wait_s": 30}, timeout_s=2.0), FailureClass.TIMEOUT, "no answer", retryable=True
        )

    using(skill(REAL, "echo"), echo)


@pytest.mark.requirement("ES-ADAPT-006")
@pytest.mark.slow
def test_a_server_made_with_the_library_over_http(address: str) -> None:
    """The same over streamable HTTP: overlapping calls, errors, a time-out, and the session goes on."""

    async def echo(call: Call) -> None:
        values = [str(number) for number in range(10)]
        answers = await asyncio.gather(*(call({"value": value}) for value in values))
        assert [thaw(answer.output) for answer in answers] == [{"echo": value} for value in values]
        assert answers[0].sandbox is None
        failed(await call({"value": "x", "wait_s": 30}, timeout_s=0.5), FailureClass.TIMEOUT, retryable=True)
        assert thaw((await call({"value": "x"})).output) == {"echo": "x"}
        refused = (await call({"value": "x"}, env={"PLACE": "here"})).failure
        assert refused is not None
        assert (refused.failure_class, refused.blame) == (FailureClass.SETUP, Blame.INFRASTRUCTURE)
        assert "PLACE of the case cannot be set there" in refused.message

    using(skill(address, "echo"), echo)
    assert thaw(call_once(skill(address, "plain"), {"value": "x"}).output) == {"result": "x"}
    failed(call_once(skill(address, "fail")), FailureClass.REJECTED, "fail", retryable=False)
    execution = call_once(skill(address, "ecko"), {})
    failed(execution, FailureClass.REJECTED, "no tool 'ecko'", "did you mean echo", "plain", retryable=False)


@pytest.mark.slow
def test_a_remote_server_that_dies_in_a_call() -> None:
    """A connection that is lost is a network failure that may pass, and the next call connects anew."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*shlex.split(REAL), str(port)]

    def started() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENT_S
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return process
            time.sleep(0.05)
        raise AssertionError("the server does not start")

    processes = [started()]

    async def scenario(call: Call) -> None:
        failed(await call({}), FailureClass.NETWORK, retryable=True)
        failed(await call({}), FailureClass.NETWORK, retryable=True)
        processes.append(await asyncio.to_thread(started))
        failed(await call({}), FailureClass.NETWORK, retryable=True)

    try:
        using(skill(f"http://127.0.0.1:{port}/mcp", "die"), scenario)
        assert processes[1].wait(10) == 5
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("asked", "output"),
    [
        ({"a": [1, 2.5, None]}, {"echo": {"a": [1, 2.5, None]}}),
        (None, {"echo": {}}),
        ({"do": "text", "text": '{"n": 1}'}, {"n": 1}),
        ({"do": "text", "text": "41"}, 41),
        ({"do": "text", "text": "plain words"}, "plain words"),
        ({"do": "text", "text": "NaN"}, "NaN"),
        ({"do": "text", "text": "[" * 5000}, "[" * 5000),
        ({"do": "nothing"}, ""),
    ],
)
def test_outputs(asked: Any, output: Any) -> None:
    """Structured content first, else the text, which is parsed where it is JSON."""
    execution = call_once(skill(), asked)
    assert execution.failure is None, execution
    assert thaw(execution.output) == output


def test_blocks_that_are_no_text_are_noted() -> None:
    """Text blocks are joined by newlines; what else there was is told."""
    execution = call_once(skill(), {"do": "blocks", "lines": ["one", "two"]})
    assert execution.output == "one\ntwo"
    assert execution.notes == ("blocks of the answer that are no text were left out: image",)


def test_an_input_that_is_no_object_is_the_cases_fault() -> None:
    """A tool takes named arguments; what cannot be sent is not counted against it."""
    execution = call_once(skill(), [1])
    assert execution.failure is not None
    assert execution.failure.failure_class is FailureClass.BAD_REQUEST
    assert execution.failure.blame is Blame.INFRASTRUCTURE


def test_where_and_with_what_a_server_runs(tmp_path: Path) -> None:
    """In the skill's folder, by the configured command, with a built environment and that of the case."""
    (tmp_path / "server.py").write_text((HERE / "plain_server.py").read_text())
    config = {"command": sys.executable, "args": ["-I", "-S", "server.py", "two words"]}
    target = skill("mcp://localhost/", config=config, root=str(tmp_path))
    assert McpAdapter().check_target(target) == ()

    async def scenario(call: Call) -> None:
        cwd, arguments, pid = thaw((await call({"do": "cwd"})).output)
        assert Path(cwd).samefile(tmp_path)
        assert arguments == ["two words"]
        assert thaw((await call({"do": "cwd"})).output)[2] == pid
        seen = thaw((await call({"do": "env"}, env={"CASE": "1"})).output)
        assert isinstance(seen, dict)
        assert seen["CASE"] == "1"
        assert seen["HOME"] != os.environ.get("HOME")
        assert thaw((await call({"do": "cwd"})).output)[2] == pid

    using(target, scenario)


@pytest.mark.requirement("ES-DEFECT-20")
@pytest.mark.parametrize(
    ("do", "words", "retryable"),
    [
        ("refuse", "no such pdf", False),
        ("busy", "JSON-RPC error -32000: cannot do it", True),
        ("internal", "JSON-RPC error -32603: cannot do it", True),
        ("params", "JSON-RPC error -32602: cannot do it", False),
    ],
)
def test_refusals(do: str, words: str, retryable: bool) -> None:
    """A tool that says that it failed has failed; only errors of the server may pass."""

    async def scenario(call: Call) -> None:
        failed(await call({"do": do}), FailureClass.REJECTED, words, retryable=retryable)
        assert (await call({})).failure is None

    using(skill(), scenario)


def test_an_unknown_tool() -> None:
    """The tools that there are, on all pages, are named; where the server lists none, its own words count."""
    execution = call_once(skill(tool="wrok"), {})
    failed(execution, FailureClass.REJECTED, "no tool 'wrok'", "did you mean work", "work, rest", retryable=False)
    execution = call_once(skill(f"{PLAIN} quiet"), {"do": "params"})
    failed(execution, FailureClass.REJECTED, "cannot do it", retryable=False)


def test_the_tools_name() -> None:
    """Configuration before metadata before the skill's own id."""
    adapter = McpAdapter()
    assert adapter.identity(skill()).settings["tool"] == "work"
    assert adapter.identity(skill(config={"toolName": "rest"})).settings["tool"] == "rest"
    assert adapter.identity(skill(metadata={})).settings["tool"] == "skill"


@pytest.mark.requirement("ES-EVAL-024")
def test_a_server_may_change_at_any_time() -> None:
    """Its identity is incomplete, so nothing may be answered from an earlier run."""
    identity = McpAdapter().identity(skill("http://127.0.0.1:9/mcp"))
    assert not identity.complete
    assert identity.settings["url"] == "http://127.0.0.1:9/mcp"
    assert not McpAdapter().identity(skill()).complete


@pytest.mark.parametrize(
    ("entrypoint", "words"),
    [
        (f"{PLAIN} exit", ["exited with code 1", "cannot find my configuration"]),
        (f"{PLAIN} leaves", ["exited with code 7"]),
        ("false", ["exited with code 1"]),
    ],
)
def test_a_server_that_exits_at_start(entrypoint: str, words: list[str]) -> None:
    """One message with its exit code and last words, however deep the library wraps it."""
    execution = call_once(skill(entrypoint), {})
    failed(execution, FailureClass.CRASH, *words, retryable=True)
    assert execution.failure is not None
    assert "ExceptionGroup" not in execution.failure.message
    assert "\n" not in execution.failure.message


def test_a_server_that_knows_only_the_newest_protocol() -> None:
    """Where the handshake is refused as too old, the newer way of connecting is taken."""
    execution = call_once(skill(f"{PLAIN} modern"), {"a": 1})
    assert execution.failure is None, execution
    assert thaw(execution.output) == {"echo": {"a": 1}}


def test_an_answer_against_the_tools_own_schema() -> None:
    """A tool that promises a shape and answers with another breaks the protocol; the server goes on."""

    async def scenario(call: Call) -> None:
        failed(await call({"do": "cwd"}), FailureClass.PROTOCOL, "no answer", retryable=False)
        failed(await call({}), FailureClass.PROTOCOL, retryable=False)

    using(skill(f"{PLAIN} schema"), scenario)


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.skipif(not find_spec("skillgauge_format_eval_skills"), reason="needs the format plugin")
@pytest.mark.requirement("ES-ADAPT-006")
def test_the_whole_program(tmp_path: Path) -> None:
    """`eval` calls the tool that skill.json names, on one server for all tasks."""
    (tmp_path / "server.py").write_text((HERE / "plain_server.py").read_text())
    described = {"id": "tool", "name": "Tool", "version": "1.0.0", "description": "", "adapterType": "mcp"}
    described |= {"entrypoint": "python3 server.py", "metadata": {"toolName": "work"}}
    (tmp_path / "skill.json").write_text(json.dumps(described))
    tasks = [
        {
            "id": f"t{number}",
            "description": "",
            "inputData": {"do": "text", "text": f"said {number}"},
            "expectedOutput": {"type": "exact", "value": f"said {number}"},
            "evaluator": {"type": "exact"},
        }
        for number in range(5)
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    command = [sys.executable, "-m", "skillgauge", "eval", "--skills", "skill.json", "--tasks", "tasks.json", "--json"]
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    counts = json.loads(done.stdout)["summary"]["counts"]
    assert (counts["total"], counts["passed"]) == (5, 5), done.stdout.decode()


@pytest.mark.parametrize(("mode", "words"), [("refuses", "not today"), ("odd", "1999-01-01")])
def test_a_handshake_that_fails(mode: str, words: str) -> None:
    """A server that answers, but not as it must, breaks the protocol."""
    execution = call_once(skill(f"{PLAIN} {mode}"), {})
    failed(execution, FailureClass.PROTOCOL, words, retryable=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("do", "words"), [("die", "exited with code 3: out of order"), ("killed", "signal 9"), ("deaf", "the server")]
)
def test_a_server_that_dies_in_a_call(do: str, words: str) -> None:
    """A crash that may pass; a call at the same time fails likewise, and the next one gets a new server."""

    async def scenario(call: Call) -> None:
        assert (await call({})).failure is None
        other = asyncio.create_task(call({"do": "silent"}))
        await asyncio.sleep(0.1)
        failed(await call({"do": do}), FailureClass.CRASH, words, retryable=True)
        failed(await other, FailureClass.CRASH, words, retryable=True)
        assert (await call({})).failure is None

    using(skill(), scenario)


def test_calls_overlap_on_one_connection() -> None:
    """Ten calls at once are answered by one process, each with its own answer."""

    async def scenario(call: Call) -> None:
        answers = await asyncio.gather(*(call({"n": number}) for number in range(10)))
        assert [thaw(one.output) for one in answers] == [{"echo": {"n": number}} for number in range(10)]
        told = await asyncio.gather(*(call({"do": "cwd"}) for _ in range(5)))
        assert len({thaw(one.output)[2] for one in told}) == 1

    using(skill(), scenario)


@pytest.mark.slow
@pytest.mark.requirement("ES-DEFECT-20")
@pytest.mark.parametrize("do", ["silent", "wait"])
def test_a_call_without_an_answer(do: str) -> None:
    """The time limit holds; a call under way beside it still gets its answer, and the next one a fresh server."""

    async def scenario(call: Call) -> None:
        assert (await call({})).failure is None
        beside = asyncio.create_task(call({"do": "wait", "seconds": 1.5}))
        await asyncio.sleep(0.1)
        started = time.monotonic()
        failed(
            await call({"do": do, "seconds": 30}, timeout_s=0.5), FailureClass.TIMEOUT, "within 0.5 s", retryable=True
        )
        assert time.monotonic() - started < 5
        assert (await beside).output == "late"
        assert (await call({})).failure is None

    using(skill(), scenario)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["mute", "stubborn"])
def test_a_server_that_never_answers_at_all(tmp_path: Path, mode: str) -> None:
    """The limit holds for connecting, too, and a server that ignores SIGTERM is killed with its children."""

    async def scenario(call: Call) -> None:
        started = time.monotonic()
        failed(await call({}, timeout_s=0.7), FailureClass.TIMEOUT, "no connection", retryable=True)
        assert time.monotonic() - started < 5

    started = time.monotonic()
    using(skill(f"{PLAIN} {mode}", root=str(tmp_path)), scenario)
    assert time.monotonic() - started < 10
    pids = [int(path.stem) for path in tmp_path.glob("*.pid")]
    assert len(pids) == (2 if mode == "stubborn" else 0)
    assert all(gone(pid) for pid in pids)


@pytest.mark.slow
def test_a_cancelled_call_leaves_no_server_behind() -> None:
    """Cancelled while connecting or while calling: it ends at once, and so does the process when nobody needs it."""

    async def scenario(call: Call) -> None:
        pid = thaw((await call({"do": "cwd"})).output)[2]
        task = asyncio.create_task(call({"do": "silent"}))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        until = time.monotonic() + 10
        while not gone(pid) and time.monotonic() < until:
            await asyncio.sleep(0.02)
        assert gone(pid)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await call({"do": "silent"})

    using(skill(), scenario)
    mute = skill(f"{PLAIN} mute")

    async def connecting(call: Call) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await call({})

    using(mute, connecting)


def test_an_answer_beyond_the_limit() -> None:
    """Too much text is a breach of the protocol, whether cut while reading or weighed afterwards."""

    async def scenario(call: Call) -> None:
        assert (await call({}, output_bytes=100_000)).failure is None
        asked = {"do": "huge", "size": 300_000}
        failed(await call(asked, output_bytes=100_000), FailureClass.PROTOCOL, "100000 bytes", retryable=False)
        failed(
            await call({"do": "huge", "size": 9000}, output_bytes=1000),
            FailureClass.PROTOCOL,
            "1000 bytes",
            retryable=False,
        )
        assert (await call({})).failure is None

    using(skill(), scenario)


def test_a_process_that_cannot_be_started() -> None:
    """That is nobody's fault but the machine's."""

    class Full(FakeWorkspace):
        async def start(self, command: Any) -> Any:
            raise LaunchError("no more processes")

    async def main() -> Execution:
        session = await McpAdapter().open(skill(), Full())
        execution = await session.call(CallRequest(trial_id="t", case_id="c", input={}, limits=Limits()))
        await session.close()
        return execution

    execution = asyncio.run(main())
    assert execution.failure is not None
    assert execution.failure.failure_class is FailureClass.LAUNCH
    assert execution.failure.blame is Blame.INFRASTRUCTURE
    assert execution.failure.message == "no more processes"


def test_nothing_listens() -> None:
    """A refused connection is the target's failure and may pass."""
    execution = call_once(skill("http://127.0.0.1:9/mcp"), {})
    failed(execution, FailureClass.NETWORK, retryable=True)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (401, FailureClass.REJECTED, False),
        (429, FailureClass.RATE_LIMITED, True),
        (503, FailureClass.SERVER, True),
        (200, FailureClass.PROTOCOL, False),
    ],
)
def test_a_service_that_is_no_server(status: int, kind: FailureClass, retryable: bool) -> None:
    """HTTP statuses keep their meaning, and the token is sent and in no message."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.headers["Authorization"], self.headers["User-Agent"]))
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"hi")

        def log_message(self, *_arguments: object) -> None:
            pass

    service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.daemon_threads = True
    thread = Thread(target=service.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    os.environ["ECHO_SKILL_TOKEN"] = "s3cret-t0ken"
    try:
        config = {"authType": "bearer", "authTokenEnvKey": "ECHO_SKILL_TOKEN"}
        target = skill(f"http://127.0.0.1:{service.server_port}/mcp", config=config)
        assert McpAdapter().check_target(target) == ()
        execution = call_once(target, {})
    finally:
        del os.environ["ECHO_SKILL_TOKEN"]
        service.shutdown()
        service.server_close()
    failed(execution, kind, retryable=retryable)
    assert seen[0][0] == "Bearer s3cret-t0ken"
    assert seen[0][1].startswith("skillgauge/")
    assert "s3cret" not in execution.model_dump_json()
    assert "s3cret" not in repr(McpAdapter().identity(target))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"entrypoint": ""}, "empty"),
        ({"entrypoint": "'unclosed"}, "quotation"),
        ({"entrypoint": "no-such-program-anywhere x"}, "'no-such-program-anywhere' is not there"),
        ({"entrypoint": "./no/such/program"}, "is not there"),
        ({"entrypoint": "mcp://localhost:8080/tools/x"}, "neither an http or https URL nor a command"),
        ({"entrypoint": "http://"}, "names no host"),
        ({"entrypoint": "http://127.0.0.1:port/"}, "ort"),
        ({"entrypoint": f"http://{'a' * 64}.test/"}, "label"),
        ({"entrypoint": "http://user:hunter22@127.0.0.1/"}, "authTokenEnvKey"),
        ({"config": {"transport": "sse"}}, "sse"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(changes: dict[str, Any], words: str) -> None:
    """Addresses and commands are looked at first; no password is repeated."""
    (problem,) = McpAdapter().check_target(skill(**changes))
    assert words in problem.message
    assert "hunter22" not in str(problem)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"headers": {"X-Team": 1}}, "'X-Team'"),
        ({"authType": "digest"}, "'digest'"),
        ({"authType": "bearer"}, "needs authTokenEnvKey"),
        ({"authType": "bearer", "authTokenEnvKey": "UNSET"}, "UNSET"),
        ({"authType": "bearer", "authTokenEnvKey": "BAD"}, "BAD"),
    ],
)
def test_credentials_that_cannot_be_sent(config: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is named, and no value is shown."""
    monkeypatch.setenv("BAD", "two\nlines")
    with pytest.raises(ValueError, match=words) as caught:
        headers_of(skill("http://127.0.0.1:9/", config=config))
    assert "lines" not in str(caught.value)


def test_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Own headers are sent, and the token wins over one of them."""
    monkeypatch.setenv("KEY", "k")
    config = {"authType": "api-key", "authTokenEnvKey": "KEY", "headers": {"x-api-key": "own", "X-Team": "a"}}
    assert headers_of(skill(config=config)) == {"X-Team": "a", "X-API-Key": "k"}
    assert headers_of(skill()) == {}


@pytest.mark.slow
def test_contract() -> None:
    """Calls answer who asked, fail as facts, and end when they are to end."""
    check_adapter(
        Maker(ADAPTERS, MODULE),
        skill(),
        AdapterInputs(
            good={"a": 1},
            other={"b": [1, 2.5, None]},
            slow={"do": "wait"},
            failing=[{"do": "die"}, {"do": "refuse"}],
            environment={"do": "env"},
        ),
        failing_targets=[skill(f"{PLAIN} exit", id="leaves"), skill(tool="other", id="other")],
        wrong_targets=[skill(""), skill("no-such-program-anywhere")],
    )


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing imports nothing heavy."""
    check_plugin(MODULE, "adapters")
    check_light_import(MODULE)
