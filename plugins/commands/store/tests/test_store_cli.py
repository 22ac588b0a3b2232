"""`store copy` as a user runs it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from postgres_servers import PostgresServer
from skillgauge.api import RunNotes, RunQuery, TrialNotes
from skillgauge.api.report import RunState
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.store import SqliteStore
from skillgauge_testkit.contract import samples
from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e


def fill(path: Path, *, plans: int = 3, is_finished: bool = True) -> list[str]:
    """Store runs of plans with two results each, and words about run and trial; their ids, the oldest first."""

    async def main() -> list[str]:
        store, run_ids = SqliteStore(SqliteOptions(location=str(path))), []
        for plan in range(plans):
            log = await store.begin(samples.head(f"plan {plan}", signer="somebody"), fresh=False)
            await log.claim([samples.trial(0)], [samples.case(0, signature="of the case")])
            await log.commit([samples.result(n, signature=f"of {n}") for n in range(2)], paid=True)
            state = RunState.FINISHED if is_finished else RunState.INTERRUPTED
            await log.finish(state, samples.summary(2))
            run_ids.append(log.info.run_id)
            assert await store.annotate(run_ids[-1], RunNotes(name=f"run {plan}"))
            assert await store.annotate_trial(run_ids[-1], 1, TrialNotes(note="odd", tags=(f"plan-{plan}",)))
        await store.close()
        return run_ids

    return asyncio.run(main())


def content(path: Path) -> list[Any]:
    """All of a store, signatures, times and words of people included."""

    async def main() -> list[Any]:
        store = SqliteStore(SqliteOptions(location=str(path)))
        notes = store.notes()
        runs: list[Any] = []
        for view in store.scan(RunQuery()):
            words = [notes[view.run.run_id], *sorted(store.trial_notes(view.run.run_id).items())]
            runs.append([view.run, view.head, view.summary, *view.results(), *view.cases(), *words])
        await store.close()
        return runs

    return asyncio.run(main())


def test_runs_are_copied_once_and_to_the_letter(program: Program, work: Path) -> None:
    """All that a store says of finished runs is in the copy, with foreign signatures; a second copy adds nothing."""
    run_ids = fill(work / "a.db")
    first = program("store", "copy", "a.db", "b.db", "--json")
    assert (first.code, first.document["copied"], first.document["present"]) == (0, run_ids, [])
    assert content(work / "b.db") == content(work / "a.db")
    again = program("store", "copy", "a.db", "b.db")
    assert again.verdict == "copied 0 runs; 3 runs there already"
    assert content(work / "b.db") == content(work / "a.db")


def test_a_copy_goes_on_where_it_broke_off(program: Program, work: Path) -> None:
    """What one command has copied, the next passes over; single runs are chosen by their ids."""
    run_ids = fill(work / "a.db")
    assert program("store", "copy", "a.db", "b.db", "--run", run_ids[1]).code == 0
    rest = program("store", "copy", "a.db", "b.db", "--json").document
    assert (rest["copied"], rest["present"]) == ([run_ids[0], run_ids[2]], [run_ids[1]])
    assert content(work / "b.db") == content(work / "a.db")


def test_unfinished_runs_stay_where_they_are(program: Program, work: Path) -> None:
    """A run that can be resumed is named and not copied."""
    (run_id,) = fill(work / "a.db", plans=1, is_finished=False)
    done = program("store", "copy", "a.db", "b.db")
    assert done.code == 0
    assert f"left out because they have not finished: {run_id}" in done.verdict
    assert content(work / "b.db") == []


def test_wrong_places_are_named(program: Program, work: Path) -> None:
    """An empty source, an id that is not there, a place that no store serves, and a file of another program."""
    fill(work / "a.db", plans=1)
    (work / "text.db").write_text("not a database at all, but long enough to have a header" * 4)
    for words, text in (
        (("absent.db", "b.db"), "no runs are stored in absent.db"),
        (("a.db", "b.db", "--run", "nothing"), "there is no run 'nothing'"),
        (("a.db", "mysql://me:hunter2@host/db"), "no installed store keeps runs in 'mysql://host/db'"),
        (("a.db", "text.db"), "is not an SQLite database"),
        (("a.db", "postgresql://me:hunter2@host/db"), "holds a password"),
    ):
        done = program("store", "copy", *words)
        assert done.code == 2, words
        assert text in done.stderr
        assert "hunter2" not in done.stdout + done.stderr
    assert not (work / "absent.db").exists()


@pytest.mark.slow
@pytest.mark.postgres
def test_runs_travel_through_a_database(program: Program, work: Path, postgres_server: PostgresServer) -> None:
    """From a file into PostgreSQL and back again everything is as it was."""
    address = postgres_server.create(f"copy_{uuid4().hex[:12]}")
    run_ids = fill(work / "a.db")
    for source, target in (("a.db", address), (address, "c.db")):
        done = program("store", "copy", source, target, "--json")
        assert done.document["copied"] == run_ids, done.stderr
    assert content(work / "c.db") == content(work / "a.db")


@pytest.mark.slow
@pytest.mark.postgres
def test_a_store_is_named_by_its_plugin(program: Program, work: Path, postgres_server: PostgresServer) -> None:
    """`--store postgres` means the address in the user's options, and without one that of the environment."""
    name = f"named_{uuid4().hex[:12]}"
    address = postgres_server.create(name)
    (run_id, *_) = fill(work / "a.db")
    assert program("store", "copy", "a.db", address).code == 0
    own = Path(program.environment["HOME"], ".config/skillgauge/config.yaml")
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(json.dumps({"plugins": {"stores": {"postgres": {"dsn": address}}}}))
    listed = program("history", "list", "--json", "--store", "postgres")
    own.unlink()
    assert [one["run"]["run_id"] for one in listed.document["runs"]][-1] == run_id, listed.stderr
    environment = {
        "PGHOST": postgres_server.socket,
        "PGPORT": str(postgres_server.port),
        "PGUSER": "tests",
        "PGDATABASE": name,
    }
    again = program.process("history", "list", "--json", "--store", "postgres", env=environment)
    assert again.code == 0, again.stderr
    assert again.document["runs"] == listed.document["runs"]
