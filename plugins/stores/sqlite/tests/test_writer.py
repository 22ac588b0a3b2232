"""The writing thread: what it syncs, and what cancelling, closing and waiting do to it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge.api import ResultOrder, StoreError
from skillgauge.api.report import RunState
from skillgauge_store_sqlite.store import SqliteStore

Stores = Callable[..., SqliteStore]


@pytest.mark.parametrize("paid", [False, True])
def test_paid_work_is_synced(make: ModuleType, store: Stores, paid: bool) -> None:
    """Claims and commits of paid trials survive a loss of power; others are cheaper. A run's end is always synced."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        statements: list[str] = []
        await one._writer.run(lambda db: db.set_trace_callback(statements.append))

        def syncs() -> list[str]:
            found = [text.rpartition(" ")[2] for text in statements if "synchronous" in text]
            statements.clear()
            return found

        await log.claim([make.trial(0), make.trial(1, paid=paid)])
        await log.commit([make.result(0), make.result(1)], paid=paid)
        assert syncs() == ["FULL" if paid else "NORMAL"] * 2
        await log.finish(RunState.FINISHED, None)
        assert syncs() == ["FULL"]
        await one.close()

    asyncio.run(main())


def test_each_call_is_one_transaction(make: ModuleType, store: Stores) -> None:
    """A full batch costs one commit, however many results it has."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        statements: list[str] = []
        await one._writer.run(lambda db: db.set_trace_callback(statements.append))
        await log.claim([make.trial(n) for n in range(200)])
        await log.commit([make.result(n) for n in range(200)], paid=False)
        assert [text for text in statements if text in ("BEGIN IMMEDIATE", "COMMIT")] == [
            "BEGIN IMMEDIATE",
            "COMMIT",
        ] * 2
        await one.close()

    asyncio.run(main())


def test_a_cancelled_commit_is_carried_out(make: ModuleType, path: Path, store: Stores) -> None:
    """Interrupting the program while a result is being written does not lose the result."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        held = threading.Event()
        hold = asyncio.create_task(one._writer.run(lambda db: held.wait(30)))
        commit = asyncio.create_task(log.commit([make.result(0)], paid=False))
        await asyncio.sleep(0)
        commit.cancel()
        with pytest.raises(asyncio.CancelledError):
            await commit
        held.set()
        await hold
        await one.close()
        assert list(log.results(ResultOrder.PLAN)) == [make.result(0)]

    asyncio.run(main())


def test_closing(make: ModuleType, path: Path, store: Stores) -> None:
    """Closing waits for what was asked before, leaves one file, may be repeated, and allows reading only."""

    async def main() -> None:
        threads = set(threading.enumerate())
        unused = store()
        await unused.close()
        one = store()
        log = await one.begin(make.head(), fresh=False)
        pending = asyncio.create_task(log.commit([make.result(0)], paid=False))
        await asyncio.sleep(0)
        await one.close()
        await pending
        await one.close()
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]
        for call in (log.commit([make.result(1)], paid=False), one.begin(make.head(), fresh=False)):
            with pytest.raises(StoreError, match="is closed"):
                await call
        assert list(log.results(ResultOrder.PLAN)) == [make.result(0)]
        assert not any(thread.name == "skillgauge-sqlite" for thread in set(threading.enumerate()) - threads)

    asyncio.run(main())


def test_an_ended_run_takes_nothing_more(make: ModuleType, store: Stores) -> None:
    """After `finish` a late result is refused by name instead of getting lost."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.finish(RunState.STOPPED, None)
        for call in (log.claim([make.trial(0)]), log.commit([make.result(0)], paid=False)):
            with pytest.raises(StoreError, match="has ended"):
                await call
        await one.close()

    asyncio.run(main())


def test_several_event_loops(make: ModuleType, store: Stores) -> None:
    """A store outlives the event loop that it was first used in."""
    one = store()
    log = asyncio.run(one.begin(make.head(), fresh=False))
    asyncio.run(log.commit([make.result(0)], paid=False))
    asyncio.run(one.close())
    assert list(log.results(ResultOrder.PLAN)) == [make.result(0)]


def test_the_event_loop_is_never_kept_waiting(make: ModuleType, store: Stores) -> None:
    """While another process holds the lock, other tasks go on."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        held = threading.Event()
        hold = asyncio.create_task(one._writer.run(lambda db: held.wait(30)))
        commit = asyncio.create_task(log.commit([make.result(0)], paid=False))
        deadline = time.monotonic() + 10
        for _ in range(50):
            await asyncio.sleep(0)
        assert time.monotonic() < deadline
        assert not commit.done()
        held.set()
        await asyncio.gather(hold, commit)
        await one.close()

    asyncio.run(main())
