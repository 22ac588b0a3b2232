"""Who may resume which run."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillgauge.api import ResultOrder, RunQuery, StoreError
from skillgauge.api.report import RunState
from skillgauge_store_sqlite import ownership
from skillgauge_store_sqlite.ownership import Process, Timing
from skillgauge_store_sqlite.store import SqliteStore

Stores = Callable[..., SqliteStore]
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process started")


async def once(store: SqliteStore, head: Any, *, fresh: bool = False, finish: RunState | None = None) -> Any:
    """Begin a run and leave or end it; what the log said of it at the start."""
    log = await store.begin(head, fresh=fresh)
    info = log.info
    if finish:
        await log.finish(finish, None)
    await store.close()
    return info


def test_an_unfinished_run_is_resumed(make: ModuleType, store: Stores) -> None:
    """Closing without `finish` leaves a run that the same plan takes up at once, under its own id and start."""
    first = asyncio.run(once(store(), make.head()))
    other = asyncio.run(once(store(), make.head("other")))
    again = asyncio.run(once(store(), make.head()))
    assert (again.run_id, again.started_at, again.resumed) == (first.run_id, first.started_at, True)
    assert (other.run_id != first.run_id, other.resumed) == (True, False)


@pytest.mark.parametrize("state", [RunState.INTERRUPTED, RunState.STOPPED])
def test_a_run_that_ended_early_is_resumed(make: ModuleType, store: Stores, state: RunState) -> None:
    """An interrupted or stopped run goes on; its old summary no longer stands for it."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.finish(state, make.summary())
        again = await one.begin(make.head(), fresh=False)
        assert (again.info.run_id, again.info.resumed) == (log.info.run_id, True)
        (view,) = one.scan(RunQuery())
        assert (view.run.state, view.run.finished_at, view.run.resumed) == (RunState.RUNNING, None, True)
        assert view.summary.counts.total == 0
        await one.close()

    asyncio.run(main())


def test_a_finished_run_is_not_resumed(make: ModuleType, store: Stores) -> None:
    """After a finished run the same command is a new run."""
    first = asyncio.run(once(store(), make.head(), finish=RunState.FINISHED))
    again = asyncio.run(once(store(), make.head()))
    assert (again.resumed, again.run_id != first.run_id) == (False, True)


def test_fresh_begins_anew_for_good(make: ModuleType, store: Stores) -> None:
    """`fresh` gives a new run, and the run it passed over is not resumed later either."""
    old = asyncio.run(once(store(), make.head()))
    new = asyncio.run(once(store(), make.head(), fresh=True))
    assert (new.resumed, new.run_id != old.run_id) == (False, True)
    resumed = asyncio.run(once(store(), make.head(), finish=RunState.FINISHED))
    assert (resumed.run_id, resumed.resumed) == (new.run_id, True)
    assert asyncio.run(once(store(), make.head())).resumed is False


def test_the_newest_unfinished_run_is_resumed(make: ModuleType, store: Stores) -> None:
    """Of several unfinished runs of a plan the last one goes on; the older one follows when that has finished."""

    async def main() -> None:
        one, two = store(), store()
        old, new = [(await each.begin(make.head(), fresh=False)).info for each in (one, two)]
        await one.close()
        await two.close()
        assert (await once(store(), make.head(), finish=RunState.FINISHED)).run_id == new.run_id
        assert (await once(store(), make.head())).run_id == old.run_id

    asyncio.run(main())


def test_the_head_of_a_resumed_run_is_the_new_one(make: ModuleType, store: Stores) -> None:
    """The stored plan names the versions of what ran last."""
    asyncio.run(once(store(), make.head(provenance={"v": 1})))
    asyncio.run(once(store(), make.head(provenance={"v": 2})))
    (view,) = store().scan(RunQuery())
    assert view.head.provenance == {"v": 2}


def test_a_run_of_a_living_process_is_left_alone(make: ModuleType, store: Stores, child: Callable[[], Any]) -> None:
    """While one process works on a run, another gets a run of its own; after a kill it gets the first one at once."""
    other = child()
    other.tell("begin plan")
    _, run_id, resumed = other.hear().split()
    mine = asyncio.run(once(store(), make.head(), finish=RunState.FINISHED))
    assert (resumed, mine.resumed, mine.run_id != run_id) == ("False", False, True)
    other.process.kill()
    deadline = time.monotonic() + 30
    while (info := asyncio.run(once(store(), make.head(), finish=RunState.FINISHED))).run_id != run_id:
        assert time.monotonic() < deadline, "its death was never noticed"
    assert info.resumed


@linux
def test_a_process_nobody_buried_is_dead(make: ModuleType, store: Stores, child: Callable[[], Any]) -> None:
    """A killed process whose parent has not asked for it yet (a zombie) does not keep its run."""
    other = child()
    other.tell("begin plan")
    run_id = other.hear().split()[1]
    other.process.kill()
    os.waitid(os.P_PID, other.process.pid, os.WEXITED | os.WNOWAIT)
    assert asyncio.run(once(store(), make.head())).run_id == run_id


