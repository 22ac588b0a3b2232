"""The process that confines a session, a skill or a check is killed from outside, as a system short of memory does."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest

from skillgauge.api import Blame, CallRequest, Execution, FailureClass, JsonValue, Limits, SandboxSpec, Target
from skillgauge_adapter_command.adapter import CommandAdapter
from skillgauge_adapter_mcp.adapter import McpAdapter
from skillgauge_adapter_python.adapter import python_adapter
from skillgauge_adapter_subprocess.adapter import SubprocessAdapter
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox
from skillgauge_testkit.leftovers import command_lines
from skillgauge_testkit.program import PROGRAM

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("strongest")]

PATIENCE_S = 60.0
_KNOWN_S = 1.0
"""After which whoever started a process knows that it runs: one that is lost before is started once more."""
LOST = "the sandbox's own process was ended by signal 9"


def run_and_kill(command: list[object], work: Path, environment: dict[str, str], marker: str) -> tuple[int, list[Any]]:
    """Run a command, kill what confines the process with a marker in its arguments, and return code and results."""
    words = [PROGRAM, *map(str, command), "--sandbox", "bubblewrap", "--store", "none", "--format", "record"]
    with subprocess.Popen(words, cwd=work, env=environment, stdin=subprocess.DEVNULL) as process:
        try:
            os.kill(supervisor_of(marker, process.pid), signal.SIGKILL)
            code = process.wait(PATIENCE_S)
        finally:
            process.kill()
    (record,) = (work / "reports").glob("run-*.record.json")
    return code, json.loads(record.read_text())["results"]


def supervisor_of(marker: str, owner: int) -> int:
    """Wait for a process with a marker in its arguments that is known to run; its ancestor that the owner started."""
    until = time.monotonic() + PATIENCE_S
    while True:
        lines = command_lines()
        for ancestor, line in lines.items():
            if marker not in line or line == lines.get(owner):  # or what it has forked, which has not yet another line
                continue
            while ancestor > 1 and (parent := parent_of(ancestor)) != owner:
                ancestor = parent
            if ancestor > 1:
                time.sleep(_KNOWN_S)
                return ancestor
        assert time.monotonic() < until
        time.sleep(0.02)


def parent_of(pid: int) -> int:
    """Return the parent of a process, 0 if it has gone."""
    try:
        status = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return 0
    return int(status.rpartition(")")[2].split()[1])


@pytest.fixture
def marker() -> str:
    """Seconds to sleep that no other process sleeps."""
    return f"{10_000 + os.getpid()}.875"


def evaluation(work: Path, check: dict[str, str], options: dict[str, Any]) -> list[object]:
    """Write a skill whose only case has one check, and return the command that evaluates it with a program."""
    skill = work / "greeting"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: greeting\ndescription: Greets.\n---\nSay hello.\n")
    case = {"id": 1, "prompt": "greet", "assertions": [check]}
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "greeting", "evals": [case]}))
    settings = [f"engines.command.{name}={json.dumps(value)}" for name, value in options.items()]
    words = [word for setting in settings for word in ("--set", setting)]
    return ["eval", skill, "--engine", "command", "--no-baseline", *words]


@pytest.mark.slow
def test_a_session(work: Path, environment: dict[str, str], marker: str) -> None:
    """It is an error of the infrastructure, whatever the options say of the signal, and the skill has not failed."""
    options = {"argv": ["sleep", marker], "skill_folder": ".skills", "exit_codes": {"137": "failed"}}
    check = {"text": "hello", "type": "contains", "value": "hello"}
    code, (result,) = run_and_kill(evaluation(work, check, options), work, environment, marker)
    failure = result["execution"]["failure"]
    assert (result["verdict"], failure["failure_class"], failure["blame"]) == ("error", "killed", "infrastructure")
    assert LOST in failure["message"]
    assert code == 3


@pytest.mark.slow
def test_a_check(work: Path, environment: dict[str, str], marker: str) -> None:
    """A check that was lost has no verdict, whatever the agent left."""
    check = {"text": "checked", "type": "command", "value": f"exec sleep {marker}"}
    options = {"argv": ["mkfifo", "pipe"], "skill_folder": ".skills"}
    code, (result,) = run_and_kill(evaluation(work, check, options), work, environment, marker)
    assert result["verdict"] == "error"
    assert [score["status"] for score in result["scores"]] == ["ungraded"]
    assert LOST in result["scores"][0]["reason"]
    assert code == 3


SLEEPING = "import os, subprocess, sys\ndef run(_input):\n    subprocess.run(['sleep', '{marker}'])\n"
WORKING = """import json, subprocess, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "invoke":
        subprocess.run(["sleep", "{marker}"])
    print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": "well"}}), flush=True)
"""


@pytest.mark.parametrize("kind", ["subprocess", "worker", "command", "mcp", "python"])
def test_a_skill_that_is_called(tmp_path: Path, kind: str, marker: str) -> None:
    """A skill under direct call is not blamed either, however it is called."""
    (tmp_path / "skill.py").write_text(f"{SLEEPING.format(marker=marker)}if __name__ == '__main__': run(None)\n")
    (tmp_path / "worker.py").write_text(WORKING.format(marker=marker))
    command = f"{sys.executable} -I -S skill.py"
    working = f"{sys.executable} -I -S worker.py"
    known: dict[str, tuple[Any, dict[str, Any], JsonValue]] = {
        "subprocess": (SubprocessAdapter(), {"entrypoint": command}, "x"),
        "worker": (SubprocessAdapter(), {"entrypoint": working, "config": {"worker": True}}, "x"),
        "command": (CommandAdapter(), {}, {"steps": [{"command": f"sleep {marker}"}]}),
        "mcp": (McpAdapter(), {"entrypoint": command, "metadata": {"toolName": "work"}}, {}),
        "python": (python_adapter(), {"entrypoint": "skill.py"}, "x"),
    }
    adapter, told, value = known[kind]

    async def call() -> Execution:
        target = Target(id="skill", root=str(tmp_path), adapter=kind, **told)
        spec = SandboxSpec(label="skill", readable=(str(tmp_path),))
        async with BubblewrapSandbox(BubblewrapOptions()).open(spec) as workspace:
            session = await adapter.open(target, workspace)
            request = CallRequest(trial_id="t", case_id="c", input=value, limits=Limits(timeout_s=PATIENCE_S))
            try:
                return cast("Execution", await session.call(request))
            finally:
                await session.close()

    killer = threading.Thread(target=lambda: os.kill(supervisor_of(marker, os.getpid()), signal.SIGKILL), daemon=True)
    killer.start()
    failure = asyncio.run(call()).failure
    killer.join(PATIENCE_S)
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (FailureClass.KILLED, Blame.INFRASTRUCTURE)
    assert LOST in failure.message
