"""The database itself: whose it is, its version, its rights, and errors that say what to do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import postgres_servers
from skillgauge.api import ExitCode, Kept, ResultOrder, RunQuery, StoreError, TrialResult
from skillgauge.api.report import RunInfo, RunState, RunView
from skillgauge_store_postgres.options import PostgresOptions
from skillgauge_store_postgres.rows import columns_of, group_from, name_of, stored_name
from skillgauge_store_postgres.schema import MIGRATIONS
from skillgauge_store_postgres.store import PostgresStore
from skillgauge_testkit.contract import samples

TABLES = "SELECT string_agg(n.nspname || '.' || relname, ' ' ORDER BY 1) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'"  # noqa: E501 - one statement


def runs(store: PostgresStore) -> list[RunView]:
    """All that is stored; the store is closed."""
    try:
        return list(store.scan(RunQuery()))
    finally:
        asyncio.run(store.close())


def begin(store: PostgresStore) -> None:
    """Begin a run with one result, and close the store."""

    async def main() -> None:
        try:
            log = await store.begin(samples.head(), fresh=False)
            await log.claim([samples.trial(0)], [samples.case(0)])
            await log.commit([samples.result(0)], paid=True)
            await log.finish(RunState.FINISHED, samples.summary(1))
        finally:
            await store.close()

    asyncio.run(main())


def refused(store: PostgresStore, *, reads: bool = True) -> StoreError:
    """The error with which a store refuses to begin a run; the same with which it refuses to be read."""
    with pytest.raises(StoreError) as caught:
        begin(store)
    if reads:
        with pytest.raises(StoreError) as again:
            runs(store)
        assert again.value.problems == caught.value.problems
    return caught.value


@pytest.mark.postgres
def test_reading_makes_nothing(place: Any) -> None:
    """A database without our tables holds no runs, and looking changes nothing in it."""
    assert runs(place.store()) == []
    assert place.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'skillgauge'") == "0"


@pytest.mark.postgres
def test_a_database_of_another_program_is_refused(place: Any) -> None:
    """Tables of others are named and left alone; a schema that somebody made for us is the word to keep runs there."""
    place.sql("CREATE TABLE orders (id int); CREATE SCHEMA shop; CREATE VIEW shop.open AS SELECT * FROM orders")
    before = place.sql(TABLES)
    error = refused(place.store(), reads=False)
    assert (error.problems[0].code, error.exit_code) == ("store.foreign", ExitCode.USAGE)
    assert "public.orders, shop.open" in error.problems[0].message
    assert "CREATE SCHEMA skillgauge" in str(error.problems[0].hint)
    assert place.sql(TABLES) == before
    assert runs(place.store()) == []
    place.sql("CREATE SCHEMA skillgauge")
    begin(place.store())
    assert len(runs(place.store())) == 1


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("statements", "code", "reads"),
    [
        ("CREATE SCHEMA skillgauge; CREATE TABLE skillgauge.jobs (id int)", "store.foreign", False),
        ("CREATE SCHEMA skillgauge; CREATE TABLE skillgauge.meta (id int)", "store.foreign", True),
        (
            "CREATE SCHEMA skillgauge; CREATE TABLE skillgauge.meta (application text, version int);"
            "INSERT INTO skillgauge.meta VALUES ('cats', 1)",
            "store.foreign",
            True,
        ),
        (
            "CREATE SCHEMA skillgauge; CREATE TABLE skillgauge.meta (application text, version int);"
            "INSERT INTO skillgauge.meta VALUES ('skillgauge runs', 99)",
            "store.newer",
            True,
        ),
    ],
)
def test_a_schema_that_is_not_ours_is_refused(place: Any, statements: str, code: str, *, reads: bool) -> None:
    """A schema of our name with tables of others, and one of a newer version, are refused and left as they are."""
    place.sql(statements)
    before = place.sql(TABLES)
    error = refused(place.store(), reads=reads)
    assert (error.problems[0].code, error.exit_code) == (code, ExitCode.USAGE)
    assert error.problems[0].hint
    assert place.sql(TABLES) == before


@pytest.mark.postgres
def test_an_older_version_is_brought_up_to_date(place: Any) -> None:
    """New scripts are applied once, by a writer or a reader, and the older program refuses what came of it."""
    begin(place.store())
    scripts = (*MIGRATIONS, "ALTER TABLE runs ADD note text; CREATE INDEX runs_by_note ON runs (note)")
    options = PostgresOptions(location=place.address)
    (view,) = runs(PostgresStore(options, migrations=scripts))
    assert [result.ordinal for result in view.results()] == [0]
    begin(PostgresStore(options, migrations=scripts))
    assert place.sql("SELECT version FROM skillgauge.meta") == str(len(scripts))
    assert refused(place.store()).problems[0].code == "store.newer"


@pytest.mark.postgres
def test_a_script_that_fails_leaves_the_older_version(place: Any) -> None:
    """A script is applied as a whole or not at all."""
    begin(place.store())
    scripts = (*MIGRATIONS, "ALTER TABLE runs ADD note text; SELECT 1 / 0")
    with pytest.raises(StoreError, match="division by zero"):
        begin(PostgresStore(PostgresOptions(location=place.address), migrations=scripts))
    begin(place.store())
    assert len(runs(place.store())) == 2


@pytest.mark.slow
@pytest.mark.postgres
def test_several_make_the_tables_at_once(place: Any) -> None:
    """Writers that meet at an empty database make its tables once, and each keeps its run."""
    threads = [threading.Thread(target=begin, args=(place.store(),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert place.sql("SELECT count(*), max(version) FROM skillgauge.meta") == f"1|{len(MIGRATIONS)}"
    assert len(runs(place.store())) == 6


@pytest.mark.postgres
def test_a_database_without_all_characters_is_refused(place: Any) -> None:
    """A database in another encoding than UTF-8 is refused before anything is made in it."""
    name = f"{place.name}_latin"
    place.server.psql(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1'")
    error = refused(place.store(place.server.address(name)), reads=False)
    assert error.problems[0].code == "store.encoding"
    assert "createdb --encoding UTF8" in str(error.problems[0].hint)


@pytest.mark.postgres
def test_writes_are_durable_whatever_the_database_says(place: Any) -> None:
    """A database that acknowledges before it has written is told otherwise."""
    place.sql(f"ALTER DATABASE {place.name} SET synchronous_commit = off")
    place.sql(f"ALTER DATABASE {place.name} SET default_transaction_isolation = serializable")
    seen = []

    async def main() -> None:
        store = place.store()
        await store.begin(samples.head(), fresh=False)
        for setting in ("synchronous_commit", "default_transaction_isolation"):
            row = await store._writer.run(
                lambda db, setting=setting: db.execute(f"SHOW {setting}").fetchone()  # type: ignore[misc]
            )
            seen.append(row[0])
        await store.close()

    asyncio.run(main())
    assert seen == ["on", "read committed"]


@pytest.mark.postgres
def test_a_read_only_database_is_named(place: Any) -> None:
    """A server that takes no writes, as a standby is, can be read and says so to a writer."""
    begin(place.store())
    place.sql(f"ALTER DATABASE {place.name} SET default_transaction_read_only = on")
    error = refused(place.store(), reads=False)
    assert error.problems[0].code == "store.not-writable"
    assert len(runs(place.store())) == 1


@pytest.mark.postgres
def test_a_full_disk_is_named_and_nothing_is_lost(place: Any) -> None:
    """A server without space ends the run with what to do; what it had is there, and the run goes on afterwards."""
    full = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"  # noqa: E501 - one statement
    place.sql(full)

    async def main() -> None:
        store = place.store()
        log = await store.begin(samples.head(), fresh=False)
        await log.commit([samples.result(0)], paid=True)
        place.sql("CREATE TRIGGER full_disk BEFORE INSERT ON skillgauge.results EXECUTE FUNCTION full_disk()")
        with pytest.raises(StoreError, match="has no space left") as caught:
            await log.commit([samples.result(1)], paid=True)
        assert (caught.value.problems[0].code, int(caught.value.exit_code)) == ("store.disk-full", 3)
        assert "run the same command again" in str(caught.value.problems[0].hint)
        place.sql("DROP TRIGGER full_disk ON skillgauge.results")
        assert [result.ordinal for result in log.results(ResultOrder.PLAN)] == [0]
        await log.commit([samples.result(1)], paid=True)
        assert [result.ordinal for result in log.results(ResultOrder.PLAN)] == [0, 1]
        await store.close()

    asyncio.run(main())


@pytest.mark.postgres
def test_rights_are_named(place: Any) -> None:
    """A role without rights is told who grants them, both ways."""
    begin(place.store())
    role = f"{place.name}_guest"
    place.sql(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA skillgauge TO {role}")
    guest = place.server.address(place.name, user=role)
    error = refused(place.store(guest))
    assert (error.problems[0].code, error.exit_code) == ("store.not-allowed", ExitCode.USAGE)
    assert "owner of the tables" in str(error.problems[0].hint)


@pytest.mark.postgres
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE skillgauge.results SET body = '\\xff00'",
        "UPDATE skillgauge.results SET body = convert_to('{}', 'UTF8')",
        "UPDATE skillgauge.runs SET head = convert_to('{\"plan_id\": 1}', 'UTF8')",
        "UPDATE skillgauge.runs SET state = 'asleep'",
        "ALTER TABLE skillgauge.results RENAME body TO text",
        "DROP TABLE skillgauge.results",
    ],
)
def test_damage_is_named(place: Any, statement: str) -> None:
    """A record that is none, a row with what no run has, and tables that are not ours are an error with its place."""
    begin(place.store())
    place.sql(statement)
    with pytest.raises(StoreError) as caught:
        [list(view.results()) for view in runs(place.store())]
    assert (caught.value.problems[0].code, caught.value.exit_code) == ("store.damaged", ExitCode.USAGE)
    assert place.name in str(caught.value)


@pytest.mark.postgres
def test_long_bodies_and_odd_names_come_back(place: Any) -> None:
    """Bodies that are read one by one, and ids with characters that no column takes, are there in every order."""
    names = ("b", "a\0", "a%00", "a", "a%", "a!", "ä")
    results = [
        samples.result(n, suite_id=name, target_id=name, arm=name, model=None if n % 2 else name)
        for n, name in enumerate(names)
    ]
    noise = "".join(f"{n * 2654435761 % 2**32:08x}" for n in range(40_000))
    results[2] = results[2].model_copy(update={"execution": results[2].execution.model_copy(update={"stdout": noise})})
    cases = [samples.case(n, suite_id=name, prompt=noise if n == 1 else "") for n, name in enumerate(names)]

    async def main() -> None:
        store = place.store()
        log = await store.begin(samples.head(), fresh=False)
        await log.claim([samples.trial(0)], cases)
        await log.commit(results, paid=False)
        assert list(log.results(ResultOrder.PLAN)) == results
        assert list(log.results(ResultOrder.CASE)) == sorted(results, key=lambda one: one.suite_id)
        assert list(log.cases()) == sorted(cases, key=lambda one: one.suite_id)
        for result in results:
            for order in ResultOrder:
                assert list(log.results(order, result.group)) == [result]
        await store.close()

    asyncio.run(main())
    assert int(place.sql("SELECT max(octet_length(body)) FROM skillgauge.results")) > 64 * 1024


@given(st.lists(st.text("%025\0a"), max_size=5))
def test_names_are_told_apart(names: list[str]) -> None:
    """A name comes back from its column, which never holds the character NUL."""
    assert [name_of(stored_name(name)) for name in names] == names
    assert not any("\0" in stored_name(name) for name in names)
    group = ("%", None, "\0", "%00", "x")
    assert group_from(columns_of(group)) == group


@pytest.mark.postgres
def test_a_run_that_breaks_off_is_not_taken_in(place: Any) -> None:
    """A run whose results cannot be read to the end, or claim one place, leaves nothing behind."""

    def broken() -> Iterator[TrialResult]:
        yield samples.result(0)
        raise OSError("the file is gone")

    info = RunInfo(run_id="old", state=RunState.FINISHED, started_at=1.0, finished_at=2.0)
    twice = [samples.result(0), samples.result(0, trial_id="another")]

    async def main() -> None:
        store = place.store()
        for results, error in ((broken, OSError), (lambda: twice, StoreError)):
            view = RunView(info, samples.head(), samples.summary(1), Kept(results))
            with pytest.raises(error):
                await store.keep(view)
        running = info.model_copy(update={"state": RunState.RUNNING})
        unfinished = RunView(running, samples.head(), samples.summary(0), Kept(list))
        with pytest.raises(ValueError, match="only finished runs"):
            await store.keep(unfinished)
        await store.close()

    asyncio.run(main())
    assert place.sql("SELECT count(*) FROM skillgauge.runs") == "0"


@pytest.mark.postgres
def test_another_trial_at_the_same_place_is_refused(place: Any) -> None:
    """A plan that holds something else at a place of the stored one is not mixed with it."""

    async def main() -> None:
        store = place.store()
        log = await store.begin(samples.head(), fresh=False)
        await log.claim([samples.trial(0)])
        await log.commit([samples.result(0)], paid=True)
        await log.claim([samples.trial(1)])
        for number in (0, 1):
            with pytest.raises(StoreError, match="other trials at the same places"):
                await log.claim([samples.trial(number, trial_id="another")])
        with pytest.raises(StoreError, match="other trials at the same places"):
            await log.commit([samples.result(0, trial_id="another")], paid=True)
        assert len(list(log.results(ResultOrder.PLAN))) == 1
        await store.close()

    asyncio.run(main())


@pytest.mark.postgres
def test_a_password_comes_from_where_it_belongs(place: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The password comes from a secret by its name, or from libpq's file; without it the server's refusal is told."""
    address, password = place.server.tcp_address(place.name), postgres_servers.PASSWORD
    for name in ("PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    error = refused(place.store(address))
    assert (error.problems[0].code, error.exit_code) == ("store.unreachable", ExitCode.USAGE)
    assert "password" in str(error)
    error = refused(place.store(address, password_secret="TEAM_DB"))
    assert error.problems[0].code == "store.no-password"
    monkeypatch.setenv("TEAM_DB", "wrong")
    error = refused(place.store(address, password_secret="TEAM_DB"))
    assert "password authentication failed" in str(error)
    assert "wrong" not in str(error)
    monkeypatch.setenv("TEAM_DB", password)
    begin(place.store(address, password_secret="TEAM_DB"))
    file = tmp_path / "pass"
    file.write_text(f"127.0.0.1:*:*:{postgres_servers.USER}:{password}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert len(list(place.store(address).scan(RunQuery()))) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"location": "postgresql://me:hunter2@host/db"},
        {"location": "postgres://host/db?password=hunter2"},
        {"location": "postgresql://host/db?sslkey=k&sslpassword=hunter2"},
        {"dsn": "host=host password=hunter2"},
        {"location": "postgresql://me:hunter2@host:port/db%"},
        {"dsn": "password hunter2"},
    ],
)
def test_a_password_in_an_address_is_refused(options: dict[str, str]) -> None:
    """An address with a password is refused, and one that cannot be read is not repeated."""
    with pytest.raises(StoreError) as caught:
        PostgresStore(PostgresOptions(**options))
    assert caught.value.exit_code is ExitCode.USAGE
    assert "hunter2" not in f"{caught.value} {caught.value.problems}"


