"""Workers on machines of their own, as far as namespaces make them, and everything is killed while a run goes on."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from postgres_servers import PostgresServer

from .conftest import Bench, DaskCluster, is_alive, until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.postgres]

CASES = 40
GRADING = (
    """python3 -c "import urllib.request as r; r.urlopen(open('where').read() + '/graded/CASE').read()" && sleep 0.2"""
)


class Machine:
    """A network and a file system of its own: of this machine's folders for tests it sees one, at another path.

    Args:
        number: tells machines apart; the network is 10.213.NUMBER.0/24, and this machine has the address 1 there.
        hidden: folder that it does not see.
        shown: folder that it sees as `/mnt`.
    """

    def __init__(self, number: int, hidden: Path, shown: Path) -> None:
        self.here, self.there = f"10.213.{number}.1", f"10.213.{number}.2"
        sleeping = ["unshare", "--net", "--mount", "--propagation", "private", "sleep", "infinity"]
        self._process = subprocess.Popen(sleeping, process_group=0)
        until(lambda: self._net() != Path("/proc/self/ns/net").readlink(), "the start of a namespace")
        outer, inner = f"sg{os.getpid() % 100000}-{number}", "eth0"
        _run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", str(self._process.pid))
        _run("ip", "address", "add", f"{self.here}/24", "dev", outer)
        _run("ip", "link", "set", outer, "up")
        for command in (f"address add {self.there}/24 dev eth0", "link set eth0 up", "link set lo up"):
            _run(*self.inside, "ip", *command.split())
        _run(*self.inside, "ip", "route", "add", "default", "via", self.here)
        _run(*self.inside, "mount", "--bind", str(shown), "/mnt")
        _run(*self.inside, "mount", "-t", "tmpfs", "tmpfs", str(hidden))

    @property
    def inside(self) -> tuple[str, ...]:
        """What to put in front of a command."""
        return ("nsenter", "--net", "--mount", "--target", str(self._process.pid))

    def close(self) -> None:
        """End it; its network goes with it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _net(self) -> Path:
        return Path(f"/proc/{self._process.pid}/ns/net").readlink()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stderr)


@pytest.fixture
def make_machine(tmp_path: Path) -> Iterator[Callable[[Path], Machine]]:
    """Makes machines that see one folder and not the others of this test; skips where this account may not."""
    programs = [name for name in ("unshare", "nsenter", "ip", "mount") if shutil.which(name) is None]
    if programs or os.getuid() != 0:
        pytest.skip(f"namespaces with a network are for root, with {', '.join(programs) or 'what is here'}")
    tried = ["unshare", "--net", "ip", "link", "add", "sg-try", "type", "veth", "peer", "name", "sg-tried"]
    if (done := subprocess.run(tried, capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"a network cannot be made here: {done.stderr.strip()}")
    with ExitStack() as stack:

        def make(shown: Path) -> Machine:
            make.number += 1  # type: ignore[attr-defined]
            machine = Machine(make.number, tmp_path, shown)  # type: ignore[attr-defined]
            stack.callback(machine.close)
            return machine

        make.number = 0  # type: ignore[attr-defined]
        yield make


def test_everything_is_killed_and_nothing_is_paid_twice(
    bench: Bench,
    make_machine: Callable[[Path], Machine],
    start_cluster: Callable[..., DaskCluster],
    own_postgres_server: PostgresServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Workers at random moments, the database and the first process: each trial has one result.

    What a service had answered, and whose grading had not begun when a process died, may be executed again; all else
    is executed once.
    """
    chance = random.Random(136)
    bench.suite(CASES, GRADING)
    bench.service.let_end()
    cluster = start_cluster(environment=bench.environment, host="0.0.0.0")
    port = cluster.address.rpartition(":")[2]
    workers: dict[int, Machine] = {}

    def begin(machine: Machine) -> None:
        own = {"HOME": "/mnt/home", "WORKER": machine.there, "TMPDIR": "/tmp", "DASK_TEMPORARY_DIRECTORY": "/tmp"}
        where = {"host": machine.there, "address": f"tcp://{machine.here}:{port}", "before": machine.inside}
        workers[cluster.add("--nthreads", "2", environment=own, **where).pid] = machine

    for name in "ab":
        folder = tmp_path_factory.mktemp(f"machine-{name}")
        shutil.copytree(bench.work, folder / "suites")
        (folder / "home").mkdir()
        machine = make_machine(folder)
        (folder / "suites/service").write_text(bench.service.url.replace("127.0.0.1", machine.here))
        begin(machine)
    excused: Counter[str] = Counter()

    def lose(pid: int, sessions: list[int]) -> None:
        """Kill a process, and note which sessions nobody can have kept."""
        os.kill(pid, signal.SIGKILL)
        until(lambda: not any(map(is_alive, sessions)), "the end of the sessions of a process that was killed")
        excused.update(set(bench.service.finished) - bench.service.graded)

    options = ["--executor", "dask", "--set", f"executors.dask.address=tcp://127.0.0.1:{port}", "--concurrency", "4"]
    options += ["--set", "executors.dask.folder=/mnt/suites", "--retries", "9"]
    options += ["--store", own_postgres_server.create("chaos")]
    bench.start(*options)
    for kill in range(6):
        until(lambda due=4 * kill: len(bench.service.graded) > due, "progress")  # type: ignore[misc]
        time.sleep(chance.uniform(0, 1))
        if kill == 2:
            own_postgres_server.stop("immediate")
            own_postgres_server.start()
        elif kill == 4:
            lose(bench.started[-1].pid, bench.service.alive())
            bench.started[-1].communicate()
            bench.start(*options)
        else:
            victim = chance.choice(cluster.living())
            machine = workers[victim.pid]
            lose(victim.pid, [one.pid for one in bench.service.begun if one.worker == machine.there])
            begin(machine)
    document, _ = bench.end(bench.started[-1])
    verdicts = {one["case_id"]: one["verdict"] for one in document["results"]}
    assert len(document["results"]) == len(verdicts) == CASES
    assert Counter(verdicts.values()) == {"pass": CASES - 1, "fail": 1}
    assert {one.worker for one in bench.service.begun} == {one.there for one in workers.values()}
    twice = {case: times for case, times in bench.service.finished.items() if times > 1 + excused[case]}
    assert twice == {}, excused
