"""The file itself: its mode, its version, and files that are not ours."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge.api import Followed, ResultOrder, RunNotes, RunQuery, StoreError, TrialResult, Unfinished
from skillgauge.api.report import case_by_case
from skillgauge_store_sqlite.database import Database
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.schema import APPLICATION_ID, MIGRATIONS, first_key
from skillgauge_store_sqlite.store import SqliteStore
from skillgauge_stored_runs import encode

Stores = Callable[..., SqliteStore]
NEXT = (*MIGRATIONS, "ALTER TABLE runs ADD COLUMN note TEXT DEFAULT 'a;b'; CREATE TABLE notes (n TEXT)")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}


def refused(store: Stores, make: ModuleType, path: Path) -> str:
    """What a store says of a file that it refuses for running and for reading, without touching anything."""
    before, one = contents(path.parent), store()
    with pytest.raises(StoreError) as running:
        asyncio.run(one.begin(make.head(), fresh=False))
    with pytest.raises(StoreError) as reading:
        list(one.scan(RunQuery()))
    asyncio.run(one.close())
    assert contents(path.parent) == before
    assert str(running.value) == str(reading.value)
    return str(running.value)


def begun(store: SqliteStore, make: ModuleType, plan: str = "plan") -> None:
    """Leave an unfinished run with one result in the database."""

    async def main() -> None:
        log = await store.begin(make.head(plan), fresh=False)
        await log.commit([make.result(0)], paid=False)
        await store.close()

    asyncio.run(main())


def as_before_version(path: Path, version: int) -> None:
    """Take away from a database what the script of a version and later ones have added."""
    added = {
        3: "DROP TABLE spending",
        4: "DROP TABLE kept",
        5: "DROP TABLE commits; DROP TABLE sessions; DROP INDEX results_by_verdict",
        6: "DROP TABLE run_notes",
        7: "DROP TABLE trial_notes",
        8: "DROP TABLE budget_shares",
        9: "DROP TABLE services; DROP TABLE service_shares",
        10: "ALTER TABLE results DROP COLUMN trajectory",
    }
    with closing(sqlite3.connect(path)) as db:
        for number in sorted((one for one in added if one >= version), reverse=True):
            db.executescript(added[number])
        db.execute(f"PRAGMA user_version = {version - 1}")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize("touched", [False, True])
def test_only_the_owner_reads_it(make: ModuleType, path: Path, store: Stores, touched: bool) -> None:
    """The database and both files beside it have mode 0600 whatever the umask, also if an empty file was there."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(0)], paid=True)
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()}
        assert modes == {"runs.db": 0o600, "runs.db-wal": 0o600, "runs.db-shm": 0o600}
        await one.close()

    before = os.umask(0)
    try:
        if touched:
            path.touch(0o666)
        asyncio.run(main())
    finally:
        os.umask(before)


def test_locations(make: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path counts from the folder at the start; `~`, blanks, marks of addresses and `file://` work."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    names = {"./a.db": "a.db", "~/b.db": "b.db", "c d?e=#%41.db": "c d?e=#%41.db", f"file://{tmp_path}/f.db": "f.db"}
    for location in names:
        one = SqliteStore(SqliteOptions(location=location))
        monkeypatch.chdir("/")
        begun(one, make)
        monkeypatch.chdir(tmp_path)
    assert sorted(contents(tmp_path)) == sorted(names.values())


def test_the_folder_must_exist(make: ModuleType, tmp_path: Path) -> None:
    """A folder is never made by the way: it may be a misspelt path."""
    one = SqliteStore(SqliteOptions(location=str(tmp_path / "absent" / "runs.db")))
    with pytest.raises(StoreError, match=r"no-folder.*does not exist\n  next: Create the folder .*absent"):
        asyncio.run(one.begin(make.head(), fresh=False))
    assert list(one.scan(RunQuery())) == []
    asyncio.run(one.close())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_database(make: ModuleType, path: Path, store: Stores) -> None:
    """Naming a folder says so."""
    path.mkdir()
    assert "Is a directory" in refused(store, make, path)


def test_a_text_file_is_refused(make: ModuleType, path: Path, store: Stores) -> None:
    """A file that is not SQLite, even a tiny one, is named and left alone."""
    for text in (b"x", b"# notes\n" * 100):
        path.write_bytes(text)
        assert f"{path} is not an SQLite database" in refused(store, make, path)


@pytest.mark.requirement("ES-EVAL-018")
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_the_database_of_eval_skills_is_refused(make: ModuleType, path: Path, store: Stores, mode: str) -> None:
    """The database of the original tool is recognised, named and left alone; the message says how to take it over."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        for table in ("skills", "evaluations", "task_results"):
            db.execute(f"CREATE TABLE {table} (id TEXT PRIMARY KEY, data JSON)")
    said = refused(store, make, path)
    assert "belongs to eval-skills" in said
    assert f"skillgauge history import {path}" in said


def test_other_databases_are_refused(make: ModuleType, path: Path, store: Stores) -> None:
    """A foreign database, with or without tables or an application id, is refused with what it holds."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM")
        assert "it has no tables" in refused(store, make, path)
        db.execute("PRAGMA application_id = 42")
        for number in range(7):
            db.execute(f"CREATE TABLE t{number} (x)")
    assert "another program (tables: t0, t1, t2, t3, t4, ...)" in refused(store, make, path)
    path.write_bytes(b"SQLite format 3\0" + bytes(84) + b"rubbish" * 1000)
    assert "another program or is damaged" in refused(store, make, path)


