"""Functions that are called as skills, by themselves and by the whole program."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Blame, CallRequest, Execution, FailureClass, Limits, SandboxSpec, Target, thaw
from skillgauge_adapter_python.adapter import python_adapter
from skillgauge_testkit import (
    ADAPTERS,
    AdapterInputs,
    Maker,
    TemporarySandbox,
    check_adapter,
    check_light_import,
    check_plugin,
)

MODULE = "skillgauge_adapter_python.plugin"

SKILL = """
import asyncio, json, os, time

def run(data):
    if data == "crash":
        os._exit(1)
    if data == "raise":
        raise ValueError("no good")
    if data == "garble":
        return object()
    if data == "wait":
        time.sleep(60)
    return dict(os.environ) if data == "env" else {"echo": data}

async def later(data):
    await asyncio.sleep(60 if data == "wait" else 0)
    return run(data)
"""


def skill(folder: Path, code: str = SKILL, **changes: Any) -> Target:
    """A target that is a file in a folder."""
    (folder / "skill.py").write_text(code)
    return Target(**{"id": "echo", "adapter": "custom", "entrypoint": "skill.py", "root": str(folder), **changes})


def call(target: Target, value: Any) -> Execution:
    """One call in a session of its own."""

    async def main() -> Execution:
        async with TemporarySandbox().open(SandboxSpec(label="t")) as workspace:
            session = await python_adapter().open(target, workspace)
            request = CallRequest(trial_id="t", case_id="c", input=value, limits=Limits(timeout_s=30))
            execution = await session.call(request)
            await session.close()
            return execution

    return asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("entrypoint", ["skill.py", "skill:later"])
def test_contract(tmp_path: Path, entrypoint: str) -> None:
    """Calls answer who asked, fail as facts, and end when they are to end."""
    check_adapter(
        Maker(ADAPTERS, MODULE),
        skill(tmp_path, entrypoint=entrypoint),
        AdapterInputs(
            good={"a": 1},
            other={"b": [1, 2.5, None]},
            slow="wait",
            failing=["crash", "raise", "garble"],
            environment="env",
        ),
        failing_targets=[
            skill(tmp_path, id="no-function", entrypoint="skill:json"),
            skill(tmp_path, id="no-module", entrypoint="no_such_module_anywhere:run"),
        ],
        wrong_targets=[
            skill(tmp_path, entrypoint=""),
            skill(tmp_path, entrypoint="absent.py"),
            skill(tmp_path, entrypoint="skill.py:absent"),
            skill(tmp_path, config={"python": "no-such-program-anywhere"}),
        ],
    )


def test_announcement() -> None:
    """Hook, provider and both entry points fit together, and announcing imports nothing heavy."""
    check_plugin(MODULE, "adapters")
    check_light_import(MODULE)


@pytest.mark.parametrize(
    "code",
    [
        "def run(data): return [data]",
        "def run(data, /, other=1): return [data]",
        "async def run(*data): return list(data)",
        "run = lambda data: (data,)",
        "class run:\n    __await__ = None\n    def __new__(cls, data): return [data]",
        "class Skill:\n    async def __call__(self, data): return [data]\nrun = Skill()",
    ],
)
def test_whatever_takes_one_positional_argument_is_called(tmp_path: Path, code: str) -> None:
    """Functions, coroutine functions, classes and objects with `__call__` get the input as it is."""
    execution = call(skill(tmp_path, code), {"query": "naïve 🚀"})
    assert execution.failure is None
    assert thaw(execution.output) == [{"query": "naïve 🚀"}]
    assert execution.usage is None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("run = 3", "cannot be loaded: TypeError: the entrypoint names an object of type int, which cannot be called"),
        ("def run(): ...", "TypeError: run() takes 0 positional arguments but 1 was given"),
        ("async def run(data): raise LookupError('gone')", "LookupError: gone"),
    ],
)
def test_a_function_that_cannot_be_called_says_why(tmp_path: Path, code: str, message: str) -> None:
    """The failure is the target's, with type and text of the exception."""
    failure = call(skill(tmp_path, code), {}).failure
    assert failure is not None
    assert (failure.failure_class, failure.blame, failure.message) == (FailureClass.CRASH, Blame.TARGET, message)


