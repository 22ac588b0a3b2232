"""The process that confines a command ends before the command: whose doing that is."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Command, Finished, SandboxSpec
from skillgauge_processes import Process
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox
from skillgauge_sandbox_bubblewrap.workspace import BubblewrapWorkspace
from skillgauge_testkit.leftovers import command_lines

pytestmark = pytest.mark.usefixtures("bubblewrap")

PATIENCE_S = 60.0
HOARD = """
import os, time
print("begun", flush=True)
if os.fork() == 0:
    held = bytearray(400 << 20)
    for at in range(0, len(held), 4096): held[at] = 1
    time.sleep(600)
os.wait()
print("killed", flush=True)
time.sleep(600)
"""
"""A child takes more memory than there is, and its parent tells that it was killed for that."""

Meanwhile = Callable[[BubblewrapWorkspace, Process], Awaitable[None]]


def ended(
    argv: tuple[str, ...], meanwhile: Meanwhile | None = None, *, limit_s: float = 60, **options: Any
) -> Finished:
    """Run a command that prints a line when it is at work, do something then, and return how it ended."""

    async def main() -> Finished:
        sandbox = BubblewrapSandbox(BubblewrapOptions(**options))
        async with sandbox.open(SandboxSpec(label="x", network=False)) as workspace:
            command = Command(argv=argv, streamed=True, timeout_s=limit_s)
            running = await workspace.start(command)
            if meanwhile is not None:
                assert await anext(running.lines()) == b"begun"
                await meanwhile(workspace, running)
            return await running.wait()

    return asyncio.run(asyncio.wait_for(main(), PATIENCE_S))


SLEEPING = ("sh", "-c", "echo begun; sleep 600")
ENDED_AT_ONCE = """
import os, signal, sys
from skillgauge_sandbox_bubblewrap.by_bwrap import Contained
from skillgauge_sandbox_bubblewrap.launching import Request

bwrap, mark = sys.argv[1:]
whole = {"network": True, "uid": 0, "common": (), "mounts": ("--ro-bind", "/", "/"), "groups": (), "limits": {}}
request = Request(argv=("true", mark), env={"PATH": os.environ["PATH"]}, cwd="/", processes=1000, filter=None, **whole)
Contained(bwrap, request, (0, 1, 2), {})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.usefixtures("any_way")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_supervisor_is_a_failure_of_the_sandbox(number: signal.Signals) -> None:
    """Nothing within can send it a signal, so its end says nothing about the command."""

    async def kill(_workspace: BubblewrapWorkspace, running: Process) -> None:
        os.kill(running.pid, number)

    finished = ended(SLEEPING, kill)
    assert f"the sandbox's own process was ended by signal {number}" in finished.sandbox_failure
    assert (finished.exit_code, finished.signal, finished.timed_out) == (None, number, False)


def test_a_bwrap_whose_owner_was_killed_meanwhile_leaves_no_process(tmp_path: Path) -> None:
    """It tells of its process 1 where nobody reads any more, and lets that go on to its end all the same."""
    late, mark, began = tmp_path / "bwrap", str(tmp_path / "mark"), tmp_path / "began"
    late.write_text(f"#!/bin/sh\nsleep 0.5\ntouch '{began}'\nexec {shutil.which('bwrap')} \"$@\"\n")
    late.chmod(0o755)
    words = [sys.executable, "-c", ENDED_AT_ONCE, str(late), mark]
    assert subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode == -9
    until = time.monotonic() + PATIENCE_S / 4
    while (not began.exists() or _has(mark)) and time.monotonic() < until:
        time.sleep(0.02)
    assert began.exists()
    assert not _has(mark)


def _has(mark: str) -> list[int]:
    """Processes with a mark in their arguments."""
    return [pid for pid, line in command_lines().items() if mark in line]


@pytest.mark.slow
@pytest.mark.usefixtures("any_way")
@pytest.mark.parametrize("script", ["kill -9 $$", "kill -15 $$", "kill -9 -1", "kill -9 1; exit 3", "exit 137"])
def test_a_command_that_ends_itself_is_none(script: str) -> None:
    """Whatever the command does to itself and to the supervisor, the sandbox has not failed."""
    assert ended(("sh", "-c", script)).sandbox_failure == ""


@pytest.mark.slow
@pytest.mark.usefixtures("any_way")
def test_an_end_that_we_make_is_none() -> None:
    """Commands whose time is up, that are stopped, or whose workspace holds too much, are ended on purpose."""

    async def stop(_workspace: BubblewrapWorkspace, running: Process) -> None:
        await running.stop()

    async def condemn(workspace: BubblewrapWorkspace, _running: Process) -> None:
        await workspace.end_processes("too much")

    deaf = ("sh", "-c", "trap '' TERM; echo begun; while :; do sleep 1; done")
    late = ended(deaf, limit_s=0.5)
    assert late.timed_out
    for finished in (late, ended(deaf, stop), ended(SLEEPING, condemn)):
        assert finished.sandbox_failure == ""


def test_a_supervisor_that_memory_ran_out_for_is_none() -> None:
    """What runs within has used up the memory of the workspace, so the end of the supervisor can be its doing."""

    async def kill(workspace: BubblewrapWorkspace, running: Process) -> None:
        if "memory" not in workspace._limited:
            pytest.skip("no control group that limits memory can be made here")
        assert await anext(running.lines()) == b"killed"
        os.kill(running.pid, signal.SIGKILL)

    finished = ended((sys.executable, "-I", "-S", "-c", HOARD), kill, memory_mb=64)
    assert (finished.signal, finished.sandbox_failure) == (signal.SIGKILL, "")


@pytest.mark.slow
def test_a_supervisor_whose_processor_time_is_up_is_none() -> None:
    """A supervisor reaps, which takes time of the processor, so what runs within can use its time up."""

    async def kill(_workspace: BubblewrapWorkspace, running: Process) -> None:
        assert await anext(running.lines()) == b"ended"
        os.kill(running.pid, signal.SIGKILL)

    orphan = "((while :; do :; done) & echo $! >pid)"
    script = f"echo begun; {orphan}; while kill -0 $(cat pid) 2>/dev/null; do sleep 0.1; done; echo ended; sleep 600"
    assert ended(("sh", "-c", script), kill, cpu_s=1).sandbox_failure == ""