def test_a_database_that_became_foreign_meanwhile(
    make: ModuleType, path: Path, store: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another program fills an empty file between our look and our lock, it is refused all the same."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE theirs (x)")
    monkeypatch.setattr(Database, "_refuse_foreign", lambda self: False)
    before = path.read_bytes()
    one = store()
    with pytest.raises(StoreError, match="belongs to another program"):
        asyncio.run(one.begin(make.head(), fresh=False))
    asyncio.run(one.close())
    assert path.read_bytes() == before


def test_a_newer_database_is_refused(make: ModuleType, path: Path, store: Stores) -> None:
    """A database with later tables is refused with its version and left alone."""
    begun(store(migrations=NEXT), make)
    assert f"version {len(NEXT)} of our tables; this program knows up to {len(MIGRATIONS)}" in refused(
        store, make, path
    )


def test_a_newer_database_after_a_crash_is_refused(make: ModuleType, path: Path, store: Stores) -> None:
    """Not even the log that a killed newer program left behind is touched."""
    newer = store(migrations=NEXT)
    begun(store(), make)
    asyncio.run(newer.begin(make.head("other"), fresh=False))
    left = contents(path.parent)
    asyncio.run(newer.close())
    for name, content in left.items():
        path.with_name(name).write_bytes(content)
    assert left["runs.db"][60:64] == bytes([0, 0, 0, len(MIGRATIONS)]), "the new version must be in the log only"
    before = {name: content for name, content in contents(path.parent).items() if not name.endswith("-shm")}
    one = store()
    with pytest.raises(StoreError, match=f"version {len(NEXT)} of our tables"):
        asyncio.run(one.begin(make.head(), fresh=False))
    asyncio.run(one.close())
    after = {name: content for name, content in contents(path.parent).items() if not name.endswith("-shm")}
    assert after == before


@pytest.mark.parametrize("how", ["begin", "scan"])
def test_migration(make: ModuleType, path: Path, store: Stores, how: str) -> None:
    """An older database is brought up to date, by running as by reading, and keeps its runs."""
    begun(store(), make)
    one = store(migrations=NEXT)
    if how == "begin":
        assert asyncio.run(one.begin(make.head(), fresh=False)).info.resumed
    (view,) = one.scan(RunQuery())
    assert list(view.results()) == [make.result(0)]
    asyncio.run(one.close())
    assert make.query(path, "SELECT note FROM runs") == [("a;b",)]
    assert make.query(path, "PRAGMA user_version") == [(len(NEXT),)]
    assert make.query(path, "PRAGMA application_id") == [(APPLICATION_ID,)]


def test_a_file_of_the_first_version_is_read(make: ModuleType, path: Path, store: Stores) -> None:
    """Its runs and results are as they were, in every order; of their cases nothing is known."""
    db = Database(path, 5, MIGRATIONS[:1]).writer()
    with closing(db):
        values = ("old", "p", "1.0", "finished", 1.0, make.head().model_dump_json(), make.summary().model_dump_json())
        db.execute("INSERT INTO runs VALUES (1, ?, ?, ?, ?, ?, 2.0, 0, 0, ?, ?)", values)
        results = [make.result(n) for n in range(3)]
        group = (results[0].suite_id, results[0].target_id, results[0].arm, results[0].runner, results[0].model)
        db.execute("INSERT INTO groups VALUES (1, 1, ?, ?, ?, ?, ?)", group)
        rows = [(first_key(1) + n, n, one.trial_id, one.verdict.value, encode(one)) for n, one in enumerate(results)]
        db.executemany("INSERT INTO results VALUES (?, 1, ?, 1, ?, ?, ?)", rows)
    one = store()
    (view,) = one.scan(RunQuery())
    assert list(view.results()) == list(view.results(results[0].group)) == results
    assert list(view.source.results(ResultOrder.CASE)) == results
    assert list(view.cases()) == []
    assert [report.case.id for report in case_by_case(view)] == [result.case_id for result in results]
    asyncio.run(one.close())


def test_a_run_of_the_version_before_spending_was_kept_goes_on(make: ModuleType, path: Path, store: Stores) -> None:
    """What its trials have used is not known, and from now on it is kept."""
    begun(store(), make)
    as_before_version(path, 3)
    spent = Unfinished(trial_id=make.trial(1).trial_id, ordinal=1, claim=1, attempts=())

    async def resumed() -> None:
        log = await one.begin(make.head(), fresh=False)
        assert log.info.resumed
        assert list(log.unfinished()) == []
        claimed = await log.claim([make.trial(1)])
        assert dict(claimed.cut_off) == {}
        await log.spend([spent])
        assert list(log.unfinished()) == [spent]

    one = store()
    asyncio.run(resumed())
    asyncio.run(one.close())
    assert make.query(path, "PRAGMA user_version") == [(len(MIGRATIONS),)]


