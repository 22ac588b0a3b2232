"""Shell commands as a way to call a target, and the contract of adapters."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Blame, CallRequest, Execution, FailureClass, Limits, SandboxSpec, Target
from skillgauge_adapter_command.adapter import CommandAdapter
from skillgauge_testkit import (
    ADAPTERS,
    AdapterInputs,
    Maker,
    TemporarySandbox,
    check_adapter,
    check_light_import,
    check_plugin,
)

MODULE = "skillgauge_adapter_command.plugin"
TARGET = Target(id="echo", adapter="command")
PYTHON = f'"{sys.executable}" -I -S -c'


def steps(*commands: str, **more: Any) -> dict[str, Any]:
    """The input of a case that runs some commands."""
    return {"steps": [{"command": command} for command in commands], **more}


def call(said: object, *, timeout_s: float | None = 20, **more: Any) -> Execution:
    """What comes of one call."""

    async def called() -> Execution:
        async with TemporarySandbox().open(SandboxSpec(label="c")) as workspace:
            (workspace.root / "inner").mkdir()
            session = await CommandAdapter().open(TARGET, workspace)
            limits = Limits(timeout_s=timeout_s, output_bytes=more.pop("output_bytes", None))
            request = CallRequest(trial_id="t", case_id="c", input=said, limits=limits, **more)
            try:
                return await session.call(request)
            finally:
                await session.close()

    return asyncio.run(called())


@pytest.mark.slow
def test_adapter() -> None:
    """Calls answer who asked, fail as facts, and end when they are to end."""
    check_adapter(
        Maker(ADAPTERS, MODULE),
        TARGET,
        AdapterInputs(
            good=steps("echo a"),
            other=steps("echo b"),
            slow=steps("exec sleep 60"),
            failing=[steps("kill -9 $$"), "echo", {"steps": []}],
            environment=steps("env"),
        ),
    )


def test_streams_and_exit_code_are_the_answer() -> None:
    """A command that exits with another code than 0 has answered, and has not failed."""
    done = call(steps("cat; echo wrong >&2; exit 3", stdin="a line\n"))
    assert (done.output, done.stdout, done.stderr, done.exit_code) == ("a line\n", "a line\n", "wrong\n", 3)
    assert done.failure is None


def test_commands_run_up_to_the_first_that_does_not_succeed() -> None:
    """All get the same stdin; the streams are those of all, the exit code is the last one's."""
    done = call(steps("cat; echo one >&2", "cat; exit 2", "echo never", stdin="in "))
    assert (done.stdout, done.stderr, done.exit_code) == ("in in ", "one\n", 2)


def test_place_and_variables() -> None:
    """Commands run where the case says, with its variables before those of the adapter, and a plain language."""
    said = steps('printf "%s|%s|%s|%s" "${PWD##*/}" "$LANG" "$TOP" "${HOME:+home}"', cwd="inner", root_variable="TOP")
    place, language, top, home = str(call(said).stdout).split("|")
    assert (place, language, home) == ("inner", "C.UTF-8", "home")
    assert Path(top).is_absolute()
    assert str(call(said, env={"TOP": "."}).stdout).split("|")[2] == "."


@pytest.mark.parametrize("of_step", [True, False])
def test_time_limit(of_step: bool) -> None:
    """Whichever limit is shorter ends the command with all that it has started, and its words are kept."""
    said = {"steps": [{"command": "echo begun; sleep 60 & wait", "timeout_s": 0.3 if of_step else 60}]}
    done = call(said, timeout_s=60 if of_step else 0.3)
    assert done.failure is not None
    assert (done.failure.failure_class, done.failure.blame) == (FailureClass.TIMEOUT, Blame.TARGET)
    assert done.failure.message == "timeout after 0.3 s"
    assert done.stdout == "begun\n"


def test_output_beyond_the_limit_is_dropped_and_told() -> None:
    """Bytes that are no text are replaced, and a cut is a fact."""
    done = call(steps(rf"""{PYTHON} 'import os; os.write(1, b"\xff" * 100)'"""), output_bytes=10)
    assert done.stdout == "\N{REPLACEMENT CHARACTER}" * 10
    assert done.truncated


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "adapters")
    check_light_import(MODULE)
