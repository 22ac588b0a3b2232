"""Killed processes, processes side by side, full disks: what was acknowledged stays."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillgauge.api import ExitCode, ResultOrder, RunQuery, StoreError
from skillgauge.api.report import RunState
from skillgauge_store_sqlite.ownership import Timing
from skillgauge_store_sqlite.store import SqliteStore

Stores = Callable[..., SqliteStore]
SIZE = 50


def acknowledged(one: Any, at_least: int, linger_s: float) -> int:
    """Kill a working child after it acknowledged so many trials and a moment more; how many it had acknowledged."""
    done = 0
    while done < at_least:
        done = int(one.hear().split()[1])
    time.sleep(linger_s)
    one.process.kill()
    while line := one.hear():
        done = int(line.split()[1])
    one.process.wait(timeout=30)
    return done


@pytest.mark.slow
@pytest.mark.parametrize("point", range(12))
def test_kill_loses_nothing_that_was_acknowledged(
    make: ModuleType, path: Path, store: Stores, child: Callable[[], Any], point: int
) -> None:
    """After SIGKILL at any moment file and batches are whole, what was acknowledged is there, and the run goes on."""
    one = child()
    one.tell("begin plan")
    run_id = one.hear().split()[1]
    one.tell(f"work 0 1000000 {SIZE}")
    done = acknowledged(one, SIZE * (1 + point), random.Random(point).uniform(0, 0.01))
    assert make.query(path, "PRAGMA integrity_check") == [("ok",)]

    async def main() -> None:
        mine = store()
        log = await mine.begin(make.head(), fresh=False)
        assert (log.info.run_id, log.info.resumed) == (run_id, True)
        kept = [result.ordinal for result in log.results(ResultOrder.PLAN)]
        assert kept == list(range(len(kept)))
        assert len(kept) % SIZE == 0
        assert done <= len(kept) <= done + SIZE
        claimed = await log.claim([make.trial(n) for n in range(len(kept) + 2 * SIZE)])
        assert claimed.done == {make.trial_id(n) for n in kept}
        attempts = [claimed.attempts[make.trial_id(n)] for n in range(len(kept), len(kept) + 2 * SIZE)]
        assert attempts in ([1] * 2 * SIZE, [2] * SIZE + [1] * SIZE), "a claim is counted as a whole or not at all"
        await log.finish(RunState.FINISHED, None)
        await mine.close()

    asyncio.run(main())


@pytest.mark.slow
def test_two_processes_on_one_file(make: ModuleType, path: Path, child: Callable[[], Any]) -> None:
    """Two runs into one file at the same time, the file being new: both keep everything."""
    pair = [child(), child()]
    for number, one in enumerate(pair):
        one.tell(f"begin plan-{number}")
    for one in pair:
        assert one.hear().startswith("begun")
        one.tell("work 0 600 20")
    for one in pair:
        assert [one.hear() for _ in range(30)] == [f"done {n}" for n in range(20, 601, 20)]
        one.tell("exit")
        assert one.process.wait(timeout=30) == 0
    assert make.query(path, "SELECT count(*), count(DISTINCT id >> 40) FROM results") == [(1200, 2)]
    assert make.query(path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.slow
def test_only_one_of_many_resumes(make: ModuleType, store: Stores, child: Callable[[], Any]) -> None:
    """Of four processes that want the same dead run at once, one gets it and the others begin runs of their own."""
    dead = child()
    dead.tell("begin plan")
    run_id = dead.hear().split()[1]
    dead.process.kill()
    dead.process.communicate()
    crowd = [child() for _ in range(4)]
    for one in crowd:
        one.tell("begin plan")
    answers = [one.hear().split()[1:] for one in crowd]
    assert sorted(resumed for _, resumed in answers) == ["False", "False", "False", "True"]
    assert [found for found, resumed in answers if resumed == "True"] == [run_id]
    assert len({found for found, _ in answers}) == 4


def test_a_full_database_says_so(make: ModuleType, path: Path, store: Stores) -> None:
    """Without space a commit fails as a whole, says what to do, and works again once there is space."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(0)], paid=False)
        pages = make.query(path, "PRAGMA page_count")[0][0]
        await one._writer.run(lambda db: db.execute(f"PRAGMA max_page_count = {pages}"))
        large = [make.result(n, execution={"text": make.noise(20_000)}) for n in range(1, 6)]
        with pytest.raises(StoreError, match=r"disk-full.*no space left") as caught:
            await log.commit(large, paid=False)
        assert "run the same command again" in str(caught.value)
        assert list(log.results(ResultOrder.PLAN)) == [make.result(0)]
        await one._writer.run(lambda db: db.execute("PRAGMA max_page_count = 1000000"))
        await log.commit(large, paid=False)
        assert list(log.results(ResultOrder.PLAN)) == [make.result(0), *large]
        await one.close()

    asyncio.run(main())


