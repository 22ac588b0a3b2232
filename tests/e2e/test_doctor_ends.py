"""`plugins doctor` examines several plugins at once, each in a process of its own, and Ctrl-C ends all of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from skillgauge.cli.doctor import ANSWER, REQUEST, Answer, Request
from skillgauge_testkit.program import PROGRAM, TIME_LIMIT_S, Program

WAITING = """
import os, signal
os.write(os.open(os.environ["TOLD"], os.O_WRONLY), b"%d\\n" % os.getpid())  # stays open until the process ends
signal.pause()
"""


SHARING = """
import builtins, os, pathlib
assert not hasattr(builtins, "acme"), "the process of another plugin"
builtins.acme = True
print("noise")
with pathlib.Path("examined").open("a") as file:
    file.write(f"{os.getpid()}\\n")
import click
command = click.Command("acme")
"""
STARTING = """
import os, pathlib
with pathlib.Path(__file__).with_name("started").open("a") as file:
    file.write(f"{os.getpid()}\\n")
"""
DYING = """
import os, signal, sys
print("the last words", file=sys.stderr, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def _installed(work: Path, module: str, count: int) -> None:
    """A distribution of which each command has the same module."""
    (work / "acme-1.dist-info").mkdir()
    (work / "acme-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    entries = "".join(f"acme-{number} = acme:command\n" for number in range(count))
    (work / "acme-1.dist-info/entry_points.txt").write_text(f"[skillgauge.commands]\n{entries}")
    (work / "acme.py").write_text(module)


@pytest.mark.slow
@pytest.mark.e2e
def test_each_has_a_process_of_its_own_and_what_is_common_is_imported_once(program: Program, work: Path) -> None:
    """What one leaves behind is not there for the next; two interpreters start, ours and the one that forks."""
    _installed(work, SHARING, 6)
    (work / "sitecustomize.py").write_text(STARTING)
    done = program.process("plugins", "doctor", "acme", env={"PYTHONPATH": str(work)})
    assert (done.code, done.verdict) == (0, "healthy: 6 of 6 plugins work"), done.stderr
    assert len({*(work / "examined").read_text().split()}) == 6
    assert len((work / "started").read_text().split()) == 2
    assert "noise" not in done.stdout


@pytest.mark.parametrize(
    ("module", "limit_s", "answer"),
    [(DYING, 60.0, Answer(0, -9, "the last words")), ("import signal\nsignal.pause()\n", 0.5, Answer(0, None, ""))],
    ids=["dies", "never ends"],
)
def test_a_child_that_gives_no_answer(work: Path, module: str, limit_s: float, answer: Answer) -> None:
    """It is told of, and the next has its turn; one that is overdue is dead, or this would not end."""
    _installed(work, module, 2)
    environment = {**os.environ, "PYTHONPATH": str(work), "XDG_CACHE_HOME": str(work)}
    words = [sys.executable, "-P", "-m", "skillgauge.cli.fork_server"]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    assert server.stdin
    assert server.stdout
    with server, server.stdin:
        plugins = [("commands", f"acme:acme-{number}") for number in range(2)]
        server.stdin.write(REQUEST.dump_json(Request(plugins, 1, limit_s, {})) + b"\n")
        server.stdin.flush()
        answers = [ANSWER.validate_json(line) for line in server.stdout]
    assert answers == [answer, answer._replace(number=1)]


@pytest.mark.slow
@pytest.mark.e2e
def test_an_interrupted_doctor_leaves_no_process(program: Program, work: Path) -> None:
    """At least four begin before any ends; the signal ends them, those whose turn has not come never start."""
    _installed(work, WAITING, 40)
    told = work / "told"
    os.mkfifo(told)
    environment = {**program.environment, "PYTHONPATH": str(work), "TOLD": str(told)}
    command: list[str | Path] = [PROGRAM, "plugins", "doctor", "acme"]
    doctor = subprocess.Popen(command, cwd=work, env=environment, stderr=subprocess.PIPE, start_new_session=True)
    try:
        with told.open() as lines:
            first = [next(lines) for _ in range(4)]
            doctor.send_signal(signal.SIGINT)
            rest = list(lines)  # ends when nobody is left who could write
        _, said = doctor.communicate(timeout=TIME_LIMIT_S)
    finally:
        doctor.kill()
        doctor.wait()
    assert doctor.returncode == 130
    assert said.decode().splitlines()[-1] == "interrupted"
    assert b"Traceback" not in said
    assert len({*first, *rest}) <= max(4, os.cpu_count() or 1)
