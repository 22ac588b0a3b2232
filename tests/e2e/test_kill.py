"""A run that is killed goes on where it stopped: no committed result is bought twice, and the report is the same."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import PROGRAM, Program

from .conftest import MakeSkill, task

Tasks = Callable[..., Path]

COUNTING = """import json, os, sys
request = json.loads(sys.stdin.read())
say = request["params"]["say"]
with open({log!r}, "a") as file:
    file.write(say + "\\n")
print(json.dumps({{"jsonrpc": "2.0", "id": 1, "result": say}}))
"""


def committed(store: Path) -> set[str]:
    """Case ids with a committed result in the newest run."""
    if not store.exists():
        return set()
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
            (newest,) = database.execute("SELECT max(run) FROM runs").fetchone()
            rows = database.execute(
                "SELECT json_extract(body, '$.case_id') FROM results JOIN groups USING (grp) WHERE run = ?", (newest,)
            )
            return {row[0] for row in rows}
    except (sqlite3.OperationalError, sqlite3.DatabaseError):
        return set()  # not made yet, or half made


def kill_after(command: list[str], done: Callable[[], bool], cwd: Path, env: dict[str, str]) -> bool:
    """Start a command, kill it with SIGKILL as soon as something holds; tells whether it was still running."""
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while process.poll() is None and not done() and time.monotonic() < deadline:
        time.sleep(0.01)  # looking costs the run its time
    alive = process.poll() is None
    if alive:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return alive


def without_times(path: Path) -> Any:
    """A report without what differs between any two runs."""
    reports = json.loads(path.read_text())
    for report in reports:
        for key in ("timestamp", "latency"):
            del report[key]
        del report["summary"]["compositeScore"]  # made of latencies
        for one in report["taskResults"]:
            del one["latencyMs"]
    return reports


@pytest.mark.e2e
@pytest.mark.slow
def test_500_tasks_killed_in_the_middle(
    program: Program, work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks
) -> None:
    """The resumed run does not repeat a committed trial, and its report equals that of an undisturbed run."""
    log = work / "calls.log"
    log.touch()
    skill = make_skill(COUNTING.format(log=str(log)), entrypoint="python3 -I -S skill.py")
    file = tasks(*(task(f"t{number:03}", f"t{number:03}") for number in range(500)))
    command = ["eval", "--skills", str(skill), "--tasks", str(file)]
    store = work / "skillgauge.db"
    assert kill_after([str(PROGRAM), *command], lambda: len(committed(store)) > 200, work, environment)
    safe = committed(store)
    assert 200 < len(safe) < 500
    calls_before = Counter(log.read_text().split())
    done = program.process(*command)
    assert done.code == 0, done.stderr
    assert "resuming run" in done.stderr
    assert f"done before the interruption and not run again: {len(safe)} trials" in done.stderr
    calls = Counter(log.read_text().split())
    assert all(calls[name] == calls_before[name] == 1 for name in safe)
    assert set(calls) == {f"t{number:03}" for number in range(500)}
    resumed = without_times(work / "reports" / "eval-result.json")
    undisturbed = program.process(*command, "--fresh", "--output-dir", "other", "--store", "none")
    assert undisturbed.code == 0
    assert resumed == without_times(work / "other" / "eval-result.json")


@pytest.mark.e2e
@pytest.mark.slow
def test_twenty_more_kill_points(
    program: Program, work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks
) -> None:
    """Wherever the kill falls, the next run finishes the work and repeats nothing that was committed."""
    log = work / "calls.log"
    skill = make_skill(COUNTING.format(log=str(log)), entrypoint="python3 -I -S skill.py")
    file = tasks(*(task(f"t{number:02}", f"t{number:02}") for number in range(24)))
    chance = random.Random(20)
    store = work / "skillgauge.db"
    command = ["eval", "--skills", str(skill), "--tasks", str(file)]
    for point in range(20):
        log.write_text("")
        for leftover in work.glob("skillgauge.db*"):
            leftover.unlink()
        limit = time.monotonic() + chance.uniform(0.05, 0.9)
        at = chance.randrange(1, 24)
        by_count = point % 2 == 0
        kill_after(
            [str(PROGRAM), *command],
            lambda at=at, limit=limit, by_count=by_count: (  # type: ignore[misc]  # defaults bind the loop variables
                len(committed(store)) >= at if by_count else time.monotonic() > limit
            ),
            work,
            environment,
        )
        safe = committed(store)
        finished_before = _state(store) == "finished"
        done = program.process(*command)
        assert done.code == 0, f"point {point}: {done.stderr}"
        assert done.verdict == "done: 24 of 24 passed"
        calls = Counter(log.read_text().split())
        if not finished_before:
            assert all(calls[name] == 1 for name in safe), f"point {point}: a committed trial ran again"
        with sqlite3.connect(store) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _state(store: Path) -> str | None:
    if not store.exists():
        return None
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
            row = database.execute("SELECT state FROM runs ORDER BY started_at DESC LIMIT 1").fetchone()
            return row[0] if row else None
    except sqlite3.OperationalError:
        return None


@pytest.mark.slow
@pytest.mark.requirement("ES-DEFECT-28")
@pytest.mark.e2e
def test_interrupting_writes_a_partial_report_and_resumes(
    program: Program, work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks
) -> None:
    """Ctrl-C ends the run with 130 and a report of what is done; the same command finishes it."""
    gate = work / "gate"
    code = f"""import json, os, sys, time
request = json.loads(sys.stdin.read())
say = request["params"]["say"]
if say == "late":
    while not os.path.exists({str(gate)!r}):
        time.sleep(0.02)
print(json.dumps({{"jsonrpc": "2.0", "id": 1, "result": say}}))
"""
    file = tasks(task("a", "a"), task("b", "b"), task("late", "late"))
    command = ["eval", "--skills", str(make_skill(code)), "--tasks", str(file)]
    process = subprocess.Popen(
        [str(PROGRAM), *command], cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while len(committed(work / "skillgauge.db")) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert stderr.decode().strip().splitlines()[-1].startswith("interrupted: 2 of 3 trials are done")
    (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
    assert [one["taskId"] for one in report["taskResults"]] == ["a", "b"]
    gate.touch()
    done = program.process(*command)
    assert done.code == 0
    assert "resuming run" in done.stderr
    assert done.verdict == "done: 3 of 3 passed"
