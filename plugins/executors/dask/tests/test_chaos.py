"""Workers on machines of their own, as far as namespaces make them, and everything is killed while a run goes on.

A short run by default. `benchmarks/RESULTS.md` has the long one and its command, which is for root.
"""

from __future__ import annotations

import json
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
from skillgauge_testkit.program import PROGRAM

from .conftest import PATIENCE_S, Bench, DaskCluster, Service, is_alive, stations, until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.postgres]

TRIALS = int(os.environ.get("CHAOS_TRIALS", "40"))
KILLS = int(os.environ.get("CHAOS_KILLS", "4"))
"""Of workers; the database and the first process are killed once each beside them."""
PLACES = int(os.environ.get("CHAOS_PLACES", "2"))
"""Of each of the two workers."""
SESSION_S = float(os.environ.get("CHAOS_SESSION_S", "0"))
SEED = int(os.environ.get("CHAOS_SEED", "136"))
EXAMPLE = Path(__file__).parents[4] / "examples/agent"
GRADING = (
    r"""bash -c 'address=$(cat where); exec 3<>/dev/tcp/${address%:*}/${address#*:} && """
    r"""printf "GET /graded/CASE HTTP/1.0\r\n\r\n" >&3 && grep -q "go on" <&3' && sleep 0.2"""
)


class Machine:
    """A network, a user and a file system of its own: of the folders for tests it sees one, at another path.

    Args:
        number: tells machines of this process apart; each has a network, in which this machine has the address 1.
        hidden: folders that it does not see.
        home: folder that it sees as `/mnt/home`; nothing else of it is there.
    """

    def __init__(self, number: int, hidden: Sequence[Path], home: Path) -> None:
        network = f"10.{100 + os.getpid() % 100}.{number}"
        self.here, self.there = f"{network}.1", f"{network}.2"
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


class Machines:
    """Workers of one cluster on machines of their own.

    Args:
        cluster: whose scheduler runs here.
        service: of the sessions.
    """

    def __init__(self, cluster: DaskCluster, service: Service) -> None:
        self._cluster = cluster
        self._service = service
        self._port = cluster.address.rpartition(":")[2]
        self.of: dict[int, Machine] = {}
        """The machine of each worker, by process."""
        self.options = ("--executor", "dask", "--set", f"executors.dask.address=tcp://127.0.0.1:{self._port}")
        """Of a command that uses them."""

    def begin(self, machine: Machine) -> None:
        """Start a worker."""
        own = {"HOME": "/mnt/home", "WORKER": machine.there, "SERVICE": f"{machine.here}:{self._service.port}"}
        own |= {"TMPDIR": "/tmp", "DASK_TEMPORARY_DIRECTORY": "/tmp"}
        where = {"host": machine.there, "address": f"tcp://{machine.here}:{self._port}", "before": machine.as_user}
        self.of[self._cluster.add("--nthreads", str(PLACES), environment=own, **where).pid] = machine


@pytest.fixture
def machines(
    bench: Bench,
    make_machine: Callable[[Path], Machine],
    start_cluster: Callable[..., DaskCluster],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[DaskCluster, Machines]:
    """A cluster of two workers, which have nothing in common but the program."""
    bench.travels = True
    cluster = start_cluster(environment=bench.environment, host="0.0.0.0")
    made = Machines(cluster, bench.service)
    for name in "ab":
        made.begin(make_machine(tmp_path_factory.mktemp(f"home-{name}")))
    return cluster, made


class Losses:
    """Kills workers, and tells which sessions they can have taken along.

    Args:
        service: of the sessions.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self.excused: Counter[str] = Counter()
        """Cases whose session had ended at a worker that died before the check of it began."""

    def of_worker(self, worker: subprocess.Popen[bytes], name: str) -> None:
        """Kill the worker of this name."""
        beside = stations(worker)
        worker.kill()
        until(lambda: not any(map(is_alive, beside)), "the end of the processes beside a worker")
        sessions = {one.case: one for one in self._service.begun}  # the last of each case
        here = {case for case, one in sessions.items() if one.worker == name}
        until(lambda: not any(is_alive(sessions[case].pid) for case in here), "the end of the sessions of a worker")
        self.excused.update(here & set(self._service.finished) - self._service.graded)


def test_everything_is_killed_and_nothing_is_paid_twice(
    bench: Bench, machines: tuple[DaskCluster, Machines], own_postgres_server: PostgresServer
) -> None:
    """Workers at random moments, the database and the first process: each trial has one result.

    The death of the first process and the loss of the database cost no session that had ended. That of a worker may
    cost those which ended at it and whose execution had not left it; all else is executed once.
    """
    chance = random.Random(SEED)
    began_at = time.monotonic()
    bench.suite(TRIALS, GRADING)
    bench.service.session_s = SESSION_S
    bench.service.let_end(10 * TRIALS)
    cluster, workers = machines
    losses = Losses(bench.service)
    options = [*workers.options, "--retries", "9", "--concurrency", str(2 * PLACES)]
    options += ["--store", own_postgres_server.create("chaos")]
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
            # What is packed at the moment in which it is ended may be executed again, as at a worker that dies.
            until(lambda: not stations(*cluster.living()), "the end of the lease")
            bench.start(*options)
        else:
            victim = chance.choice(cluster.living())
            losses.of_worker(victim, workers.of[victim.pid].there)
            workers.begin(workers.of[victim.pid])
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
    assert {one.worker for one in bench.service.begun} == {one.there for one in workers.of.values()}
    assert not {case for case, times in twice.items() if times > losses.excused[case]}, (twice, losses.excused)


def test_the_agent_example_without_a_common_folder(bench: Bench, machines: tuple[DaskCluster, Machines]) -> None:
    """Its skill, its inputs and the script of its agent travel to both machines, and it comes out as its page says."""
    shutil.copytree(EXAMPLE, bench.work, dirs_exist_ok=True)
    _, workers = machines
    command = ["eval", "release-notes/evals/evals.json", "--engine", "mock", "--concurrency", "4", "--json"]
    script = ("--set", "engines.mock.script=release-notes.mock.yaml")
    done = subprocess.run(
        [str(PROGRAM), *command, *script, *workers.options],
        cwd=bench.work,
        env=bench.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    verdicts = Counter((one["arm"], one["verdict"]) for one in json.loads(done.stdout)["results"])
    assert verdicts == {("with_skill", "pass"): 4, ("without_skill", "pass"): 1, ("without_skill", "fail"): 3}
