"""Workers on machines of their own, as far as namespaces make them, and everything is killed while a run goes on.

A short run by default. `benchmarks/RESULTS.md` has the long one and its command, which is for root.
"""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from postgres_servers import PostgresServer

from .conftest import Bench, DaskCluster, Service, is_alive, until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.postgres]

TRIALS = int(os.environ.get("CHAOS_TRIALS", "40"))
KILLS = int(os.environ.get("CHAOS_KILLS", "4"))
"""Of workers; the database and the first process are killed once each beside them."""
PLACES = int(os.environ.get("CHAOS_PLACES", "2"))
"""Of each of the two workers."""
SESSION_S = float(os.environ.get("CHAOS_SESSION_S", "0"))
SEED = int(os.environ.get("CHAOS_SEED", "136"))
GRADING = (
    r"""bash -c 'address=$(cat where); exec 3<>/dev/tcp/${address%:*}/${address#*:} && """
    r"""printf "GET /graded/CASE HTTP/1.0\r\n\r\n" >&3 && grep -q "go on" <&3' && sleep 0.2"""
)


class Machine:
    """A network, a user and a file system of its own: of the folders for tests it sees one, at another path.

    Args:
        number: tells machines apart; the network is 10.213.NUMBER.0/24, and this machine has the address 1 there.
        hidden: folders that it does not see.
        home: folder that it sees as `/mnt/home`; nothing else of it is there.
    """

    def __init__(self, number: int, hidden: Sequence[Path], home: Path) -> None:
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
        _run(*self.inside, "mount", "-t", "tmpfs", "tmpfs", "/mnt")
        _run(*self.inside, "mkdir", "/mnt/home")
        _run(*self.inside, "mount", "--bind", str(home), "/mnt/home")
        self._hide_home_of_root()
        for folder in hidden:
            _run(*self.inside, "mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(folder))
        user = 20_000 + number
        os.chown(home, user, user)
        as_user = ("setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups")
        self.as_user = (*self.inside, *as_user, "sh", "-c", 'cd /mnt/home && exec "$@"', "sh")
        """What to put in front of a command that its user runs."""

    @property
    def inside(self) -> tuple[str, ...]:
        """What to put in front of a command that root runs."""
        return ("nsenter", "--net", "--mount", "--target", str(self._process.pid))

    def close(self) -> None:
        """End it; its network goes with it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _hide_home_of_root(self) -> None:
        """Leave nothing of it but the program, which may lie there."""
        home = Path(pwd.getpwuid(0).pw_dir)
        program = [path for path in (Path(sys.base_prefix), Path.cwd()) if path.is_relative_to(home)]
        for number, path in enumerate(program):
            _run(*self.inside, "mkdir", f"/mnt/{number}")
            _run(*self.inside, "mount", "--bind", str(path), f"/mnt/{number}")
        _run(*self.inside, "mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", str(home))
        for number, path in enumerate(program):
            _run(*self.inside, "mkdir", "-p", str(path))
            _run(*self.inside, "mount", "--bind", f"/mnt/{number}", str(path))

    def _net(self) -> Path:
        return Path(f"/proc/{self._process.pid}/ns/net").readlink()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stderr)


@pytest.fixture
def make_machine(tmp_path: Path) -> Iterator[Callable[[Path], Machine]]:
    """Makes machines that see a home and nothing else of this test; skips where this account may not."""
    programs = [name for name in ("unshare", "nsenter", "ip", "mount", "setpriv", "bash") if shutil.which(name) is None]
    if programs or os.getuid() != 0:
        pytest.skip(f"namespaces with a network are for root, with {', '.join(programs) or 'what is here'}")
    tried = ["unshare", "--net", "ip", "link", "add", "sg-try", "type", "veth", "peer", "name", "sg-tried"]
    if (done := subprocess.run(tried, capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"a network cannot be made here: {done.stderr.strip()}")
    # A temporary folder that everybody shares would be a common one, unless the program itself lies there.
    shared = Path("/tmp")
    program = Path(sys.executable), Path(__file__), Path.cwd()
    hidden = [tmp_path] if any(path.is_relative_to(shared) for path in program) else [tmp_path, shared]
    with ExitStack() as stack:

        def make(home: Path) -> Machine:
            make.number += 1  # type: ignore[attr-defined]
            machine = Machine(make.number, hidden, home)  # type: ignore[attr-defined]
            stack.callback(machine.close)
            return machine

        make.number = 0  # type: ignore[attr-defined]
        yield make


class Losses:
    """Kills workers, and tells which sessions they can have taken along.

    Args:
        service: of the sessions.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self.excused: Counter[str] = Counter()
        """Cases whose session had ended at a worker that died before the check of it began."""

    def of_worker(self, pid: int, name: str) -> None:
        """Kill the worker of this name."""
        os.kill(pid, signal.SIGKILL)
        sessions = {one.case: one for one in self._service.begun}  # the last of each case
        here = {case for case, one in sessions.items() if one.worker == name}
        until(lambda: not any(is_alive(sessions[case].pid) for case in here), "the end of the sessions of a worker")
        self.excused.update(here & set(self._service.finished) - self._service.graded)


def test_everything_is_killed_and_nothing_is_paid_twice(
    bench: Bench,
    make_machine: Callable[[Path], Machine],
    start_cluster: Callable[..., DaskCluster],
    own_postgres_server: PostgresServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Workers at random moments, the database and the first process: each trial has one result.

    The death of the first process and the loss of the database cost no session that had ended. That of a worker may
    cost those which ended at it and whose execution had not left it; all else is executed once.
    """
    chance = random.Random(SEED)
    began_at = time.monotonic()
    bench.suite(TRIALS, GRADING)
    bench.travels = True
    bench.service.session_s = SESSION_S
    bench.service.let_end(10 * TRIALS)
    cluster = start_cluster(environment=bench.environment, host="0.0.0.0")
    port = cluster.address.rpartition(":")[2]
    workers: dict[int, Machine] = {}

    def begin(machine: Machine) -> None:
        own = {"HOME": "/mnt/home", "WORKER": machine.there, "SERVICE": f"{machine.here}:{bench.service.port}"}
        own |= {"TMPDIR": "/tmp", "DASK_TEMPORARY_DIRECTORY": "/tmp"}
        where = {"host": machine.there, "address": f"tcp://{machine.here}:{port}", "before": machine.as_user}
        workers[cluster.add("--nthreads", str(PLACES), environment=own, **where).pid] = machine

    for name in "ab":
        begin(make_machine(tmp_path_factory.mktemp(f"home-{name}")))
    losses = Losses(bench.service)
    options = ["--executor", "dask", "--set", f"executors.dask.address=tcp://127.0.0.1:{port}", "--retries", "9"]
    options += ["--concurrency", str(2 * PLACES), "--store", own_postgres_server.create("chaos")]
    bench.start(*options)
    deeds = ["worker"] * KILLS + ["database", "first process"]
    chance.shuffle(deeds)
    moments = sorted(chance.sample(range(TRIALS * 9 // 10), len(deeds)))
    for deed, moment in zip(deeds, moments, strict=True):
        while len(bench.service.graded) < moment:
            graded = len(bench.service.graded)
            until(lambda graded=graded: len(bench.service.graded) > graded, "progress")  # type: ignore[misc]
        time.sleep(chance.uniform(0, 1))
        if deed == "database":
            own_postgres_server.stop("immediate")
            own_postgres_server.start()
        elif deed == "first process":
            bench.started[-1].kill()
            bench.started[-1].communicate()
            bench.start(*options)
        else:
            victim = chance.choice(cluster.living())
            losses.of_worker(victim.pid, workers[victim.pid].there)
            begin(workers[victim.pid])
    document, _ = bench.end(bench.started[-1])
    verdicts = {one["case_id"]: one["verdict"] for one in document["results"]}
    finished = bench.service.finished
    twice = {case: times - 1 for case, times in finished.items() if times > 1}
    sys.stdout.write(
        f"{TRIALS} trials, {KILLS} workers killed, {time.monotonic() - began_at:.0f} s: "
        f"{len(bench.service.begun)} sessions begun, {finished.total()} finished, {sum(twice.values())} of them again, "
        f"{losses.excused.total()} had ended at a worker that died before their check began\n"
    )
    assert len(document["results"]) == len(verdicts) == TRIALS
    assert Counter(verdicts.values()) == {"pass": TRIALS - 1, "fail": 1}
    assert {one.worker for one in bench.service.begun} == {one.there for one in workers.values()}
    assert not {case for case, times in twice.items() if times > losses.excused[case]}, (twice, losses.excused)
