"""The command line run in this process says and does what a process of its own says and does, and leaves nothing."""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillgauge import log
from skillgauge_testkit.leftovers import open_descriptors
from skillgauge_testkit.program import Done, Program, exit_code

PLUGIN = """
import os, sys
from skillgauge.api import get_logger, hookimpl

{before}

@hookimpl
def skillgauge_scorers():
    {inside}
    return ()
"""
CALL = ("plugins", "info", "--plugin", "mine.py", "scorers", "absent")


@pytest.fixture
def plugin(work: Path) -> Callable[..., None]:
    """Writes a single-file plugin that does something when it is imported or asked."""

    def write(before: str = "", inside: str = "pass") -> None:
        (work / "mine.py").write_text(PLUGIN.format(before=before, inside=inside))

    return write


@contextmanager
def unchanged() -> Iterator[None]:
    """Everything that a command could change in this process is afterwards what it was."""

    def state() -> dict[str, object]:
        numbers = sorted(signal.valid_signals())
        return {
            "folder": Path.cwd(),
            "environment": dict(os.environ),
            "streams": (sys.stdin, sys.stdout, sys.stderr),
            "places": [os.fstat(number)[:2] for number in range(3)],
            "words": (sys.argv, list(sys.path)),
            "signals": [signal.getsignal(number) for number in numbers],
            "timer": signal.getitimer(signal.ITIMER_REAL),
            "log": (log._Settings.threshold, log._Settings.clean),
            "plugins": [name for name in sys.modules if name.startswith("skillgauge_file_")],
            "temporary": tempfile.gettempdir(),
            "context": dict(contextvars.copy_context()),
        }

    before = state()
    yield
    assert state() == before


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["--help"],
        [],
        ["evl"],
        ["plugins", "list", "--json"],
        ["config", "list"],
        ["eval", "--skills", "absent", "--json"],
    ],
)
def test_both_ways_agree(program: Program, words: list[str]) -> None:
    """Exit code, stdout and stderr are those of the installed program, for success, help and each kind of mistake."""
    with unchanged():
        assert program(*words) == program.process(*words)


def test_one_command_after_the_other(program: Program, work: Path, tmp_path: Path) -> None:
    """Each sees its own folder, home and variables, and nothing of the one before."""
    (work / "skillgauge.config.yaml").write_text("concurrency: 7\n")
    other = tmp_path / "other"
    other.mkdir()
    home = tmp_path / "elsewhere"

    def concurrency(**more: object) -> object:
        return json.loads(program("config", "get", "concurrency", "--json", **more).stdout)

    with unchanged():
        here = concurrency()
        assert here != concurrency(cwd=other)
        assert here == concurrency()
        assert here != concurrency(env={"SKILLGAUGE_CONCURRENCY": "3"})
        assert here == concurrency(env={"HOME": str(home)})
        assert (home / ".cache/skillgauge").is_dir(), "the index was not kept in the home that was given"


@pytest.mark.parametrize(
    ("ending", "code"), [("sys.exit(9)", 9), ("sys.exit('no')", 1), ("sys.exit()", 0), ("raise KeyError('no')", 1)]
)
def test_how_a_process_would_end(ending: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """What ends an interpreter gives the same code here, and what it has to say is on stderr."""
    assert exit_code(lambda: exec(ending)) == code
    assert ("no" in capsys.readouterr().err) == ("no" in ending)


def test_what_a_plugin_does_to_the_process(program: Program, plugin: Callable[..., None]) -> None:
    """Whatever it changes, prints and lets children print: it is captured, or undone."""
    plugin(
        before="os.environ['MINE'] = '1'\nos.chdir('/')\nsys.path.append('/mine')\nimport signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.system('echo child; echo louder >&2')\nprint('plugin')\n"
        "get_logger('mine').error('mine.said')"
    )
    with unchanged():
        done = program(*CALL)
        again = program(*CALL)
    assert {"child", "plugin"} <= set(done.stdout.splitlines())
    assert "louder" in done.stderr
    assert "mine.said" in done.stderr
    assert "mine.said" in again.stderr, "the second log went to the first one's stream"


def test_no_file_stays_open(program: Program) -> None:
    """However many commands run, no file is open that was not open after the first one."""
    program("--version")
    before = open_descriptors()
    for _ in range(20):
        program("--version")
    assert not open_descriptors() - before


def test_an_interrupt(program: Program, plugin: Callable[..., None]) -> None:
    """Ctrl-C while a command works is exit code 130 and goes no further than the command."""
    plugin(before="import signal\nsignal.raise_signal(signal.SIGINT)")
    with unchanged():
        done = program(*CALL)
    assert (done.code, done.verdict) == (130, "interrupted")


def test_a_command_that_hangs(program: Program, plugin: Callable[..., None]) -> None:
    """It is ended after its time wherever it hangs, here in what may fail, and the test that called it fails."""
    plugin(before="import threading\nthreading.Event().wait()")
    with unchanged(), pytest.raises(TimeoutError, match=r"skillgauge plugins info .* took longer than 0\.2 s"):
        program(*CALL, timeout_s=0.2)


def test_what_needs_a_process(program: Program) -> None:
    """Variables for the start of an interpreter, and a loop that already runs, are refused and not ignored."""

    async def inside() -> Done:
        return program("--version")

    with unchanged():
        with pytest.raises(ValueError, match="PYTHONPATH: read when an interpreter starts"):
            program("--version", env={"PYTHONPATH": "."})
        with pytest.raises(RuntimeError, match="an event loop runs"):
            asyncio.run(inside())
    assert program.process("--version", env={"PYTHONPATH": "."}).code == 0
