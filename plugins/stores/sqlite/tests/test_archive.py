"""Runs that were carried out elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge.api import Kept, RunQuery, StoreError, TrialResult
from skillgauge.api.report import RunInfo, RunState, RunView
from skillgauge_store_sqlite.store import SqliteStore

Stores = Callable[..., SqliteStore]
LONG_AGO = 1_600_000_000.0


def view(make: ModuleType, run_id: str = "old", results: int = 3, **changes: object) -> RunView:
    """A run of long ago."""
    values = {"run_id": run_id, "state": RunState.FINISHED, "started_at": LONG_AGO, "finished_at": LONG_AGO + 60}
    kept = [make.result(n) for n in range(results)]
    source = Kept(lambda: kept, [make.case(n) for n in range(results)])
    return RunView(RunInfo(**values | changes), make.head(f"plan of {run_id}"), make.summary(results), source)


def kept(store: SqliteStore, one: RunView) -> bool:
    """Keep a run and close the store."""

    async def main() -> bool:
        try:
            return await store.keep(one)
        finally:
            await store.close()

    return asyncio.run(main())


def test_a_run_is_kept_as_it_was(make: ModuleType, store: Stores) -> None:
    """Id, times, plan, summary and more results than one batch come back unchanged, and the file is made if need be."""
    old = view(make, results=1_203)
    assert kept(store(), old)
    (found,) = store().scan(RunQuery())
    assert (found.run, found.head, found.summary) == (old.run, old.head, old.summary)
    assert list(found.results()) == list(old.results())


def test_a_run_is_kept_once(make: ModuleType, path: Path, store: Stores) -> None:
    """A second run of the same id is left out, and the first one stays as it was."""
    assert kept(store(), view(make))
    assert not kept(store(), view(make, results=1))
    (found,) = store().scan(RunQuery())
    assert len(list(found.results())) == 3
    assert make.query(path, "SELECT count(*) FROM runs") == [(1,)]


def test_old_runs_are_listed_by_when_they_began(make: ModuleType, store: Stores) -> None:
    """A run that is taken in today and began years ago comes last, also for a limit."""

    async def main() -> str:
        one = store()
        log = await one.begin(make.head("today"), fresh=False)
        await log.finish(RunState.FINISHED, make.summary())
        await one.keep(view(make, "older", started_at=LONG_AGO - 1))
        await one.keep(view(make, "old"))
        await one.close()
        return log.info.run_id

    today = asyncio.run(main())
    assert [one.run.run_id for one in store().scan(RunQuery())] == [today, "old", "older"]
    assert [one.run.run_id for one in store().scan(RunQuery(limit=1))] == [today]


def test_a_run_under_the_same_plan_is_never_resumed(make: ModuleType, store: Stores) -> None:
    """A run that was taken in has finished: the same plan begins a new one."""
    old = view(make)

    async def main() -> bool:
        one = store()
        await one.keep(old)
        log = await one.begin(old.head, fresh=False)
        await one.close()
        return log.info.resumed or log.info.run_id == old.run.run_id

    assert not asyncio.run(main())


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.INTERRUPTED, RunState.STOPPED])
def test_only_finished_runs_are_kept(make: ModuleType, path: Path, store: Stores, state: RunState) -> None:
    """What could still be resumed is refused."""
    with pytest.raises(ValueError, match=f"run old is {state}"):
        kept(store(), view(make, state=state))
    assert make.query(path, "SELECT count(*) FROM runs") == [(0,)]


def test_all_or_nothing(make: ModuleType, path: Path, store: Stores) -> None:
    """A run whose results cannot be read to the end, or clash, leaves nothing behind."""

    def broken() -> object:
        yield make.result(0)
        raise OSError("the disk is gone")

    def clashing() -> list[TrialResult]:
        return [make.result(0), make.result(0, trial_id="another")]

    with pytest.raises(OSError, match="the disk is gone"):
        kept(store(), replace(view(make), source=Kept(broken)))
    with pytest.raises(StoreError, match="two trials at one place"):
        kept(store(), replace(view(make), source=Kept(clashing)))
    for table in ("runs", "groups", "results", "cases"):
        assert make.query(path, f"SELECT count(*) FROM {table}") == [(0,)]
