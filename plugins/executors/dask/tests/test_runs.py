"""Whole runs on a cluster of real processes, beside the same runs elsewhere, with a service that counts sessions."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from distributed import Client

from postgres_servers import PostgresServer
from skillgauge_executor_dask.depot import depot_of

from .conftest import PATIENCE_S, WRONG, Bench, DaskCluster, stations, until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

WHEN_AND_WHERE = {
    *("started_at", "finished_at", "duration_s", "at_s", "wall_time_s", "run_id", "elapsed_s", "host", "created_at"),
    "kept_as",
}
"""Keys of a record that tell when and where something happened."""


@pytest.fixture
def cluster(start_cluster: Callable[..., DaskCluster], bench: Bench) -> DaskCluster:
    """Two workers of two places, `a` and `b`."""
    made = start_cluster(environment=bench.environment)
    for name in "ab":
        made.add("--nthreads", "2", environment={"WORKER": name})
    return made


def on(cluster: DaskCluster, *more: str) -> list[str]:
    """Options that run trials on a cluster, with a concurrency that fills it."""
    options = ["--executor", "dask", "--set", f"executors.dask.address={cluster.address}", "--concurrency", "4"]
    return [*options, *more]


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    """The address of an empty database."""
    return postgres_server.create(f"dask_{uuid4().hex[:8]}")


def without_times(value: Any) -> Any:
    """A record without what tells when and where."""
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key not in WHEN_AND_WHERE}
    if isinstance(value, list):
        return [without_times(one) for one in value]
    return value


@pytest.mark.postgres
def test_the_record_is_the_same_wherever_trials_run(bench: Bench, cluster: DaskCluster, database: str) -> None:
    """In this process with either store, in processes of this machine, and on a cluster."""
    bench.suite(6)
    ways: dict[str, Sequence[str]] = {
        "alone": ("--store", "alone.db"),
        "postgres": ("--store", database),
        "processes": ("--store", "processes.db", "--executor", "processes"),
        "dask": ("--store", database, *on(cluster), "--fresh"),
    }
    records = {}
    for name, options in ways.items():
        run = bench.start(*options, "--format", "record", "--output-dir", name)
        if name == "dask":  # sessions that ended at once could all be those of one worker
            until(lambda: {one.worker for one in bench.service.begun} == {"none", "a", "b"}, "a session on each worker")
        bench.service.let_end(6)
        bench.end(run)
        (path,) = (bench.work / name).glob("*.record.json")
        records[name] = without_times(json.loads(path.read_text()))
    for name, record in records.items():
        assert record == records["alone"], name
    verdicts = Counter(one["verdict"] for one in records["dask"]["results"])
    assert verdicts == {"pass": 5, "fail": 1}


@pytest.mark.postgres
@pytest.mark.parametrize("begins", ["dask", "alone", "processes"])
def test_a_run_goes_on_elsewhere(bench: Bench, cluster: DaskCluster, database: str, begins: str) -> None:
    """What was finished at one place is in the record of the other, and is not executed again."""
    bench.suite(8)
    ways = {
        "dask": on(cluster),
        "alone": ["--concurrency", "4"],
        "processes": ["--executor", "processes", "--concurrency", "4"],
    }
    process = bench.start("--store", database, *ways[begins])
    until(lambda: len(bench.service.begun) == 4, "the start of four sessions")
    bench.service.let_end(2)
    until(lambda: len(bench.service.begun) == 6, "the start of two sessions in the places of those that ended")
    process.send_signal(signal.SIGINT)
    interrupted, _ = bench.end(process, 130)
    bench.service.let_end()
    goes_on = "alone" if begins == "dask" else "dask"
    document, _ = bench.end(bench.start("--store", database, *ways[goes_on]))
    assert len(interrupted["results"]) == 2
    assert document["run"]["resumed"] is True
    verdicts = {one["case_id"]: one["verdict"] for one in document["results"]}
    assert verdicts == {str(case): "fail" if str(case) == WRONG else "pass" for case in range(8)}
    assert set(bench.service.finished.values()) == {1}


def test_ctrl_c_ends_sessions_on_every_worker(bench: Bench, cluster: DaskCluster) -> None:
    """When the command ends no session lives any more, nor a process of the run; the workers of dask do."""
    bench.suite(6)
    process = bench.start(*on(cluster))
    until(lambda: len(bench.service.begun) == 4, "the start of four sessions")
    assert {one.worker for one in bench.service.begun} == {"a", "b"}
    process.send_signal(signal.SIGINT)
    document, _ = bench.end(process, 130)
    assert document["results"] == []
    assert bench.service.alive() == []
    assert not stations(*cluster.workers)
    assert len(cluster.living()) == 2


def test_a_killed_run_goes_on_and_pays_nothing_twice(bench: Bench, cluster: DaskCluster) -> None:
    """Workers end what a dead process had begun; the same command executes only what had not finished."""
    bench.suite(8)
    process = bench.start(*on(cluster))
    until(lambda: len(bench.service.begun) == 4, "the start of four sessions")
    bench.service.let_end(2)
    until(lambda: len(bench.service.begun) == 6, "the start of two sessions in the places of those that ended")
    process.kill()
    process.communicate()
    until(lambda: not bench.service.alive(), "the end of every session")
    until(lambda: not stations(*cluster.workers), "the end of the processes beside the workers")
    bench.service.let_end()
    document, _ = bench.end(bench.start(*on(cluster)))
    assert len(document["results"]) == 8
    assert set(bench.service.finished.values()) == {1}


@pytest.mark.parametrize("resumed", ["at once", "without a worker that finished"])
def test_what_ends_when_the_first_process_is_gone_is_graded_by_the_next(
    bench: Bench, cluster: DaskCluster, resumed: str
) -> None:
    """Its session is executed once and paid once, whoever dies and however soon the same command goes on."""
    bench.suite(6)
    process = bench.start(*on(cluster))
    until(lambda: len(bench.service.begun) == 4, "the start of four sessions")
    process.kill()
    process.communicate()
    bench.service.let_end(3)
    run_id = only_run(bench)
    until(lambda: len(waiting(cluster, run_id)) == 3, "three executions that wait for their run")
    if resumed != "at once":
        until(lambda: not stations(*cluster.workers), "the end of the processes beside the workers")
        cluster.kill()
        cluster.fill(2)
    finished = set(bench.service.finished)
    bench.service.let_end()
    document, _ = bench.end(bench.start(*on(cluster)))
    assert not waiting(cluster, run_id)
    assert len(document["results"]) == 6
    assert set(bench.service.finished.values()) == {1}
    again = Counter(one.case for one in bench.service.begun)
    assert {case for case, times in again.items() if times == 1} >= finished
    assert document["summary"]["spending"]["cost_usd"] == 3.0


def test_a_scheduler_without_the_plugin_has_no_depot(
    bench: Bench, start_cluster: Callable[..., DaskCluster], tmp_path: Path
) -> None:
    """It is said, and the run goes on without one; what an earlier process has under way is ended all the same."""
    absent = tmp_path / "absent/skillgauge_executor_dask"
    absent.mkdir(parents=True)
    (absent / "__init__.py").write_text("raise ImportError('the plugin is not where the scheduler is')")
    cluster = start_cluster(environment=bench.environment | {"PYTHONPATH": str(absent.parent)})
    for _number in range(2):
        cluster.add(environment={"PYTHONPATH": ""})
    bench.suite(2)
    process = bench.start(*on(cluster))
    until(lambda: len(bench.service.begun) == 2, "the start of two sessions")
    process.kill()
    process.communicate()
    process = bench.start(*on(cluster))
    until(lambda: len(bench.service.begun) == 4, "the start of the same two")
    assert len(bench.service.alive()) == 2
    bench.service.let_end()
    document, err = bench.end(process)
    assert "depot.none" in err
    assert len(document["results"]) == 2


def only_run(bench: Bench) -> str:
    """Return the id of the only run that is stored."""
    with closing(sqlite3.connect(bench.work / "skillgauge.db")) as store:
        ((run_id,),) = store.execute("SELECT run_id FROM runs")
    return str(run_id)


def waiting(cluster: DaskCluster, run_id: str) -> Sequence[str]:
    """Return the trials of a run of which an execution waits at the scheduler."""

    async def ask() -> Sequence[str]:
        async with Client(cluster.address, asynchronous=True, set_as_default=False) as client:
            return await depot_of(client.scheduler).trials(run=run_id)

    return asyncio.run(ask())


def test_what_agents_do_elsewhere_is_told_here(bench: Bench, cluster: DaskCluster) -> None:
    """Each step of a session is told while it lasts."""
    bench.suite(2)
    process = bench.start(*on(cluster), "--verbose")
    assert process.stderr is not None
    line = ""
    while "I begin" not in line:
        line = process.stderr.readline()
        assert line
    assert not bench.service.finished
    bench.service.let_end()
    bench.end(process)


def test_resources_decide_where_attempts_are_made(bench: Bench, cluster: DaskCluster) -> None:
    """Only workers that announce what the engine takes make its attempts, as many at once as they have of it."""
    bench.suite(4)
    cluster.add("--nthreads", "4", "--resources", "login=1", environment={"WORKER": "with-login"})
    bench.service.let_end()
    needs = json.dumps({"counted": {"login": 1}})
    bench.end(bench.start(*on(cluster, "--set", f"executors.dask.engine_resources={needs}")))
    assert {one.worker for one in bench.service.begun} == {"with-login"}


def test_a_limit_of_cost_holds_for_all_workers(bench: Bench, cluster: DaskCluster) -> None:
    """Sessions of half a dollar, two at each of two workers: no more are begun than the limit allows."""
    bench.suite(8)
    bench.service.let_end()
    bench.end(bench.start(*on(cluster), "--max-cost", "1"), 4)
    assert sum(bench.service.finished.values()) == 2


def test_a_run_without_its_scheduler_ends_and_goes_on(
    bench: Bench, cluster: DaskCluster, start_cluster: Callable[..., DaskCluster]
) -> None:
    """It says so, its sessions end, and the same command on another cluster executes what had not finished."""
    bench.suite(6)
    process = bench.start(*on(cluster), "--store", "runs.db")
    until(lambda: len(bench.service.begun) == 4, "the start of four sessions")
    bench.service.let_end(2)
    until(lambda: len(bench.service.begun) == 6, "the start of two sessions in the places of those that ended")
    cluster.scheduler.kill()
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "does not answer any more" in out + err
    until(lambda: not bench.service.alive(), "the end of every session")
    another = start_cluster(environment=bench.environment)
    another.fill(2)
    bench.service.let_end()
    document, _ = bench.end(bench.start(*on(another), "--store", "runs.db"))
    assert len(document["results"]) == 6
    assert set(bench.service.finished.values()) == {1}


def test_a_worker_that_lacks_something_is_named(bench: Bench, cluster: DaskCluster, tmp_path: Path) -> None:
    """Its trials are made by others; where all lack it, nothing is begun and every reason is told."""
    bench.suite(4)
    spoiled = tmp_path / "spoiled/skillgauge_format_agent_skills"
    spoiled.mkdir(parents=True)
    (spoiled / "__init__.py").write_text("raise ImportError('spoiled on purpose')")
    nowhere = ("--set", f"executors.dask.folder={tmp_path}/nowhere")
    process = bench.start(*on(cluster, *nowhere))
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert f"there is no folder {tmp_path}/nowhere on it" in err
    assert not bench.service.begun
    cluster.add(environment={"WORKER": "spoiled", "PYTHONPATH": str(spoiled.parent)})
    until(lambda: cluster.said().count("Registered to") == 3, "the start of the worker")
    process = bench.start(*on(cluster))
    assert process.stderr is not None
    line = ""
    while "worker.refused" not in line:
        line = process.stderr.readline()
        assert line
    until(lambda: len(bench.service.begun) == 4, "the start of two sessions on each of the other workers")
    bench.service.let_end()
    document, _ = bench.end(process)
    assert {one["verdict"] for one in document["results"]} == {"pass", "fail"}
    assert {one.worker for one in bench.service.begun} == {"a", "b"}
