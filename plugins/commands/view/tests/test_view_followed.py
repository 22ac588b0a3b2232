"""The cases of a run that goes on: of each look only the results are read that have come since the last one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Followed, Kept, ResultOrder, RunQuery, TrialResult, Verdict
from skillgauge.api.report import Progress, RunState, RunView
from skillgauge.api.run import Globals, invocation, opened_store
from skillgauge_command_view.pages.run_cases import Cases, RunCases, cases_of
from skillgauge_command_view.rows import row_of


class Counted:
    """The source of a run that tells which results were read."""

    def __init__(self, source: Any) -> None:
        """Take the source."""
        self._source = source
        self.read: list[int] = []

    def __getattr__(self, name: str) -> Any:
        """Give what the run's own source gives."""
        return getattr(self._source, name)

    def progress(self) -> Progress:
        """How far it is."""
        progress: Progress = self._source.progress()
        return progress

    def results(self, order: ResultOrder, group: Any = None) -> Iterator[TrialResult]:
        """All results."""
        for result in self._source.results(order, group):
            self.read.append(result.ordinal)
            yield result

    def abridged(self, order: ResultOrder, group: Any = None) -> Iterator[TrialResult]:
        """All results, without their sessions."""
        for result in self._source.abridged(order, group):
            self.read.append(result.ordinal)
            yield result

    def results_since(self, after: int) -> Iterator[tuple[int, TrialResult]]:
        """The results behind a cursor."""
        for cursor, result in self._source.results_since(after):
            self.read.append(result.ordinal)
            yield cursor, result


class Looks:
    """Looks at a run of a store again and again."""

    def __init__(self, store: Any) -> None:
        """Take the store."""
        self._store = store
        self._cases = Cases()

    def look(self) -> tuple[RunCases, list[int], RunView]:
        """The cases as the viewer shows them, what was read for that, and the run."""
        (view,) = self._store.scan(RunQuery())
        source = Counted(view.source)
        watched = replace(view, source=source)
        return self._cases.of(row_of(watched, "run", "store"), watched), source.read, view


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """An empty store."""
    with opened_store(invocation(Globals(), {"store": str(tmp_path / "runs.db")})) as opened:
        yield opened


def test_only_what_is_new_is_read(store: Any, eventful_view: RunView) -> None:
    """Results come in any order and again; what is shown is always what reading all of them would show."""
    first, *others = eventful_view.results()
    recorded = first.execution.model_copy(update={"replayed": True})
    results = [first.model_copy(update={"execution": recorded}), *others]
    head = eventful_view.head.model_copy(update={"trial_count": len(results)})
    looks = Looks(store)

    async def carry_out() -> None:
        log = await store.begin(head, fresh=False)
        assert looks.look()[:2] == (cases_of(replace(eventful_view, source=Kept(list))), [])
        for part in (results[3:5], results[:3], results[5:]):
            await log.commit(part, paid=True)
            cases, read, view = looks.look()
            assert isinstance(view.source, Followed)
            assert view.run.state is RunState.RUNNING
            assert sorted(read) == [result.ordinal for result in part]
            assert cases == cases_of(view)
        assert looks.look()[1] == []
        failed = results[0].model_copy(update={"verdict": Verdict.FAIL, "value": 0.0})
        before, *_ = looks.look()
        await log.commit([failed], paid=True)
        cases, read, view = looks.look()
        assert read == [failed.ordinal]
        assert before != cases == cases_of(view)
        assert [title for title, _ in cases.notices] == ["Replayed"]
        await log.finish(RunState.FINISHED, eventful_view.summary)
        cases, read, view = looks.look()
        assert cases == cases_of(view)
        assert len(read) == len(results)
        assert looks.look()[1] == []

    asyncio.run(carry_out())


def test_a_run_too_large_for_memory_is_read_each_time(store: Any, eventful_view: RunView) -> None:
    """No results of a run are kept that are more than the server has room for."""
    results = list(eventful_view.results())
    head = eventful_view.head.model_copy(update={"trial_count": 1_000_000})
    looks = Looks(store)

    async def carry_out() -> None:
        log = await store.begin(head, fresh=False)
        await log.commit(results, paid=True)
        for _ in range(2):
            cases, read, view = looks.look()
            assert len(read) == len(results)
            assert cases == cases_of(view)

    asyncio.run(carry_out())