FILL = """
import asyncio, resource, sys
import builders
from skillgauge.api import StoreError
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.store import SqliteStore

async def main():
    store = SqliteStore(SqliteOptions(location=sys.argv[1]))
    log = await store.begin(builders.head(), fresh=False)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    try:
        for n in range(1000):
            await log.commit([builders.result(n, execution={"text": builders.noise(20_000)})], paid=False)
            print(n, flush=True)
    except StoreError as error:
        print(error)
    await store.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_file_that_cannot_grow(make: ModuleType, path: Path, store: Stores) -> None:
    """A write that the system refuses ends with advice; everything acknowledged before is there."""
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(path)], cwd=here, capture_output=True, text=True, check=True, timeout=60
    )
    *acknowledged_lines, message, hint = done.stdout.splitlines()
    assert "store.io" in message or "store.disk-full" in message
    assert "run the same command again" in hint

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        assert log.info.resumed
        assert [result.ordinal for result in log.results(ResultOrder.PLAN)] == [int(n) for n in acknowledged_lines]
        await one.close()

    asyncio.run(main())


def test_a_lock_that_is_held_too_long(make: ModuleType, path: Path, store: Stores) -> None:
    """A lock of another program is waited for, and named when it lasts too long."""

    async def main() -> None:
        one = store(timing=Timing(busy_s=0.05))
        log = await one.begin(make.head(), fresh=False)
        lock = make.sqlite3.connect(path, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"busy.*locked by another program"):
            await log.commit([make.result(0)], paid=False)
        lock.execute("ROLLBACK")
        lock.close()
        await log.commit([make.result(0)], paid=False)
        await one.close()

    asyncio.run(main())


def test_who_waited_in_vain_does_not_wait_as_long_again(make: ModuleType, path: Path, store: Stores) -> None:
    """The last steps of a run that ends by a lock are short, and once one succeeds all wait as before."""

    async def main() -> None:
        one = store(timing=Timing(busy_s=0.05))
        log = await one.begin(make.head(), fresh=False)

        async def waits_ms() -> int:
            found = await one._writer.run(lambda db: db.execute("PRAGMA busy_timeout").fetchone())
            return int(found[0])

        assert await waits_ms() == 50
        lock = make.sqlite3.connect(path, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="busy"):
            await log.commit([make.result(0)], paid=False)
        assert await waits_ms() == 1000
        assert await waits_ms() == 50
        lock.execute("ROLLBACK")
        lock.close()
        await one.close()

    asyncio.run(main())


def test_waiting_for_the_log_to_be_switched_on(make: ModuleType, path: Path, store: Stores) -> None:
    """SQLite does not wait when it switches to the log; we do, up to the same limit."""
    asyncio.run(_begin_and_close(store(), make))
    make.query(path, "PRAGMA journal_mode = DELETE")
    lock = make.sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    lock.execute("BEGIN")
    lock.execute("SELECT * FROM runs").fetchall()
    with pytest.raises(StoreError, match="busy"):
        asyncio.run(_begin_and_close(store(timing=Timing(busy_s=0.05)), make))
    release = threading.Timer(0.2, lock.close)
    release.start()
    asyncio.run(_begin_and_close(store(), make))
    release.join()


async def _begin_and_close(one: SqliteStore, make: ModuleType) -> None:
    try:
        await one.begin(make.head(), fresh=False)
    finally:
        await one.close()


def test_a_damaged_database_says_so(make: ModuleType, path: Path, store: Stores) -> None:
    """Overwritten pages are reported as damage, for running and for reading."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(n) for n in range(100)], paid=False)
        await one.close()
        content = path.read_bytes()
        path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
        for call in (lambda: asyncio.run(once()), lambda: list(log.results(ResultOrder.PLAN))):
            with pytest.raises(StoreError, match=r"store\.damaged"):
                await asyncio.to_thread(call)

    async def once() -> None:
        await _begin_and_close(store(), make)

    asyncio.run(main())


def test_a_read_only_file_says_so(make: ModuleType, path: Path, store: Stores) -> None:
    """A database that may not be written is named with what to do."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await one._writer.run(lambda db: db.execute("PRAGMA query_only = 1"))
        with pytest.raises(StoreError, match=r"store\.not-writable.*\n  next: Make the file"):
            await log.commit([make.result(0)], paid=False)
        await one.close()

    asyncio.run(main())


@pytest.mark.slow
def test_a_store_that_nobody_closes(make: ModuleType, path: Path) -> None:
    """A program that forgets to close the store ends all the same, and its run can be resumed."""
    code = (
        "import asyncio, sys, builders\n"
        "from skillgauge_store_sqlite.options import SqliteOptions\n"
        "from skillgauge_store_sqlite.store import SqliteStore\n"
        "store = SqliteStore(SqliteOptions(location=sys.argv[1]))\n"
        "print(asyncio.run(store.begin(builders.head(), fresh=False)).info.run_id)\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    runs = [
        subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True, timeout=30)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout != ""


@pytest.mark.parametrize("seed", range(30))
def test_flipped_bytes_are_damage_or_no_matter(make: ModuleType, path: Path, store: Stores, seed: int) -> None:
    """T-M4: whatever 300 bytes are wrong, reading and writing work or say that the file is damaged."""

    async def fill() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(n) for n in range(100)], paid=False)
        await log.finish(RunState.FINISHED, None)
        await one.close()

    def read() -> None:
        for view in store().scan(RunQuery()):
            assert len(list(view.results())) <= 100
            list(view.cases())

    async def write() -> None:
        one = store()
        try:
            log = await one.begin(make.head(), fresh=False)
            await log.commit([make.result(n) for n in range(10)], paid=False)
            await log.finish(RunState.FINISHED, None)
        finally:
            await one.close()

    asyncio.run(fill())
    random_source, content = random.Random(seed), bytearray(path.read_bytes())
    for at in random_source.sample(range(100, len(content)), 300):
        content[at] = random_source.randrange(256)
    path.write_bytes(content)
    told = []
    for act in (read, lambda: asyncio.run(write())):
        try:
            act()
        except StoreError as error:
            told.append((error.problems[0].code, error.exit_code))
    assert {code for code, _ in told} <= {"store.damaged", "store.plan-mismatch"}
    assert all(end is ExitCode.USAGE for code, end in told if code == "store.damaged")
