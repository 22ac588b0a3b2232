"""The examples as a newcomer meets them: `make demo`, one calculator over three protocols, and the skills alone."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from skillgauge_testkit.program import PROGRAM, Program

from .conftest import ROOT

EXAMPLES = ROOT / "examples"
SKILLS = EXAMPLES / "skills"
PATIENT_S = 120

pytestmark = pytest.mark.e2e


class Demo:
    """A script in a temporary folder of its own, with the programs of some folder in front of the search path."""

    def __init__(self, script: Path, folder: Path, environment: dict[str, str], programs: Path) -> None:
        self._folder = folder
        self.process = subprocess.Popen(
            ["bash", str(script)],
            cwd=folder,
            env=environment | {"TMPDIR": str(folder), "BIN": str(programs)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def work(self) -> Path:
        """Where it works."""
        (found,) = self._folder.glob("skillgauge-*")
        return found

    def end(self) -> tuple[str, str]:
        """Wait for its end: what it wrote."""
        return self.process.communicate(timeout=PATIENT_S)

    def serves(self) -> bool:
        """Whether its HTTP server still listens."""
        settings = json.loads((self.work / "calculator-http" / "adapter.config.json").read_text())
        return listens(settings["baseUrl"])


def listens(address: str) -> bool:
    """Whether somebody accepts connections at an address."""
    parts = urlsplit(address)
    assert parts.hostname == "127.0.0.1"
    assert parts.port not in (None, 8765)
    with socket.socket() as client:
        client.settimeout(PATIENT_S)
        return client.connect_ex((parts.hostname, parts.port)) == 0


StartDemo = Callable[..., Demo]


@pytest.fixture
def start(work: Path, environment: dict[str, str]) -> Iterator[StartDemo]:
    """Start a script; `programs` maps names of programs to shell scripts that take their place."""
    started: list[Demo] = []

    def start(script: Path, **programs: str) -> Demo:
        folder = PROGRAM.parent
        if programs:
            folder = work.parent / "programs"
            folder.mkdir()
        for name, text in programs.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        started.append(Demo(script, work, environment, folder))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.terminate()
            one.end()


@pytest.fixture
def protocols(start: StartDemo) -> StartDemo:
    """Start the calculator over three protocols."""
    return partial(start, SKILLS / "three_protocols.sh")


@pytest.mark.slow
def test_the_demo_answers_first_then_shows_a_failing_case_and_the_page(start: StartDemo) -> None:
    """With and without the skill, the first failing session with its checks, a skill called directly, and the page."""
    running = start(EXAMPLES / "demo.sh")
    out, err = running.end()
    assert running.process.returncode == 0, err
    steps = re.split(r"^=== \d\. ", out, flags=re.MULTILINE)
    assert len(steps) == 5
    assert re.search(r"with_skill .* pass rate 100\.0%", steps[1])
    assert re.search(r"without_skill .* pass rate 25\.0%", steps[1])
    lift = "+75.0 points against without_skill (n = 4 cases; these cases: 95% interval +44.8 to +83.7, p < 0.001)"
    assert f"done: release-notes · with_skill · claude-sonnet-4-5 helps on these cases: {lift}" in err
    assert steps[2].count("== release-notes · without_skill") == 1
    assert "Prompt\n  The ticket in evals/files/HRB-52.md" in steps[2]
    assert "exit code 1 instead of 0 (changes/HRB-52.note is not there)" in steps[2]
    assert "calculator — pass rate 100.0%" in steps[3]
    assert err.strip().splitlines()[-1] == "done: 20 of 20 passed"
    page = running.work / "reports" / "eval-result.html"
    assert "removed-export" in page.read_text("utf-8")
    assert steps[4].count(str(page)) == 2
    for path in re.findall(r"(?:examples|docs)/\S+\.md", steps[4]):
        assert (ROOT / path).is_file()
    assert f"rm -r {running.work}\n" in steps[4]


def test_the_demo_ends_where_an_evaluation_failed(start: StartDemo) -> None:
    """Its exit code is that of the evaluation, and nothing is shown that was not made."""
    running = start(EXAMPLES / "demo.sh", skillgauge="echo evaluating; exit 7")
    out, _ = running.end()
    assert running.process.returncode == 7
    assert out.endswith("evaluating\n")


@pytest.mark.slow
def test_one_calculator_gives_60_of_60_over_three_protocols(protocols: StartDemo) -> None:
    """One command evaluates it as a process, over HTTP and over MCP, and shows the table."""
    running = protocols()
    out, err = running.end()
    assert running.process.returncode == 0, err
    assert err.strip().splitlines()[-1] == "done: 60 of 60 passed"
    reports = json.loads((running.work / "reports" / "eval-result.json").read_text())
    names = {"calculator": "subprocess", "calculator-http": "http", "calculator-mcp": "mcp"}
    assert [one["skillId"] for one in reports] == list(names)
    assert [one["evaluatorMetadata"]["skillgauge"]["runner"] for one in reports] == list(names.values())
    assert [[task["status"] for task in one["taskResults"]] for one in reports] == [["pass"] * 20] * 3
    for name, adapter in names.items():
        assert f"| {name} ({adapter}) | 100.0% | 83.9% to 100.0% | 20 | 20 of 20 | 0 | 0 | 0 | 95 % wilson |" in out
    assert "### " not in out
    assert f"Reports: {running.work}/reports" in out
    assert not running.serves()


def test_it_ends_as_the_evaluation_did(protocols: StartDemo) -> None:
    """Its exit code is that of the evaluation, and the server is stopped although that failed."""
    running = protocols(skillgauge="echo evaluating; exit 7", python=f'exec {sys.executable} "$@"')
    out, _ = running.end()
    assert out.startswith("evaluating\n")
    assert running.process.returncode == 7
    assert not running.serves()


def test_interrupted_it_stops_its_server(protocols: StartDemo) -> None:
    """Whoever ends the script while it evaluates leaves no server behind."""
    running = protocols(skillgauge="echo $$; exec sleep 600", python=f'exec {sys.executable} "$@"')
    assert running.process.stdout is not None
    evaluation = int(running.process.stdout.readline())
    try:
        assert running.serves()
        until = time.monotonic() + PATIENT_S
        while running.process.poll() is None and time.monotonic() < until:
            running.process.terminate()  # a shell that begins to wait just then hears the next one only
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(1)
        assert running.process.returncode == -signal.SIGTERM
        assert not running.serves()
    finally:
        os.kill(evaluation, signal.SIGKILL)
    running.end()


def test_a_server_that_does_not_start_is_told(protocols: StartDemo) -> None:
    """Nobody waits for it; the script says what it said, and evaluates nothing."""
    running = protocols(skillgauge="echo evaluating", python="echo no sockets today >&2; exit 1")
    out, err = running.end()
    assert running.process.returncode == 3
    assert out == ""
    assert err == "the HTTP server did not start:\nno sockets today\n"


# --- the skills by themselves ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_copied_mcp_skill_works_alone(program: Program, work: Path) -> None:
    """Its folder needs nothing of the repository."""
    shutil.copytree(SKILLS / "calculator-mcp", work / "mine")
    done = program("eval", "--skills", "mine", "--case", "coding_00?", "--store", "none", "--json")
    assert done.code == 0, done.stderr
    assert done.document["summary"]["counts"]["passed"] == 9


class Service:
    """The HTTP server of the example, copied alone."""

    def __init__(self, folder: Path, environment: dict[str, str], port: str = "0") -> None:
        shutil.copytree(SKILLS / "calculator-http", folder, dirs_exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-B", "server.py", port],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Whoever started the tests in the background of a script has it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().removeprefix("listening on ").strip()

    def ask(self, body: bytes | None, *, path: str = "/invoke", **headers: str) -> tuple[int, Any]:
        """Status and document that a request gets; one without a body is a GET."""
        connection = HTTPConnection("127.0.0.1", urlsplit(self.address).port, timeout=PATIENT_S)
        try:
            connection.request("GET" if body is None else "POST", path, body, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Send a signal: exit code, and what else was written."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENT_S)
        return self.process.returncode, out, err


@pytest.fixture
def service(work: Path, environment: dict[str, str]) -> Iterator[Service]:
    """A running server."""
    running = Service(work / "service", environment)
    yield running
    if running.process.poll() is None:
        running.end(signal.SIGKILL)


def test_the_service_answers(service: Service) -> None:
    """Calls get results, other requests a status and a reason, and no request keeps it from the next."""
    power = json.dumps({"skillId": "x", "version": "1.0.0", "input": {"expression": "9**9**9"}}).encode()
    assert service.ask(power) == (200, {"result": "error: the number is too large"})
    assert service.ask(b'{"input": {"expression": "(2+3)*4"}}') == (200, {"result": "20"})
    assert service.ask(None) == (200, {"status": "healthy"})
    assert service.ask(None, path="/")[0] == 404
    assert service.ask(b"{}", path="/other")[0] == 404
    for body in (b"", b"[1", b"[]", b"{}", b'{"input": 1}', b"\xff", b'"input"', b"[" * 100_000):
        assert service.ask(body) == (400, {"error": "the body must be a JSON object with an object under 'input'"})
    assert service.ask(b"", **{"Content-Length": "1000001"})[0] == 413
    assert service.ask(b"", **{"Content-Length": "-1"})[0] == 411
    assert service.ask(b'{"input": {"expression": "5!"}}') == (200, {"result": "120"})


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_service_ends_cleanly(service: Service, number: signal.Signals) -> None:
    """Told to end while it takes connections, it ends at once, without a word, and its port is free."""
    with ExitStack() as connections:
        for _ in range(20):
            connection = connections.enter_context(socket.socket())
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", urlsplit(service.address).port or 0))
        assert service.end(number) == (0, "", "")
    assert not listens(service.address)


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(service: Service, work: Path, environment: dict[str, str]) -> None:
    """One line says which port, and no address is printed."""
    port = urlsplit(service.address).port
    second = Service(work / "second", environment, str(port))
    _, err = second.process.communicate(timeout=PATIENT_S)
    assert (second.process.returncode, second.address) == (1, "")
    assert err.startswith(f"cannot listen on port {port}: ")


def test_the_calculators_are_the_same() -> None:
    """Each example folder works alone, so two of them have a copy of the same file."""
    http, mcp = ((SKILLS / name / "calculator.py").read_bytes() for name in ("calculator-http", "calculator-mcp"))
    assert http == mcp


@pytest.mark.parametrize(
    "params",
    [
        {"expression": "100/4"},
        {"expression": "2**10 - -1"},
        {"expression": "3!!"},
        {"expression": " 7//2 + 7%2 "},
        {"expression": "9**9**9"},
        {"expression": "2**-1"},
        {"expression": "10**3000 * 10**3000"},
        {"expression": "10.0**400"},
        {"expression": "10.0*1e308"},
        {"expression": "(-8)**0.5"},
        {"expression": "1e400"},
        {"expression": "1/0"},
        {"expression": "0**-1"},
        {"expression": "1001!"},
        {"expression": "2.5!"},
        {"expression": "__import__('os')"},
        {"expression": "True"},
        {"expression": "2 +"},
        {"expression": "(" * 199},
        {"expression": "1" * 201},
        {"expression": 5},
        {"operation": "reverse", "input": "héllo"},
        {"operation": "reverse", "input": ""},
        {"operation": "is_palindrome", "input": "madam"},
        {"operation": "is_palindrome", "input": "hello"},
        {"operation": "other", "input": "x"},
        {},
    ],
    ids=lambda params: json.dumps(params)[:40],
)
def test_they_answer_as_the_one_that_is_a_process(params: dict[str, Any]) -> None:
    """The same input gets the same answer whatever the protocol, the bounded and the refused ones included."""
    process = runpy.run_path(str(SKILLS / "calculator" / "skill.py"))["answer"]
    reply = process({"jsonrpc": "2.0", "id": 1, "method": "invoke", "params": params})
    assert (
        runpy.run_path(str(SKILLS / "calculator-http" / "calculator.py"))["answer"](params) == reply["result"]["result"]
    )
