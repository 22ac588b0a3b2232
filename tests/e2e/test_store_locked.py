"""A store that another process has locked: it is waited for, and where that takes too long nothing is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Program

from .conftest import MakeSkill, task

pytestmark = pytest.mark.e2e

Tasks = Callable[..., Path]

HOLDER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""
STEPS = 4
"""Tasks of a run; the lock is there while the third is at work."""


@contextmanager
def lock(file: Path) -> Iterator[None]:
    """Another process has the file locked."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with holder:  # its end closes stdin, which ends the process
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        yield


class Run:
    """A run whose third task waits until it is told to go on."""

    def __init__(self, work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks) -> None:
        self.store = work / "skillgauge.db"
        self._work, self._environment = work, environment
        self._gate, self._told = work / "gate", work / "executed.txt"
        os.mkfifo(self._gate)
        code = f"""import json, sys
request = json.loads(sys.stdin.read())
say = request["params"]["say"]
with open({str(self._told)!r}, "a") as told:
    told.write(say + " ")
if say == "2":
    open({str(self._gate)!r}, "w").close()  # waits for a reader
    open({str(self._gate)!r}).close()  # waits for a writer
print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": say}}))
"""
        file = tasks(*(task(f"t{number}", str(number)) for number in range(STEPS)))
        self.command = ["eval", "--skills", make_skill(code), "--tasks", file, "--concurrency", "1"]

    @contextmanager
    def started(self) -> Iterator[subprocess.Popen[str]]:
        """A process of it."""
        command = [PROGRAM, *self.command]
        with subprocess.Popen(
            command, cwd=self._work, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def until_the_third(self) -> None:
        """Come back when the third task is at work, and the results before it, which wait a moment, are stored."""
        self._gate.open().close()
        deadline = time.monotonic() + 30
        while self.stored() != [0, 1]:
            assert time.monotonic() < deadline, self.stored()
            time.sleep(0.01)

    def let_go_on(self) -> None:
        """Let the third task end."""
        self._gate.open("w").close()

    def executed(self) -> list[str]:
        """What the skill was asked, in order."""
        return self._told.read_text().split() if self._told.exists() else []

    def stored(self) -> list[int]:
        """Place of the case of each result in the store."""
        with closing(sqlite3.connect(self.store)) as db:
            return [one for (one,) in db.execute("SELECT case_index FROM results ORDER BY case_index")]


@pytest.fixture
def run(work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks) -> Run:
    """The run."""
    return Run(work, environment, make_skill, tasks)


ALL = list(range(STEPS))


@pytest.mark.slow
def test_a_short_lock_is_waited_for(run: Run) -> None:
    """Whoever holds it for a moment costs nothing: every result is there, once."""
    with run.started() as process:
        run.until_the_third()
        with lock(run.store):
            run.let_go_on()
        assert process.wait(timeout=60) == 0
    assert run.stored() == ALL
    assert run.executed() == list("0123")


@pytest.mark.slow  # it takes as long as a lock is waited for
@pytest.mark.parametrize("when", ["before", "during"])
def test_a_long_lock_loses_nothing(run: Run, program: Program, when: str) -> None:
    """A line that says what to do, exit 2, and the same command goes on after what was stored."""
    if when == "before":
        run.store.touch(mode=0o600)
        with lock(run.store), run.started() as process:
            said = process.communicate(timeout=120)[1]
    else:
        with run.started() as process:
            run.until_the_third()
            with lock(run.store):
                run.let_go_on()
                said = process.communicate(timeout=120)[1]
    assert process.returncode == 2, said
    assert "error[store.busy]" in said
    assert "locked by another program for too long" in said
    assert "Close the program that holds it open, then run the same command again" in said
    assert "Traceback" not in said
    executed = run.executed()
    assert executed == ([] if when == "before" else list("012"))
    with run.started() as process:
        run.until_the_third()
        run.let_go_on()
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 0, said
    assert run.executed() == executed + list("0123" if when == "before" else "23")  # what was stored is not made again
    assert run.stored() == ALL
    assert "4 of 4" in program("history", "list", "--store", run.store).stdout
