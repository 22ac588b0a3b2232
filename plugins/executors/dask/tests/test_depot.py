"""The depot at the scheduler, and the frames by which a station knows what to leave there."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

from skillgauge_executor_dask import depot
from skillgauge_executor_dask.deposits import Deposits
from skillgauge_executor_dask.depot import METHODS, NAME, Depot
from skillgauge_workers import Frame, Kind, packed


def test_executions_wait_for_their_run() -> None:
    """By run and trial; the last of a trial counts, and what was dropped is gone."""
    here = Depot()
    for run, trial, content in (("r", "1", b"old"), ("r", "1", b"new"), ("r", "2", b"two"), ("s", "1", b"other")):
        here.leave(run, trial, content)
    assert sorted(here.trials("r")) == ["1", "2"]
    assert (here.content("r", "1"), here.content("s", "1"), here.content("s", "2")) == (b"new", b"other", None)
    for _number in range(2):
        here.drop("r", "1")
    assert here.trials("r") == ["2"]


@pytest.mark.parametrize(("bound", "limit"), [("MOST", 2), ("ROOM", 7)])
def test_the_oldest_make_room(monkeypatch: pytest.MonkeyPatch, bound: str, limit: int) -> None:
    """Neither their number nor their bytes grow beyond the bound, and room that was freed is used again."""
    monkeypatch.setattr(depot, bound, limit)
    here = Depot()
    for trial in ("1", "2", "3"):
        here.leave("r", trial, b"abc")
    assert here.trials("r") == ["2", "3"]
    here.drop("r", "2")
    here.leave("r", "4", b"abc")
    assert here.trials("r") == ["3", "4"]


def test_what_waited_too_long_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that runs which nobody goes on with leave nothing for ever."""
    now = 0.0
    monkeypatch.setattr(depot.time, "monotonic", lambda: now)
    here = Depot()
    here.leave("r", "1", b"abc")
    now = depot.AGE_S
    here.leave("r", "2", b"abc")
    here.drop_old()
    assert here.trials("r") == ["1", "2"]
    now += 1
    here.drop_old()
    assert here.trials("r") == ["2"]


class Scheduler:
    """A scheduler with a depot, as a worker reaches it.

    Args:
        broken: whether every call fails.
    """

    def __init__(self, *, broken: bool = False) -> None:
        self.depot = Depot()
        self.calls: list[str] = []
        for name in METHODS:
            setattr(self, f"{NAME}-{name}", self._method(name, broken))

    def _method(self, name: str, broken: bool) -> Any:
        async def call(**arguments: Any) -> Any:
            self.calls.append(name)
            await asyncio.sleep(0)
            if broken:
                raise OSError("the scheduler is gone")
            return getattr(self.depot, name)(**arguments)

        return call


ATTEMPT = packed(Frame(Kind.ATTEMPT, 7, json.dumps({"trial_id": "t"}).encode()))


async def _with_frames(scheduler: Scheduler, *, safe: bool, answered: bool = False) -> list[str]:
    deposits = Deposits(SimpleNamespace(scheduler=scheduler), "r")
    deposits.goes(ATTEMPT)
    deposits.comes(Frame(Kind.KEEP, 7, b"{}"))
    if answered:
        deposits.comes(Frame(Kind.CANCELLED, 7))
    if safe:
        deposits.goes(packed(Frame(Kind.SAFE, 7)))
    await deposits.settle(10.0)
    return scheduler.depot.trials("r")


@pytest.mark.parametrize("answered", [False, True])
def test_an_execution_is_left_until_the_run_has_kept_it(*, answered: bool) -> None:
    """Whether its attempt was answered before that or not, and however fast it is."""
    assert asyncio.run(_with_frames(Scheduler(), safe=False, answered=answered)) == ["t"]
    kept = Scheduler()
    assert asyncio.run(_with_frames(kept, safe=True, answered=answered)) == []
    assert kept.calls == ["leave", "drop"]


def test_a_scheduler_that_is_gone_stops_nothing() -> None:
    """Neither what is to be left nor what is to be dropped."""
    assert asyncio.run(_with_frames(Scheduler(broken=True), safe=True)) == []
