"""The contract of executors."""

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from skillgauge.api import Executor
from skillgauge_testkit import (
    EXECUTORS,
    Maker,
    check_executor,
    check_light_import,
    check_plugin,
    with_options,
)

MODULE = "acme_queue.plugin"


def test_announcement() -> None:
    """Hook, provider, object and entry point fit together, and announcing is cheap."""
    check_plugin(MODULE, "executors")
    check_light_import(MODULE)


class LocalWorkers:
    """The workers that the executor has started, for the clauses about workers."""

    def __init__(self, executor: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        self._monkeypatch = monkeypatch
        self._queue = executor.queue

    def count(self) -> int:
        """Those that live."""
        return len(self._queue.local)

    def kill_one(self) -> None:
        """Each has an attempt under way."""
        os.killpg(next(iter(self._queue.local)), signal.SIGKILL)

    def add(self) -> bool:
        """One more dials in."""
        self._task = asyncio.ensure_future(self._queue.start_worker())
        return True

    def spoil_one(self) -> bool:
        """The first that dials in gets a recipe of nothing."""
        return self.mislead_one(lambda _recipe: b"x")

    def mislead_one(self, recipe: Callable[[bytes], bytes]) -> bool:
        """The first that dials in gets it."""
        queue = self._queue
        admit, served = queue._admit, []

        async def admitted(*streams: object) -> None:
            good, queue.recipe = queue.recipe, queue.recipe if served else recipe(queue.recipe)
            served.append(streams)
            serving = asyncio.ensure_future(admit(*streams))
            await asyncio.sleep(0)
            queue.recipe = good
            await serving

        self._monkeypatch.setattr(queue, "_admit", admitted)
        return True

    def repeat_one(self) -> bool:
        """The first result comes twice: as a worker would send it that was taken for lost."""
        make, repeated = self._queue._make, []

        async def made(attempt: object, reader: asyncio.StreamReader, writer: object) -> None:
            readline = reader.readline

            async def line_twice() -> bytes:
                line = await readline()
                if not repeated and b'"result"' in line:
                    repeated.append(line)
                    reader._buffer[:0] = line
                return line

            self._monkeypatch.setattr(reader, "readline", line_twice)
            await make(attempt, reader, writer)

        self._monkeypatch.setattr(self._queue, "_make", made)
        return True


def test_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial runs once, whichever process dies, and nothing goes on after the end."""
    make = with_options(Maker(EXECUTORS, MODULE), {"workers": 2})
    check_executor(make, workers=lambda made: LocalWorkers(made, monkeypatch))
