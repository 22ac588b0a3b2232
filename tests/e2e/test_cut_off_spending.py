"""What a session used counts although a stop or a kill of the run cut it off: real agent programs, real signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import RunQuery
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.store import SqliteStore
from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, run_shell
from skillgauge_testkit.program import PROGRAM, Done, Program

KEY = "made-up-key-of-the-tests-0123456789"
CALLS = 4
"""Answers of the model that a session needs."""
INPUT, OUTPUT = (1000, 1100, 1200, 1300), (20, 21, 22, 9)
"""Tokens of each."""
CUT = sum(INPUT[:-1]) + sum(OUTPUT[:-1])
"""Tokens of a session that is cut off while it waits for its last answer."""
WHOLE = sum(INPUT) + sum(OUTPUT)

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

ENGINES = {
    "claude-code": ("claude", "ANTHROPIC_API_KEY", "claude-sonnet-4-5", ""),
    "codex": ("codex", "OPENAI_API_KEY", "gpt-5.5", "/v1"),
}


class SlowModel:
    """A model that lets a session make some calls of a tool, and keeps its last answer back."""

    def __init__(self) -> None:
        self.is_held = True

    def __call__(self, request: ModelRequest) -> ModelReply:
        """Answer a request by its place in the session."""
        turn = request.turn
        if turn < CALLS - 1:
            return ModelReply("I work.", INPUT[turn], OUTPUT[turn], tools=[run_shell(f"echo {turn}")])
        return ModelReply("done", INPUT[turn], OUTPUT[turn], delay_s=50.0 if self.is_held else 0.0)


@dataclass
class Case:
    """One case of one skill, and the program that evaluates it."""

    work: Path
    program: Program
    environment: dict[str, str]
    model: SlowModel
    command: Sequence[str]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Run the command in the background."""
        return subprocess.Popen(
            [str(PROGRAM), *self.command, *arguments],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def cut_off_sessions(self) -> int:
        """Count the sessions without a result of which the store knows all that was answered before the last call."""
        store = SqliteStore(SqliteOptions(location=str(self.work / "skillgauge.db")))
        sources = (view.source for view in store.scan(RunQuery()))
        attempts = [one.attempts[-1].usage for source in sources for one in source.unfinished()]
        return sum(usage is not None and usage.all_tokens == CUT for usage in attempts)

    def wait_for_last_call(self, process: subprocess.Popen[str], before: int) -> None:
        """Wait until one more session than before was asked its last call, and what it used until then is stored."""
        deadline = time.monotonic() + 120
        while self.cut_off_sessions() <= before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)

    def interrupt(self, ending: signal.Signals, *arguments: str) -> tuple[int, str, str]:
        """Run the command, send the signal while its session waits for its last answer, and wait for its end."""
        before = self.cut_off_sessions()
        process = self.start(*arguments)
        self.wait_for_last_call(process, before)
        if process.poll() is None:  # else what it says is what went wrong
            os.kill(process.pid, ending)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def finish(self, *arguments: str) -> Done:
        """Run the command to its end."""
        self.model.is_held = False
        return self.program.process(*self.command, *arguments, timeout_s=120)


@pytest.fixture
def make_case(
    program: Program, work: Path, environment: dict[str, str], agent_program: Callable[[str], Path]
) -> Callable[..., Case]:
    """Make the skill, its case and the command for an engine."""

    def make(engine: str, server: ModelServer, model: SlowModel, cases: int = 1) -> Case:
        folder = work / "slow"
        (folder / "evals").mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: slow\ndescription: Takes its time.\n---\nWork.\n")
        check = {"text": "done", "type": "contains", "value": "done"}
        evals = [{"id": number, "prompt": f"go {number}", "assertions": [check]} for number in range(cases)]
        (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "slow", "evals": evals}))
        executable, variable, model_name, path = ENGINES[engine]
        environment[variable] = KEY
        command = ["eval", "slow", "--engine", engine, "--model", model_name, "--no-baseline", "--json"]
        command += ["--set", f"engines.{engine}.base_url={server.url}{path}", "--concurrency", "1"]
        command += ["--set", f"engines.{engine}.program={agent_program(executable)}", "--format", "record"]
        return Case(work, program, environment, model, command)

    return make


