"""Whole runs on a cluster of real processes, beside the same runs elsewhere, with a service that counts sessions."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from postgres_servers import PostgresServer
from skillgauge_testkit.program import PROGRAM

from .conftest import PATIENCE_S, DaskCluster, until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

AGENT = Path(__file__).with_name("agent.py")
WRONG = "3"
"""The case whose answer is wrong."""
WHEN_AND_WHERE = {
    *("started_at", "finished_at", "duration_s", "at_s", "wall_time_s", "run_id", "elapsed_s", "host", "created_at"),
    "kept_as",
}
"""Keys of a record that tell when and where something happened."""


@dataclass(frozen=True)
class Session:
    """A session that has begun."""

    case: str
    worker: str
    pid: int


class Service:
    """Knows which sessions have begun, lets as many end as it is told, and counts them."""

    def __init__(self) -> None:
        self.begun: list[Session] = []
        self.finished: Counter[str] = Counter()
        self._may_end = threading.Semaphore(0)
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(service.answer(*self.path.strip("/").split("/")))

            def log_message(self, *_arguments: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, what: str, case: str, *whose: str) -> bytes:
        """Answer a session."""
        if what == "begin":
            self.begun.append(Session(case, whose[0], int(whose[1])))
            return b"go on"
        while not self._may_end.acquire(timeout=0.2):
            if not any(is_alive(one.pid) for one in self.begun if one.case == case):
                return b"nobody listens"  # so that a session that was killed is not counted
        self.finished[case] += 1
        return b"wrong" if case == WRONG else b"done"

    def let_end(self, sessions: int = 1000) -> None:
        """Let as many end, whichever they are."""
        self._may_end.release(sessions)

    def alive(self) -> list[int]:
        """Processes of sessions that have not ended."""
        return [one.pid for one in self.begun if is_alive(one.pid)]

    def close(self) -> None:
        """Stop listening."""
        self.let_end()
        self._server.shutdown()
        self._server.server_close()


def is_alive(pid: int) -> bool:
    """Tell whether a process is there, and does not only wait to be reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


class Bench:
    """Evaluates one skill in a folder."""

    def __init__(self, work: Path, environment: dict[str, str]) -> None:
        self.work = work
        self.environment = environment | {"SKILLGAUGE_SANDBOX": "local"}
        self.service = Service()
        (work / "service").write_text(self.service.url)
        self.started: list[subprocess.Popen[str]] = []

    def suite(self, cases: int) -> None:
        """Write the skill and its cases."""
        folder = self.work / "asks"
        (folder / "evals").mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: asks\ndescription: Asks a service.\n---\nAsk.\n")
        checks = [
            {"text": "it is done", "type": "contains", "value": "done"},
            {"text": "it left nothing", "type": "command", "value": "test ! -e left"},
        ]
        evals = [{"id": case, "prompt": f"ask {case}", "assertions": checks} for case in range(cases)]
        (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "asks", "evals": evals}))

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Run the command in the background."""
        fixed = ["eval", "asks", "--plugin", str(AGENT), "--engine", "counted", "--no-baseline", "--json"]
        fixed += ["--set", f"executors.dask.folder={self.work}"]  # where the agent finds its service
        pipe = subprocess.PIPE
        self.started.append(
            subprocess.Popen(
                [str(PROGRAM), *fixed, *options],
                cwd=self.work,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                text=True,
            )
        )
        return self.started[-1]

    def end(self, process: subprocess.Popen[str], code: int = 0) -> tuple[dict[str, Any], str]:
        """Wait for the end of a command; return its document, and what it said beside it."""
        out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == code, (out, err)
        document: dict[str, Any] = json.loads(out)
        return document, err

    def close(self) -> None:
        """End what is still running."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()
        self.service.close()


@pytest.fixture
def bench(work: Path, environment: dict[str, str]) -> Iterator[Bench]:
    """A folder to evaluate in."""
    made = Bench(work, environment)
    yield made
    made.close()


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
    bench.service.let_end()
    ways: dict[str, Sequence[str]] = {
        "alone": ("--store", "alone.db"),
        "postgres": ("--store", database),
        "processes": ("--store", "processes.db", "--executor", "processes"),
        "dask": ("--store", database, *on(cluster), "--fresh"),
    }
    records = {}
    for name, options in ways.items():
        bench.end(bench.start(*options, "--format", "record", "--output-dir", name))
        (path,) = (bench.work / name).glob("*.record.json")
        records[name] = without_times(json.loads(path.read_text()))
    for name, record in records.items():
        assert record == records["alone"], name
    verdicts = Counter(one["verdict"] for one in records["dask"]["results"])
    assert verdicts == {"pass": 5, "fail": 1}
    assert {one.worker for one in bench.service.begun} == {"none", "a", "b"}


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
    assert not stations(cluster)
    assert len(cluster.living()) == 2


def stations(cluster: DaskCluster) -> list[int]:
    """Processes of runs beside the workers of a cluster."""
    workers = {one.pid for one in cluster.workers}
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat[1]) in workers and stat[0] != "Z":
            found.append(int(entry.name))
    return found


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
    until(lambda: not stations(cluster), "the end of the processes beside the workers")
    bench.service.let_end()
    document, _ = bench.end(bench.start(*on(cluster)))
    assert len(document["results"]) == 8
    assert set(bench.service.finished.values()) == {1}


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
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "does not answer any more" in err
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
    bench.service.let_end()
    document, _ = bench.end(process)
    assert {one["verdict"] for one in document["results"]} == {"pass", "fail"}
    assert {one.worker for one in bench.service.begun} == {"a", "b"}