def test_a_run_of_the_version_before_runs_were_followed_is_counted(make: ModuleType, path: Path, store: Stores) -> None:
    """Its results come in plan order, and those that a resumed run adds come behind them."""
    results = [make.result(n) for n in range(3)]

    async def begin(done: list[TrialResult]) -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit(done, paid=False)
        await one.close()

    asyncio.run(begin(results[1:][::-1]))
    as_before_version(path, 5)
    asyncio.run(begin(results[:1]))
    (view,) = store().scan(RunQuery())
    assert isinstance(view.source, Followed)
    assert view.source.progress().done == 3
    assert [result for _, result in view.source.results_since(0)] == [*results[1:], results[0]]


def test_a_run_of_the_version_before_notes_were_kept_gets_one(make: ModuleType, path: Path, store: Stores) -> None:
    """Nothing is said of it at first; who only reads brings the tables up to date, too."""
    begun(store(), make)
    as_before_version(path, 6)
    one = store()
    assert one.notes() == {}
    (view,) = one.scan(RunQuery())
    said = RunNotes(name="old", labels=(("team", "search"),))
    assert asyncio.run(one.annotate(view.run.run_id, said))
    asyncio.run(one.close())
    assert store().notes() == {view.run.run_id: said}
    assert make.query(path, "PRAGMA user_version") == [(len(MIGRATIONS),)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize(("mode", "is_of_group"), [(0o2770, True), (0o770, False), (0o2775, False), (0o2750, False)])
def test_a_group_shares_a_database(make: ModuleType, path: Path, store: Stores, mode: int, is_of_group: bool) -> None:
    """All files have mode 0660, in a folder that gives them its group; any other folder is refused and left empty."""
    path.parent.chmod(mode)
    one = SqliteStore(SqliteOptions(location=str(path), group_access=True))

    async def main() -> dict[str, int]:
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(0)], paid=True)
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()}
        await one.close()
        return modes

    if is_of_group:
        assert asyncio.run(main()) == {"runs.db": 0o660, "runs.db-wal": 0o660, "runs.db-shm": 0o660}
    else:
        with pytest.raises(StoreError, match="no folder of a group") as refusal:
            asyncio.run(main())
        assert "chmod 2770" in str(refusal.value.problems[0].hint)
        assert contents(path.parent) == {}


def test_a_second_store_of_the_process_keeps_the_locks_of_the_first(
    make: ModuleType, path: Path, store: Stores
) -> None:
    """Another process that closes the database leaves its log alone, and sees what the first store writes later."""
    program = (
        "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM results').fetchone())"
    )

    def seen_elsewhere() -> int:
        done = subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True, text=True)
        return int(done.stdout)

    async def main() -> list[int]:
        first = store()
        log = await first.begin(make.head(), fresh=False)
        await log.commit([make.result(0)], paid=True)
        assert len(list(SqliteStore(SqliteOptions(location=str(path))).scan(RunQuery()))) == 1
        counts = [seen_elsewhere()]
        await log.commit([make.result(1)], paid=True)
        counts.append(seen_elsewhere())
        await first.close()
        return counts

    assert asyncio.run(main()) == [1, 2]


def test_a_migration_that_fails_changes_nothing(make: ModuleType, path: Path, store: Stores) -> None:
    """Each script is applied as a whole or not at all; those before it stay."""
    begun(store(), make)
    one = store(migrations=(*NEXT, "CREATE TABLE later (x); CREATE TABLE notes (n)"))
    with pytest.raises(StoreError, match="already exists"):
        asyncio.run(one.begin(make.head(), fresh=False))
    asyncio.run(one.close())
    assert make.query(path, "PRAGMA user_version") == [(len(NEXT),)]
    assert make.query(path, "SELECT name FROM sqlite_master WHERE name = 'later'") == []


def test_migrating_at_the_same_time(make: ModuleType, path: Path, store: Stores) -> None:
    """Eight stores that open one new file at once agree on who makes its tables."""

    async def main() -> None:
        stores = [store(migrations=NEXT) for _ in range(8)]
        logs = await asyncio.gather(*(one.begin(make.head(str(n)), fresh=False) for n, one in enumerate(stores)))
        assert len({log.info.run_id for log in logs}) == 8
        await asyncio.gather(*(one.close() for one in stores))

    for _ in range(5):
        asyncio.run(main())
        path.unlink()


def test_without_write_ahead_log(make: ModuleType, path: Path, store: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the log cannot be switched on, the ordinary journal serves."""
    monkeypatch.setattr(Database, "_use_wal", lambda self, db: None)

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(0)], paid=True)
        assert list(log.results(ResultOrder.PLAN)) == [make.result(0)]
        await one.close()

    asyncio.run(main())
    assert make.query(path, "PRAGMA journal_mode") == [("delete",)]
