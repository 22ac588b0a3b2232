"""A session that had finished is graded after a kill, not executed again: real processes and signals."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import PROGRAM

from .test_cut_off_spending import children_of

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

AGENT = Path(__file__).with_name("counted_agent.py")
CHANGES = """mkdir -p out/empty
echo 'case CASE' > out/told.txt
printf '\\377\\000CASE' > out/binary
ln -s told.txt out/link
printf '#!/bin/sh\\necho ran' > out/run.sh
chmod +x out/run.sh
rm "$(find . -name given.txt)"
pwd > out/place.txt
"""
HOLDS = """test "$(cat out/told.txt)" = 'case CASE' && test "$(readlink out/link)" = told.txt && test -d out/empty \
&& test "$(out/run.sh)" = ran && test -z "$(find . -name given.txt)" && test "$(cat out/place.txt)" = "$(pwd)" \
&& test "$(od -An -tx1 -N2 out/binary)" = ' ff 00'"""
LONG_S = 90.0


class Service:
    """Counts finished sessions, by case."""

    def __init__(self) -> None:
        self.finished: Counter[str] = Counter()
        counts = self.finished

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                case = self.path.strip("/")
                counts[case] += 1
                self.send_response(200)
                self.end_headers()
                self.wfile.write(f"done with {case}".encode())

            def log_message(self, *_arguments: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


class Bench:
    """Evaluates one skill whose grading takes its time."""

    def __init__(self, work: Path, environment: dict[str, str], service: Service) -> None:
        self.work, self.environment, self.service = work, environment, service
        self.begun = work / "graded"
        self.begun.mkdir()
        (work / "service.txt").write_text(service.url)
        (work / "changes.sh").write_text(CHANGES)
        self.command = ["eval", "slow", "--plugin", str(AGENT), "--engine", "counted", "--no-baseline", "--json"]
        self.started: list[subprocess.Popen[str]] = []
        self.excused: Counter[str] = Counter()
        """Kills that came between the answer of the service and the grading, by case."""

    def suite(self, cases: int, grading_s: float | None = None) -> None:
        """Write the skill and its cases; without `grading_s` no grading ends before `go`."""
        wait = f"while [ ! -e {self.work}/go ]; do sleep 0.05; done" if grading_s is None else f"sleep {grading_s}"
        folder = self.work / "slow"
        (folder / "evals/files").mkdir(parents=True)
        (folder / "evals/files/given.txt").write_text("given")
        (folder / "SKILL.md").write_text("---\nname: slow\ndescription: Takes its time.\n---\nWork.\n")
        evals = []
        for case in map(str, range(cases)):
            check = f"touch {self.begun}/{case}; {wait}; {HOLDS.replace('CASE', case)}"
            checks = [{"text": "what it left", "type": "command", "value": check}]
            evals.append({"id": int(case), "prompt": f"go {case}", "assertions": checks, "files": ["files/given.txt"]})
        (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "slow", "evals": evals}))

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Run the command in the background."""
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [str(PROGRAM), *self.command, *options],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )
        self.started.append(process)
        return process

    def end(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        """Wait for the end of the command, and read its document."""
        out, err = process.communicate(timeout=LONG_S)
        assert process.returncode == 0, (out, err)
        document: dict[str, Any] = json.loads(out)
        return document

    def go(self) -> None:
        """Let gradings end."""
        (self.work / "go").touch()

    def graded(self) -> set[str]:
        """Cases whose grading has begun."""
        return {path.name for path in self.begun.iterdir()}

    def kill(self, pid: int) -> None:
        """Kill a process, and note which executions may be lost by it."""
        os.kill(pid, signal.SIGKILL)
        self.excused.update(set(self.service.finished) - self.graded())

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something that must happen."""
        end = time.monotonic() + LONG_S
        while not holds():
            assert time.monotonic() < end
            time.sleep(0.01)

    def kept(self) -> list[str]:
        """The ids of trials whose execution is in the store."""
        with sqlite3.connect(self.work / "skillgauge.db") as database:
            return [trial for (trial,) in database.execute("SELECT hex(trial_id) FROM kept")]

    def require_once(self, document: dict[str, Any], cases: int) -> None:
        """Every case has one result that holds, and no more sessions were finished than kills excuse."""
        verdicts = [(one["case_id"], one["verdict"]) for one in document["results"]]
        assert len(verdicts) == len({case for case, _ in verdicts}) == cases
        assert {verdict for _, verdict in verdicts} == {"pass"}
        assert {case: count for case, count in self.service.finished.items() if count > 1 + self.excused[case]} == {}
        assert self.kept() == []


@pytest.fixture
def bench(work: Path, environment: dict[str, str]) -> Iterator[Bench]:
    """A folder to evaluate in; what is still running at the end is killed."""
    service = Service()
    made = Bench(work, environment, service)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
            process.communicate()
    service.close()


def workers_of(process: subprocess.Popen[str]) -> Sequence[int]:
    """The worker processes of a run."""
    return children_of(process.pid, "skillgauge_workers.program")


@pytest.mark.parametrize("store", ["skillgauge.db", "none"])
def test_a_worker_that_dies_over_the_grading(bench: Bench, store: str) -> None:
    """Another one grades what it had executed, the files as they were; the usage counts once."""
    bench.suite(4)
    process = bench.start("--executor", "processes", "--concurrency", "4", "--retries", "3", "--store", store)
    bench.until(lambda: len(bench.graded()) == 4)
    for worker in workers_of(process):
        bench.kill(worker)
    bench.go()
    document = bench.end(process)
    assert bench.service.finished == Counter("0123")
    assert [one["verdict"] for one in document["results"]] == ["pass"] * 4
    assert {one["attempts"] for one in document["results"]} == {2}
    assert document["summary"]["spending"]["tokens"] == 400
    assert document["summary"]["spending"]["unknown"] == 0


@pytest.mark.parametrize("executor", [(), ("--executor", "processes")], ids=["alone", "processes"])
def test_a_run_that_is_killed_over_the_grading(bench: Bench, executor: Sequence[str]) -> None:
    """The same command grades what was executed, and a budget that is used up by it is not passed by."""
    bench.suite(3)
    process = bench.start("--concurrency", "3", *executor)
    bench.until(lambda: len(bench.graded()) == 3)
    bench.kill(process.pid)
    process.communicate(timeout=LONG_S)
    assert len(bench.kept()) == 3
    bench.go()
    document = bench.end(bench.start("--concurrency", "3", *executor))
    assert bench.service.finished == Counter("012")
    bench.require_once(document, 3)
    spending = document["summary"]["spending"]
    assert (spending["tokens"], spending["cost_usd"], spending["unknown"]) == (300, 1.5, 0)


def test_an_interrupted_run_counts_what_waits_to_be_graded(bench: Bench) -> None:
    """Its sessions are in the total once, before they are graded and after."""
    bench.suite(2)
    process = bench.start("--concurrency", "2")
    bench.until(lambda: len(bench.graded()) == 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LONG_S)
    assert process.returncode == 130, err
    assert json.loads(out)["summary"]["spending"]["tokens"] == 200
    bench.go()
    document = bench.end(bench.start("--concurrency", "2", "--max-tokens", "1000"))
    bench.require_once(document, 2)
    assert document["summary"]["spending"]["tokens"] == 200


def test_random_kills_of_workers_and_of_the_run(bench: Bench) -> None:
    """Wherever kills fall, every trial has one result, and what was kept is not executed again."""
    cases, chance = 40, random.Random(134)
    bench.suite(cases, 0.3)
    options = ("--executor", "processes", "--set", "executors.processes.workers=2", "--concurrency", "4")
    options = (*options, "--retries", "5")
    for _ in range(2):
        before = len(bench.graded())
        process = bench.start(*options)
        bench.until(lambda before=before: len(bench.graded()) >= before + 4 or process.poll() is not None)  # type: ignore[misc]  # noqa: B023
        for _ in range(3):
            time.sleep(chance.uniform(0.1, 0.8))
            if workers := workers_of(process):
                bench.kill(chance.choice(workers))
        time.sleep(chance.uniform(0.1, 0.8))
        bench.kill(process.pid)
        process.communicate(timeout=LONG_S)
        bench.until(lambda process=process: not workers_of(process))  # type: ignore[misc]
    document = bench.end(bench.start(*options))
    bench.require_once(document, cases)
    assert len(bench.service.finished) == cases