@pytest.mark.postgres
def test_a_server_that_is_not_there_is_named(place: Any) -> None:
    """An address without a server, a database that is not there, and an address of the options say what was tried."""
    error = refused(place.store("postgresql://tests@127.0.0.1:1/db"))
    assert (error.problems[0].code, error.exit_code) == ("store.unreachable", ExitCode.USAGE)
    assert "'db' at 127.0.0.1:1" in str(error)
    assert '"absent" does not exist' in str(refused(place.store(place.server.address("absent"))))
    dsn = f"host={place.server.socket} port={place.server.port} user={postgres_servers.USER} dbname={place.name}"
    begin(place.store("postgresql://", dsn=dsn))
    assert len(runs(place.store())) == 1


@pytest.mark.slow
@pytest.mark.postgres
def test_a_server_that_restarts_loses_nothing(own_postgres_server: Any) -> None:
    """A run goes on through restarts of the server at any moment, each result being there once."""
    server, total = own_postgres_server, 400
    server.create("team")

    async def main() -> None:
        store, counted = PostgresStore(PostgresOptions(location=server.address("team"))), asyncio.Semaphore(0)
        log = await store.begin(samples.head(), fresh=False)

        async def restart() -> None:
            for _ in range(5):
                for _ in range(60):
                    await counted.acquire()
                await asyncio.to_thread(server.stop, "immediate")
                await asyncio.to_thread(server.start)

        restarting = asyncio.create_task(restart())
        for number in range(total):
            claimed = await log.claim([samples.trial(number)])
            assert claimed.attempts == {samples.trial(number).trial_id: 1}
            await log.commit([samples.result(number)], paid=number % 2 == 0)
            counted.release()
            if number % 50 == 0:
                read = await asyncio.to_thread(lambda: list(log.results(ResultOrder.PLAN)))
                assert len(read) == number + 1
        await restarting
        await log.finish(RunState.FINISHED, samples.summary(total))
        await store.close()

    asyncio.run(main())
    (view,) = runs(PostgresStore(PostgresOptions(location=server.address("team"))))
    assert [result.ordinal for result in view.results()] == list(range(total))
    counted = server.psql("SELECT count(*), sum(attempts) FROM skillgauge.attempts", "team")
    assert counted == f"{total}|{total}"