def spending(document: dict[str, Any]) -> dict[str, Any]:
    """The `spending` of a run's document."""
    found = document["summary"]["spending"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sandbox", ["relayed", "local"])
def test_three_interrupts_and_the_rest(
    engine: str, sandbox: str, make_case: Callable[..., Case], request: pytest.FixtureRequest
) -> None:
    """Each command counts what the server has answered so far, to the token; the record names every attempt."""
    if sandbox == "relayed":
        request.getfixturevalue("strongest")
    model = SlowModel()
    with ModelServer(model) as server:
        case = make_case(engine, server, model)
        for times in (1, 2, 3):
            code, out, err = case.interrupt(signal.SIGINT)
            assert code == 130, err
            spent = spending(json.loads(out))
            assert (spent["tokens"], spent["cut_off"], spent["unknown"]) == (times * CUT, times, 1), err
        done = case.finish()
    assert done.code == 0, done.stderr
    (result,) = done.document["results"]
    assert spending(done.document)["tokens"] == 3 * CUT + WHOLE
    assert result["execution"]["usage"]["total_tokens"] == WHOLE
    assert (result["attempts"], [one["is_cut_off"] for one in result["given_up"]]) == (4, [True] * 3)
    assert [one["usage"]["total_tokens"] for one in result["given_up"]] == [CUT] * 3


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_killed_run_has_used_counts(engine: str, make_case: Callable[..., Case]) -> None:
    """A run that is killed with its session under way has stored what was used, and the next command counts it."""
    model = SlowModel()
    with ModelServer(model) as server:
        case = make_case(engine, server, model)
        assert case.interrupt(signal.SIGKILL)[0] == -signal.SIGKILL
        done = case.finish()
    assert done.code == 0, done.stderr
    assert (spending(done.document)["tokens"], spending(done.document)["cut_off"]) == (CUT + WHOLE, 1)


def test_a_stop_counts_what_worker_processes_have_used(make_case: Callable[..., Case]) -> None:
    """A session in another process is counted as one in this process is."""
    model = SlowModel()
    with ModelServer(model) as server:
        case = make_case("claude-code", server, model)
        code, out, err = case.interrupt(signal.SIGINT, "--executor", "processes")
    assert (code, spending(json.loads(out))["tokens"]) == (130, CUT), err


def test_a_killed_worker_process_has_told_what_it_used(make_case: Callable[..., Case], work: Path) -> None:
    """The attempt of a worker that dies counts with what it has used, and the run goes on."""
    model = SlowModel()
    with ModelServer(model) as server:
        case = make_case("claude-code", server, model)
        process = case.start("--executor", "processes", "--retries", "1")
        case.wait_for_last_call(process, 0)
        (worker,) = children_of(process.pid, "skillgauge_workers.program")
        model.is_held = False
        os.kill(worker, signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    (result,) = json.loads(out)["results"]
    assert [one["usage"]["total_tokens"] for one in result["given_up"]] == [CUT], err
    assert spending(json.loads(out))["tokens"] == CUT + WHOLE


def test_limits_hold_for_what_was_cut_off(make_case: Callable[..., Case]) -> None:
    """The tokens of cut-off sessions bring a run to its limit, in whichever of its commands they were used."""
    model = SlowModel()
    with ModelServer(model) as server:
        case = make_case("claude-code", server, model)
        limit = ("--max-tokens", str(3 * CUT))
        for times in (1, 2, 3):
            code, out, err = case.interrupt(signal.SIGINT, *limit)
            assert (code, spending(json.loads(out))["tokens"]) == (130, times * CUT), err
        asked = len(server.requests)
        stopped = case.finish(*limit)
        assert stopped.code == 4, stopped.stderr
        assert spending(stopped.document)["tokens"] == 3 * CUT
        assert len(server.requests) == asked


def children_of(pid: int, name: str) -> list[int]:
    """Processes below another one whose command line has a name in it."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes().decode()
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and int(stat[1]) == pid and name in command:
            found.append(int(entry.name))
    return found
