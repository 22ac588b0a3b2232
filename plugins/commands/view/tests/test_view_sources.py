"""Where runs come from: each is listed once, read no more often than it has to be, and gone when its file is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Archive, RunQuery
from skillgauge.api.report import RunState, RunView
from skillgauge.api.run import invocation, opened_store
from skillgauge_command_view.links import key_of
from skillgauge_command_view.sources import RunFiles, Runs, StoredRuns


class Watched:
    """A store that tells which runs it was made to read."""

    durable = True

    def __init__(self, store: Any) -> None:
        """Take the store."""
        self._store = store
        self.read: list[str] = []

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """Read runs, and take note of each."""
        for view in self._store.scan(query):
            self.read.append(view.run.run_id)
            yield view


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The store of an empty folder."""
    from skillgauge.config.global_options import Globals  # noqa: PLC0415 - as the command line does

    monkeypatch.chdir(tmp_path)
    with opened_store(invocation(Globals(), {"store": "runs.db"})) as opened:
        yield opened


@pytest.mark.slow
def test_a_finished_run_is_read_once(store: Any, views: list[RunView]) -> None:
    """A second look at the list reads nothing but what is new."""
    assert isinstance(store, Archive)
    finished = [view for view in views if view.run.state is RunState.FINISHED]
    for view in finished[:-1]:
        assert asyncio.run(store.keep(view))
    watched = Watched(store)
    runs = Runs([StoredRuns("runs.db", watched)])  # type: ignore[arg-type]
    first = runs.rows()
    assert sorted(watched.read) == sorted(view.run.run_id for view in finished[:-1])
    watched.read.clear()
    assert runs.rows() == first
    assert watched.read == []
    assert asyncio.run(store.keep(finished[-1]))
    assert [row.run_id for row in runs.rows()] == [finished[-1].run.run_id, *(row.run_id for row in first)]
    assert watched.read == [finished[-1].run.run_id]
    watched.read.clear()
    pair = runs.find(first[0].key)
    assert pair is not None
    assert pair[0] == first[0]
    assert watched.read == [first[0].run_id], "a run is found without reading others"
    assert runs.find("nothing") is None


def test_a_run_whose_id_cannot_stand_in_an_address(store: Any, views: list[RunView]) -> None:
    """It has a name made of letters and digits, by which it is found."""
    odd = "../<b>\u202e run"
    view = replace(views[2], run=views[2].run.model_copy(update={"run_id": odd}))
    assert asyncio.run(store.keep(view))
    runs = Runs([StoredRuns("runs.db", store)])
    (row,) = runs.rows()
    assert row.key.isalnum()
    assert row.key == key_of(odd)
    pair = runs.find(row.key)
    assert pair is not None
    assert pair[1].run.run_id == odd


def test_records_come_and_go(store: Any, views: list[RunView], tmp_path: Path) -> None:
    """A folder is looked at anew each time; what is no report is passed over."""
    from skillgauge.config.global_options import Globals  # noqa: PLC0415 - as the command line does

    call = invocation(Globals())
    folder = tmp_path / "reports"
    (folder / "nightly").mkdir(parents=True)
    (folder / "note.json").write_text("{}")
    reporter = call.reporter("record")
    written = []
    for place, view in zip(("", "nightly"), (views[2], views[6]), strict=True):
        (artifact,) = reporter.render(view)
        written.append(folder / place / "a.record.json")
        written[-1].write_bytes(b"".join(artifact.chunks))
    files = RunFiles("reports", call, folder)
    files.check()
    runs = Runs([files])
    assert {row.run_id for row in runs.rows()} == {"run2", "run6"}
    assert runs.find("run6") is not None
    assert len(runs.views(runs.rows())) == 2
    written[1].unlink()
    assert {row.run_id for row in runs.rows()} == {"run2"}
    assert runs.find("run6") is None
