"""A scorer's connection lasts as long as the run of the program, however that ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillgauge.evaluation.process import PATIENCE_S
from skillgauge_testkit.program import PROGRAM, Program

from .conftest import MakeSkill, task

SCORER = """
import asyncio
from skillgauge.api import *

class Options(Frozen):
    port: int

class Echoed:
    version = "1"

    def __init__(self, options):
        self.port = options.port

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.turn = asyncio.Lock()

    async def close(self):
        self.writer.write(b"bye\\n")
        self.writer.close()
        await self.writer.wait_closed()

    async def score(self, context):
        async with self.turn:
            self.writer.write(f"{context.answer.text}\\n".encode())
            line = await self.reader.readline()
        return Score.passed() if line.decode().strip() == context.answer.text else Score.failed("no echo")

@hookimpl
def skillgauge_scorers():
    yield Provider(name="echoed", options=Options, factory=Echoed, summary="Asks a server.")
"""
ANSWERING = """import json, sys
request = json.loads(sys.stdin.read())
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": request["params"]["say"]}))
"""


class Server:
    """Echoes lines of one connection after the other, except the line that it must not answer."""

    def __init__(self, silent: str) -> None:
        self.connections: list[list[str]] = []
        self.asked = threading.Event()
        self._silent = silent
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # the test is over
            lines: list[str] = []
            self.connections.append(lines)
            with connection, connection.makefile("rw") as stream:
                for line in stream:
                    lines.append(line.strip())
                    if line.strip() == self._silent:
                        self.asked.set()
                    elif line.strip() != "bye":
                        stream.write(line)
                        stream.flush()

    def close(self) -> None:
        """Accept nobody any more."""
        self._socket.close()


@contextmanager
def serving(silent: str = "") -> Iterator[Server]:
    """A server on loopback."""
    server = Server(silent)
    try:
        yield server
    finally:
        server.close()


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("interrupted", [False, True], ids=["finished", "interrupted"])
def test_a_connection_is_opened_and_closed_once(
    interrupted: bool,
    work: Path,
    environment: dict[str, str],
    make_skill: MakeSkill,
    tasks: Callable[..., Path],
) -> None:
    """Three trials share one connection, which is closed in order, also when Ctrl-C comes while it is waited for."""
    (work / "echoed.py").write_text(SCORER)
    file = tasks(task("a", "a"), task("b", "b"), task("c", "c"))
    with serving(silent="b" if interrupted else "") as server:
        check = f'echoed={{"port": {server.port}}}'
        words = ["eval", "--skills", str(make_skill(ANSWERING)), "--tasks", str(file), "--concurrency", "1"]
        process = subprocess.Popen(
            [str(PROGRAM), *words, "--plugin", "echoed.py", "--check", check],
            cwd=work,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if interrupted:
            assert server.asked.wait(60)
            process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == (130 if interrupted else 0), stderr
    assert server.connections == [["a", "b", "bye"] if interrupted else ["a", "b", "c", "bye"]]


STUCK = """
import pathlib, time
from skillgauge.api import *

class Stuck:
    version = "1"

    async def score(self, context):
        stuck = pathlib.Path("stuck")
        if context.answer.text == "b" and not stuck.exists():
            stuck.touch()
            time.sleep(600)
        return Score.passed()

@hookimpl
def skillgauge_scorers():
    yield Provider(name="stuck", factory=Stuck, summary="Blocks the event loop.")
"""


@pytest.mark.slow
@pytest.mark.e2e
def test_a_scorer_that_blocks_is_ended_by_a_second_signal(
    work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Callable[..., Path], program: Program
) -> None:
    """P-N2: nothing hears of the first one; the second ends the run, of which the finished case is kept."""
    (work / "stuck.py").write_text(STUCK)
    words = ["eval", "--skills", str(make_skill(ANSWERING)), "--tasks", str(tasks(task("a", "a"), task("b", "b")))]
    words += ["--concurrency", "1", "--plugin", "stuck.py", "--check", "stuck"]
    process = subprocess.Popen([str(PROGRAM), *words], cwd=work, env=environment, stderr=subprocess.PIPE)
    try:
        while not (work / "stuck").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        time.sleep(3 * PATIENCE_S)  # counted from when the first was heard, which on a busy machine is later than now
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()  # what does not end fails this test, and is no load for the next
    assert process.returncode == 130, stderr
    assert stderr.splitlines()[-1] == b"interrupted"
    assert "done before the interruption and not run again: 1 trial" in program(*words).stderr


@pytest.mark.e2e
@pytest.mark.parametrize(("env", "here"), [({}, "none is set"), ({"ACME_WORDS": "made-up-1"}, "set: ACME_WORDS")])
def test_a_dry_run_tells_the_secret_of_a_scorer(
    program: Program, make_skill: MakeSkill, tasks: Callable[..., Path], env: dict[str, str], here: str
) -> None:
    """P-N11: as that of an engine or a judge, before anything connects."""
    plugin = Path(program.work) / "echoed.py"
    plugin.write_text(SCORER.replace('summary="Asks', 'traits=Traits(secrets=("ACME_WORDS",)), summary="Asks'))
    words = ("--skills", make_skill(), "--tasks", tasks(task("a", "x")), "--plugin", plugin)
    done = program("eval", *words, "--check", 'echoed={"port": 1}', "--dry-run", env=env)
    assert done.code == 0, done.stderr
    assert f"scorer 'echoed' needs a key: ACME_WORDS ({here})" in done.stdout
