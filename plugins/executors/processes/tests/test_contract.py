"""The contract of executors."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from skillgauge.api import Executor, PortableRunTrial
from skillgauge_executor_processes import pool
from skillgauge_testkit import EXECUTORS, Maker, check_executor, check_light_import, check_plugin, with_options
from skillgauge_testkit.leftovers import children_running
from skillgauge_workers import Attempts, Frame, Kind

MODULE = "skillgauge_executor_processes.plugin"
MODULE_OF_WORKERS = "skillgauge_workers.program"


def test_announcement() -> None:
    """Hook, provider, object and entry point fit together, and announcing is cheap."""
    check_plugin(MODULE, "executors")
    check_light_import(MODULE)


class Misled:
    """A run with another recipe."""

    def __init__(self, run: PortableRunTrial, recipe: Callable[[bytes], bytes]) -> None:
        self._run = run
        self.recipe = recipe(run.recipe)

    def __getattr__(self, name: str) -> object:
        return getattr(self._run, name)


class PoolWorkers:
    """The worker processes, which are children of this one."""

    def __init__(self, patched: pytest.MonkeyPatch, _executor: Executor) -> None:
        patched.undo()
        self._patched = patched

    def count(self) -> int:
        """Children that run the worker module."""
        return len(self._pids())

    def kill_one(self) -> None:
        """Each makes an attempt."""
        os.killpg(self._pids()[0], signal.SIGKILL)

    def add(self) -> bool:
        """There are as many as the option says, and no other joins."""
        return False

    def spoil_one(self) -> bool:
        """The first that is started cannot prepare the run."""
        return self.mislead_one(lambda _recipe: b"nothing that prepares a run")

    def mislead_one(self, recipe: Callable[[bytes], bytes]) -> bool:
        """The first that is started gets it."""
        connect, calls = pool._connect, iter(range(1 << 30))

        async def connected(run: PortableRunTrial, share: int) -> Attempts:
            return await connect(Misled(run, recipe) if next(calls) == 0 else run, share)

        self._patched.setattr(pool, "_connect", connected)
        return True

    def repeat_one(self) -> bool:
        """The first answer is read twice."""
        receive, read = pool.receive, list[Frame]()

        async def received(reader: asyncio.StreamReader) -> Frame:
            if len(read) == 1:
                read.append(read[0])
                return read[0]
            frame = await receive(reader)
            if not read and frame.kind is Kind.RESULT:
                read.append(frame)
            return frame

        self._patched.setattr(pool, "receive", received)
        return True

    def _pids(self) -> list[int]:
        return children_running(MODULE_OF_WORKERS)


@pytest.mark.slow
def test_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial runs once in some worker, whoever dies, and nothing goes on after the end of a run."""
    make = with_options(Maker(EXECUTORS, MODULE), {"workers": 2})
    check_executor(make, workers=lambda executor: PoolWorkers(monkeypatch, executor))
