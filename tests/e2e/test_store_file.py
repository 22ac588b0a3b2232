"""What becomes of the one file that keeps the runs, and what is said of one that cannot be used."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Program

from .conftest import MakeSkill, task

Tasks = Callable[..., Path]


def rows(path: Path) -> int:
    """How many results a database holds."""
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT count(*) FROM results").fetchone()[0])


@pytest.mark.e2e
def test_a_finished_run_is_in_the_file(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """T-S13, F-9: nothing is left beside it, and a copy of it alone has everything."""
    file = tasks(*(task(f"t{number}", "x") for number in range(12)))
    assert program("eval", "--skills", make_skill(), "--tasks", file).code == 0
    assert sorted(path.name for path in work.glob("skillgauge.db*")) == ["skillgauge.db"]
    shutil.copy(work / "skillgauge.db", work / "copy.db")
    assert rows(work / "copy.db") == 12
    assert "12 of 12" in program("history", "list", "--store", "copy.db").stdout


@pytest.mark.slow
@pytest.mark.e2e
def test_it_is_in_the_file_while_others_read(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """A process that keeps the file open keeps nothing out of it."""
    arguments = ["eval", "--skills", make_skill(), "--tasks", tasks(task("one", "x"))]
    assert program(*arguments).code == 0
    with closing(sqlite3.connect(work / "skillgauge.db")) as other:
        assert other.execute("SELECT count(*) FROM results").fetchone() == (1,)
        assert program(*arguments).code == 0
        shutil.copy(work / "skillgauge.db", work / "copy.db")
    assert rows(work / "copy.db") == 2


@pytest.mark.slow
@pytest.mark.e2e
def test_an_interrupted_run_is_in_the_file(
    environment: dict[str, str], work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """After Ctrl-C, too: what had finished is in a copy of the one file."""
    code = f"""import json, os, sys, time
request = json.loads(sys.stdin.read())
if request["params"]["say"] == "wait":
    open({str(work / "waiting")!r}, "w").close()
    time.sleep(600)
print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": "x"}}))
"""
    os.mkfifo(work / "waiting")
    file = tasks(*(task(f"t{number}", "x") for number in range(5)), task("last", "wait"))
    command = [PROGRAM, "eval", "--skills", make_skill(code), "--tasks", file, "--concurrency", "1"]
    with subprocess.Popen(command, cwd=work, env=environment, stderr=subprocess.PIPE) as process:
        with (work / "waiting").open():  # comes back when the last trial has begun, which is after the others
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    assert [path.name for path in work.glob("skillgauge.db*")] == ["skillgauge.db"]
    assert rows(work / "skillgauge.db") == 5


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("command", ["eval", "history"])
@pytest.mark.parametrize("kind", ["text", "cut", "flipped", "folder", "foreign", "newer"])
def test_a_file_that_cannot_be_used(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks, command: str, kind: str
) -> None:
    """T-M4: a line that names it, exit 2, no traceback, and nothing has run."""
    file = work / "runs.db"
    evaluate = ["eval", "--skills", make_skill(), "--tasks", tasks(task("one", "x")), "--store", file]
    if kind == "text":
        file.write_text("not a database, but long enough to be taken for the head of one" * 9)
    elif kind == "folder":
        file.mkdir()
    elif kind == "foreign":
        with closing(sqlite3.connect(file)) as db:
            db.execute("CREATE TABLE theirs (x)")
    else:
        assert program(*evaluate).code == 0
        content = bytearray(file.read_bytes())
        if kind == "cut":
            del content[5000:]
        elif kind == "flipped":
            content[100:4096] = bytes(255 - byte for byte in content[100:4096])
        else:
            content[60:64] = (999).to_bytes(4, "big")
        file.write_bytes(content)
    done = program(*(evaluate if command == "eval" else ["history", "list", "--store", file]))
    assert done.code == 2, done.stderr
    assert done.stderr.startswith("error[store.")
    assert "runs.db" in done.stderr
    assert "Traceback" not in done.stderr