@linux
def test_a_stopped_process_still_owns_its_run(make: ModuleType, store: Stores, child: Callable[[], Any]) -> None:
    """On this host a process that lives keeps its run even if its lease ran out: it may go on any moment."""
    other = child()
    other.tell("begin plan")
    run_id = other.hear().split()[1]
    other.process.send_signal(signal.SIGSTOP)
    late = store(timing=Timing(clock=lambda: time.time() + 3600))
    assert asyncio.run(once(late, make.head())).run_id != run_id
    other.process.send_signal(signal.SIGCONT)


@linux
def test_a_reused_process_number_is_no_owner(make: ModuleType, path: Path, store: Stores) -> None:
    """A living process that got the number of a dead one owns nothing."""

    async def main() -> None:
        one = store()
        first = (await one.begin(make.head(), fresh=False)).info
        make.query(path, "UPDATE owners SET process_start = '1'")
        two = store()
        assert (await two.begin(make.head(), fresh=False)).info.run_id == first.run_id
        await two.close()
        await one.close()

    asyncio.run(main())


def test_two_stores_of_one_process(make: ModuleType, store: Stores) -> None:
    """A second store in the same process does not take the first one's run."""

    async def main() -> None:
        one, two = store(), store()
        first, second = await one.begin(make.head(), fresh=False), await two.begin(make.head(), fresh=False)
        third = await one.begin(make.head(), fresh=False)
        assert len({log.info.run_id for log in (first, second, third)}) == 3
        await one.close()
        await two.close()

    asyncio.run(main())


def elsewhere(make: ModuleType, path: Path) -> None:
    """Pretend that all owners are processes of another host."""
    make.query(path, "UPDATE owners SET host = 'elsewhere'")


def test_a_lease_elsewhere_runs_out(make: ModuleType, path: Path, store: Stores) -> None:
    """A run of another host is free after 60 silent seconds and not before, and its old owner learns of it."""

    async def main() -> None:
        now = 1_800_000_000.0
        timing = Timing(clock=lambda: now)
        one = store(timing=timing)
        log = await one.begin(make.head(), fresh=False)
        now += 50
        await log.claim([make.trial(0), make.trial(1)])  # work renews the lease
        await log.commit([make.result(0)], paid=False)
        elsewhere(make, path)
        now += 59
        early = store(timing=timing)
        assert not (await once(early, make.head(), finish=RunState.FINISHED)).resumed
        now += 2
        two = store(timing=timing)
        taken = await two.begin(make.head(), fresh=False)
        assert (taken.info.run_id, taken.info.resumed) == (log.info.run_id, True)
        for call in (
            log.commit([make.result(1)], paid=True),
            log.claim([make.trial(2)]),
            log.finish(RunState.FINISHED, None),
        ):
            with pytest.raises(StoreError, match="taken-over"):
                await call
        assert (await taken.claim([make.trial(0), make.trial(1)])).attempts == {make.trial_id(1): 2}
        await one.close()  # must not free what is no longer its own
        await taken.commit([make.result(1)], paid=False)
        await taken.finish(RunState.FINISHED, None)
        await two.close()
        assert list(taken.results(ResultOrder.PLAN)) == [make.result(0), make.result(1)]

    asyncio.run(main())


def test_the_writer_renews_the_lease(make: ModuleType, path: Path, store: Stores) -> None:
    """A run that waits for long trials keeps its lease without anybody calling the store."""

    async def main() -> None:
        now = 1000.0
        one = store(timing=Timing(renew_s=0.02, clock=lambda: now))
        await one.begin(make.head(), fresh=False)
        now = 5000.0
        deadline = time.monotonic() + 30
        while make.query(path, "SELECT lease_expires FROM owners") != [(5060.0,)]:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        await one.close()
        assert make.query(path, "SELECT * FROM owners") == []

    asyncio.run(main())


def test_a_renewal_that_fails_is_tried_again(make: ModuleType, path: Path, store: Stores) -> None:
    """A database that is locked when the lease is due does not end the writer."""

    async def main() -> None:
        now = 1000.0
        one = store(timing=Timing(renew_s=0.02, busy_s=0.01, clock=lambda: now))
        log = await one.begin(make.head(), fresh=False)
        lock = make.sqlite3.connect(path, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        now = 5000.0
        await asyncio.sleep(0.2)
        lock.execute("ROLLBACK")
        lock.close()
        await log.commit([make.result(0)], paid=False)
        assert make.query(path, "SELECT lease_expires FROM owners") == [(5060.0,)]
        await one.close()

    asyncio.run(main())


def test_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process here is dead or alive, one elsewhere or behind a wall is unknown."""
    me = Process.this()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert replace(me, pid=ended.pid).lives() is False
    assert replace(me, host="elsewhere").lives() is None
    assert replace(me, started=None).lives() is None, "without a start time its number may be another's"
    if sys.platform == "linux":
        assert me.lives() is True
        assert replace(me, started="0").lives() is False
    monkeypatch.setattr(ownership, "_stat", lambda pid: None)
    assert me.lives() is None


def test_processes_of_other_users_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not being allowed to signal a process does not mean that it is dead."""

    def refuse(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(ownership.os, "kill", refuse)
    assert replace(Process.this(), started=None).lives() is None


def test_host_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no /proc the host's name has to do."""

    def absent(*_: object, **__: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", absent)
    assert ownership._host.__wrapped__() == ownership.socket.gethostname()
    assert ownership._stat(os.getpid()) is None
