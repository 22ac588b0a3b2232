"""`watch` as a process: files change, cases run again, and Ctrl-C leaves nothing behind."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from skillgauge_testkit.leftovers import command_lines
from skillgauge_testkit.program import PROGRAM, Program

LIMIT_S = 100
"""For what takes a second, on a machine that is busy."""
MOCK = ("--engine", "mock", "--set", "engines.mock.script=mock.yaml", "--no-baseline")


class Watching:
    """A running `watch`, and what it says."""

    def __init__(self, *arguments: str, cwd: Path, env: dict[str, str]) -> None:
        command = [PROGRAM, "watch", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.rstrip())

    def close(self) -> None:
        """Read to the end, once the process has ended."""
        self._reader.join(LIMIT_S)
        assert self.process.stdout
        self.process.stdout.close()

    def until(self, *texts: str) -> list[str]:
        """The lines up to one that holds any of these texts."""
        lines: list[str] = []
        while not lines or not any(text in lines[-1] for text in texts):
            try:
                lines.append(self._lines.get(timeout=LIMIT_S))
            except queue.Empty:
                raise AssertionError("\n".join([*self.said, *lines])) from None
        self.said += lines
        return lines

    def end(self, number: int = signal.SIGINT) -> tuple[int, list[str]]:
        """Send a signal; exit code and the last lines."""
        self.process.send_signal(number)
        code = self.process.wait(LIMIT_S)
        self._reader.join(LIMIT_S)
        return code, list(self._lines.queue)


@pytest.fixture
def skill(work: Path) -> Path:
    """A skill of two cases, of which the second fails, and the script of its agent."""
    folder = work / "greet"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nSay hello.\n")
    write_evals(folder, "hello", "goodbye")
    write_script(work, text="hello")
    return folder


def write_evals(folder: Path, *wanted: str) -> None:
    """The cases of the skill: each wants a word."""
    evals = [
        {"id": place, "prompt": f"Greet {place}.", "assertions": [{"type": "contains", "value": word}]}
        for place, word in enumerate(wanted)
    ]
    (folder / "evals/evals.json").write_text(json.dumps({"skill_name": folder.name, "evals": evals}))


def write_script(work: Path, **reply: object) -> None:
    """What the agent does."""
    (work / "mock.yaml").write_text(yaml.safe_dump({"replies": [reply]}))


Start = Callable[..., Watching]


@pytest.fixture
def start(work: Path, environment: dict[str, str]) -> Iterator[Start]:
    """Starts `watch`; what is still running afterwards is ended."""
    started: list[Watching] = []

    def begin(*arguments: str) -> Watching:
        started.append(Watching(*arguments, cwd=work, env=environment | {"SKILLGAUGE_SANDBOX": "local"}))
        return started[-1]

    yield begin
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
        one.close()


def left_behind(mark: str) -> list[str]:
    """Command lines of processes that hold a text."""
    return [line for pid, line in command_lines().items() if mark in line and pid != os.getpid()]


@pytest.mark.e2e
@pytest.mark.slow
def test_what_is_affected_runs_again(start: Start, work: Path, skill: Path) -> None:
    """All cases first, then those whose check, skill or script changed; a broken suite is told and does not end it."""
    watching = start("greet", *MOCK)
    first = watching.until("watching greet")
    assert "done: 1 of 2 passed" in "".join(first)

    write_evals(skill, "hello", "hell")
    second = watching.until("watching greet")
    assert second[0] == "changed: greet/evals/evals.json"
    assert "--changed: 1 case since" in "".join(second)
    assert [line for line in second if line.startswith("done: 1 of 1 passed")]

    (skill / "SKILL.md").write_text("---\nname: greet\ndescription: Greets well.\n---\n")
    third = watching.until("watching greet")
    assert [line for line in third if line.startswith("done: 2 of 2 passed")]

    write_script(work, text="moin")
    fourth = watching.until("watching greet")
    assert fourth[0] == "changed: mock.yaml"
    assert [line for line in fourth if line.startswith("done: 0 of 2 passed")]

    (skill / "evals/evals.json").write_text("{")
    fifth = watching.until("watching greet")
    assert [line for line in fifth if "evals.json:1:" in line]

    write_evals(skill, "moin", "hell")
    sixth = watching.until("watching greet")
    assert [line for line in sixth if line.startswith("done: 1 of 1 passed")]

    code, last = watching.end()
    assert code == 0
    assert last[-1] == "done: watched, 6 runs"
    assert left_behind(str(work)) == []


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_run_ends_all_of_it(start: Start, work: Path, skill: Path, number: int) -> None:
    """The run under way and what it started are gone when the command is."""
    mark = f"sleep 3141.{os.getpid()}"
    os.mkfifo(work / "began")
    write_script(work, text="hello", run=f"echo began > {work}/began; exec {mark}")
    watching = start("greet", *MOCK, "-j", "1")
    with (work / "began").open() as pipe:
        assert pipe.readline() == "began\n"
    code, _ = watching.end(number)
    assert code == 130
    assert left_behind(mark) == []
    assert left_behind(str(work)) == []


@pytest.mark.e2e
@pytest.mark.slow
def test_what_runs_write_runs_nothing(start: Start, work: Path, skill: Path) -> None:
    """Reports, store and recordings in the watched folder; a file that each run changes stops counting."""
    write_script(work, text="hello", run=f"date +%N >> {work}/greet/notes.txt")
    watching = start(*MOCK, "--record", "recordings", "--output-dir", "out", "greet", ".")
    lines = watching.until("greet/notes.txt changes whenever cases run")
    assert [line for line in lines if line.startswith("changed: ")] == ["changed: greet/notes.txt"] * 2
    watching.until("watching .")
    write_evals(skill, "hello", "hell")
    watching.until("changed: greet/evals/evals.json")
    watching.until("watching .")
    assert watching.end()[0] == 0


def test_one_document_is_not_enough(program: Program, skill: Path) -> None:
    """What makes no sense is refused before anything runs, all at once."""
    done = program("watch", "greet", "--json", "--store", "none")
    assert done.code == 2
    assert [one["message"] for one in done.document["problems"]] == [
        "--json is one document, and watch has one of every run",
        "without a store nobody knows which cases are affected",
    ]


@pytest.mark.parametrize("words", [("watch", "greet", "--trust-config"), ("--trust-config", "watch", "greet")])
def test_no_file_is_trusted_before_it_is_written(program: Program, skill: Path, words: tuple[str, ...]) -> None:
    """What runs may write the configuration beside itself, and the next round would obey it."""
    assert skill.is_dir()
    done = program(*words)
    assert done.code == 2
    assert "watch.trust" in done.stderr
    assert "config trust" in done.stderr


def test_options_are_those_of_eval(program: Program) -> None:
    """But for those that choose otherwise; a wrong one is told at once."""
    told = program("watch", "--help", "--all").stdout
    assert "--fail-fast" in told
    assert "--min-completion" in told
    assert "--skill-path" in told
    assert "--dry-run" not in told
    done = program("watch", "--engin", "mock")
    assert (done.code, "No such option" in done.stderr) == (2, True)