@pytest.mark.slow
@pytest.mark.postgres
def test_a_server_that_stays_away_ends_the_run(own_postgres_server: Any) -> None:
    """The run ends within bounds, at each later step at once, and the next command goes on where it stopped."""
    server = own_postgres_server
    options = PostgresOptions(location=server.create("team"), reconnect_s=1.5)

    async def main() -> str:
        store = PostgresStore(options)
        log = await store.begin(samples.head(), fresh=False)
        await log.commit([samples.result(0)], paid=True)
        server.stop("fast")
        for waited in ("1.5 s", "1 s", "1 s"):
            with pytest.raises(StoreError, match=f"not to be had again within {waited}") as caught:
                await log.commit([samples.result(1)], paid=True)
            assert (caught.value.problems[0].code, int(caught.value.exit_code)) == ("store.disconnected", 3)
        with pytest.raises(StoreError):
            await log.finish(RunState.INTERRUPTED, None)
        await store.close()
        return log.info.run_id

    async def resumed(run_id: str) -> None:
        store = PostgresStore(options)
        log = await store.begin(samples.head(), fresh=False)
        assert (log.info.run_id, log.info.resumed) == (run_id, True)
        assert [result.ordinal for result in log.results(ResultOrder.PLAN)] == [0]
        await store.close()

    run_id = asyncio.run(main())
    server.start()
    asyncio.run(resumed(run_id))