DESCRIBED = {"id": "adder", "name": "Adder", "version": "1.0.0", "description": "", "entrypoint": "adder:add"}


def task(name: str, data: dict[str, object], value: str, **more: object) -> dict[str, object]:
    """A task of a benchmark."""
    expected = {"type": "exact", "value": value}
    item = {"id": name, "description": name, "inputData": data, "expectedOutput": expected}
    return {**item, "evaluator": {"type": "exact"}, **more}


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    """An adder that prints, and tasks that it passes, fails, breaks on and never answers."""
    (tmp_path / "adder.py").write_text(
        textwrap.dedent("""
        import asyncio, os
        from numbers_of import numbers

        async def add(data):
            print("adding", data)
            if data.get("do") == "die":
                os._exit(9)
            if data.get("do") == "wait":
                await asyncio.sleep(60)
            return {"result": str(sum(numbers(data)))}
        """)
    )
    (tmp_path / "numbers_of.py").write_text("def numbers(data):\n    return data['a'], data['b']\n")
    (tmp_path / "skill.json").write_text(json.dumps({**DESCRIBED, "adapterType": "custom"}))
    tasks = [
        task("right", {"a": 1, "b": 2}, "3"),
        task("wrong", {"a": 1, "b": 2}, "4"),
        task("raises", {"a": 1}, "1"),
        task("dies", {"do": "die"}, "1"),
        task("waits", {"do": "wait"}, "1", timeoutMs=300),
        task("again", {"a": 2, "b": 2}, "4"),
    ]
    path = tmp_path / "adding.json"
    path.write_text(json.dumps({"id": "adding", "name": "Adding", "version": "1.0.0", "tasks": tasks}))
    return path


def skillgauge(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the program in a clean environment."""
    environment = {"HOME": str(cwd), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "skillgauge", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.skipif(not find_spec("skillgauge_format_eval_skills"), reason="needs the format plugin")
@pytest.mark.requirement("ES-ADAPT-007")
@pytest.mark.parametrize("adapter", ["custom", "python"])
def test_the_whole_program(tmp_path: Path, benchmark: Path, adapter: str) -> None:
    """`eval` serves adapterType custom: each task has its own outcome, and the run is valid."""
    (tmp_path / "skill.json").write_text(json.dumps({**DESCRIBED, "adapterType": adapter}))
    done = skillgauge("eval", "--skills", "skill.json", "--benchmark", str(benchmark), "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "adding {'a'" not in done.stdout
    (report,) = json.loads((tmp_path / "reports" / "eval-result.json").read_text())
    told = {one["taskId"]: (one["status"], one.get("error")) for one in report["taskResults"]}
    assert {name: status for name, (status, _) in told.items()} == {
        "right": "pass",
        "wrong": "fail",
        "raises": "error",
        "dies": "error",
        "waits": "timeout",
        "again": "pass",
    }
    assert "KeyError: 'b'" in str(told["raises"])
    assert "exited with code 9" in str(told["dies"])


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.skipif(not find_spec("skillgauge_format_eval_skills"), reason="needs the format plugin")
@pytest.mark.requirement("ES-ADAPT-007")
def test_what_cannot_work_is_said_before_anything_runs(tmp_path: Path, benchmark: Path) -> None:
    """A name that is not there and a misspelt setting end with exit code 2, and both are told."""
    (tmp_path / "skill.json").write_text(
        json.dumps({**DESCRIBED, "adapterType": "custom", "entrypoint": "adder.py:ad"})
    )
    (tmp_path / "adapter.config.json").write_text(json.dumps({"type": "custom", "phyton": sys.executable}))
    done = skillgauge("eval", "--skills", "skill.json", "--benchmark", str(benchmark), cwd=tmp_path)
    assert done.returncode == 2
    assert "adder.py has no 'ad' (did you mean add" in done.stderr
    assert "unknown key 'phyton' (did you mean python?)" in done.stderr
