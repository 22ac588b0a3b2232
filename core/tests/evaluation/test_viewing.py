"""Viewers that plugins bring are asked about a run that begins, and one that fails ends no run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skillgauge.errors import Problem, UsageError
from skillgauge.evaluation.beginning.viewing import RUN_VIEWERS, Viewing, addresses
from skillgauge.plugins.index import IndexEntry
from skillgauge.types.results.runs import RunInfo, RunState

VIEWERS = """
class Opened:
    def __init__(self, run_id):
        self.address = f"http://viewer.example/{run_id}"
        self.calls = []
    def wait(self):
        self.calls.append("wait")
    def close(self):
        self.calls.append("close")

class Good:
    def __init__(self):
        self.opened = []
    def address(self, call, run_id):
        return f"http://running.example/{run_id}"
    def open(self, call, run_id):
        self.opened.append(Opened(run_id))
        return self.opened[-1]

class Silent(Good):
    def address(self, call, run_id):
        return None

class Broken:
    def address(self, call, run_id):
        raise RuntimeError("no such thing")
    def open(self, call, run_id):
        raise RuntimeError("cannot start")

good, silent, broken = Good(), Silent(), Broken()
"""
RUN = RunInfo(run_id="r1", state=RunState.RUNNING, started_at=0.0)


@dataclass
class Heard:
    """Hears of an evaluation."""

    notices: list[str] = field(default_factory=list)
    told: list[Problem] = field(default_factory=list)

    def notice(self, text: str) -> None:
        """Keep it."""
        self.notices.append(text)

    def problems(self, problems: Iterable[Problem]) -> None:
        """Keep them."""
        self.told += problems


@dataclass
class Call:
    """A command line with some viewers."""

    names: tuple[str, ...]
    listener: Heard = field(default_factory=Heard)

    def usable(self, group: str) -> Iterator[IndexEntry]:
        """The entry points of the viewers."""
        assert group == RUN_VIEWERS
        for name in self.names:
            yield IndexEntry(kind=group, name=name, module=f"acme_viewers:{name}", distribution="acme", version="1")


@pytest.fixture(autouse=True)
def _viewers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_viewers.py").write_text(VIEWERS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "acme_viewers", raising=False)


DURABLE: Any = SimpleNamespace(durable=True)
"""A store that keeps runs."""


def test_running_viewers_tell_where_a_run_is() -> None:
    """One that shows nothing is silent; one that fails, or is not there, is told of once, and the others answer."""
    call: Any = Call(("broken", "absent", "silent", "good"))
    assert list(addresses(call, "r1")) == ["http://running.example/r1"]
    assert [problem.code for problem in call.listener.told] == ["viewer.broken"] * 2
    assert "acme cannot show runs: RuntimeError: no such thing" in call.listener.told[0].message


def view(call: Any, store: Any = DURABLE) -> Viewing:
    """A run that is looked at, from its begin to its end."""
    viewing = Viewing(call, store)

    async def run() -> None:
        viewing.begin(RUN)
        await viewing.ready()

    asyncio.run(run())
    return viewing


def test_a_run_that_begins_is_opened() -> None:
    """The address is told; the viewer lives until it is closed."""
    call = Call(("good",))
    viewing = view(call)
    assert call.listener.notices == ["look at this run: http://viewer.example/r1"]
    viewing.wait()
    viewing.close()
    acme = __import__("acme_viewers")
    assert [opened.calls for opened in acme.good.opened] == [["wait", "close"]]


def test_a_viewer_that_does_not_start_ends_no_run() -> None:
    """It is told of, and there is nothing to wait for."""
    call = Call(("broken",))
    viewing = view(call)
    viewing.wait()
    viewing.close()
    assert call.listener.notices == []
    assert [problem.message for problem in call.listener.told] == ["the viewer failed: RuntimeError: cannot start"]


@pytest.mark.parametrize(
    ("names", "store", "message"),
    [
        ((), DURABLE, "--view needs a viewer, and none is installed"),
        (("absent",), DURABLE, "--view needs a viewer, and none is installed"),
        (("good",), SimpleNamespace(durable=False), "--view needs a store"),
        (("good",), None, "--view needs a store"),
    ],
)
def test_what_cannot_be_looked_at_is_refused_before_anything_runs(
    names: tuple[str, ...], store: Any, message: str
) -> None:
    """Each refusal says what to do."""
    with pytest.raises(UsageError, match=message) as caught:
        view(Call(names), store)
    assert caught.value.problems[0].hint


def test_a_viewer_that_is_not_installed_is_named() -> None:
    """The hint is a command that brings one."""
    with pytest.raises(UsageError) as caught:
        view(Call(()))
    assert caught.value.problems[0].hint == "pip install skillgauge-command-view"
