"""Clusters of real processes on 127.0.0.1."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import PROGRAM

PATIENCE_S = 300.0
AGENT = Path(__file__).with_name("agent.py")
WRONG = "3"
"""The case whose answer is wrong."""
_DASK = (sys.executable, "-m", "dask")
_LOOPBACK = "127.0.0.1"
SCRIPT = """
replies:
  - skill: greeting
    fires: [greeting]
    run: cat "$(find . -name names.txt)" "$(find . -name given.txt)" > out.txt
    text: done
"""
"""Of the engine `mock`."""


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Let dask leave sockets and coroutines of a lost cluster to the collector of garbage in tests of this folder."""
    left = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(left)


@pytest.fixture(autouse=True)
def nothing_of_dask_is_left_to_other_tests() -> Iterator[None]:
    """Collect the garbage of a test here, where it is expected, and not in whichever test comes next."""
    yield
    gc.collect()


def until(holds: Callable[[], Any], what: str) -> None:
    """Wait for something that must happen."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.02)


class DaskCluster:
    """A `dask scheduler`, and as many `dask worker` as a test asks for.

    Args:
        folder: where the scheduler file and what the processes say is kept.
        tls: options of dask for certificates.
        environment: of every process.
        host: address at which the scheduler listens.
    """

    def __init__(
        self,
        folder: Path,
        tls: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        host: str = _LOOPBACK,
    ) -> None:
        self.folder = folder
        self.tls = tls
        self.environment = dict(environment or os.environ)
        self.scheduler_file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        """In the order in which they were started."""
        protocol = ("--protocol", "tls") if tls else ()
        listening = ("--no-dashboard", "--host", host, "--port", "0", *protocol)
        self.scheduler = self._start("scheduler", *listening, "--scheduler-file", str(self.scheduler_file))
        until(self._is_announced, "the start of the scheduler")

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return str(json.loads(self.scheduler_file.read_text())["address"])

    def living(self) -> list[subprocess.Popen[bytes]]:
        """Workers that have not ended."""
        return [one for one in self.workers if one.poll() is None]

    def add(
        self,
        *options: str,
        environment: Mapping[str, str] | None = None,
        host: str = _LOOPBACK,
        address: str = "",
        before: Sequence[str] = (),
        cwd: Path | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a worker, which is part of the cluster a moment later.

        Args:
            options: of the program; without others it has one place.
            environment: variables of this worker alone.
            host: address at which it listens.
            address: of the scheduler as it sees that; empty is what the scheduler says.
            before: stands in front of the command.
            cwd: folder that it runs in.
        """
        places = () if "--nthreads" in options else ("--nthreads", "1")
        command = ("worker", address or self.address, "--no-dashboard", "--host", host, "--no-nanny", *places, *options)
        self.workers.append(self._start(*command, environment=environment, before=before, cwd=cwd))
        return self.workers[-1]

    def fill(self, workers: int) -> None:
        """Let at least as many workers live."""
        while len(self.living()) < workers:
            self.add()

    def kill(self, worker: int = 0) -> None:
        """Kill a living worker, as `kill -9` does."""
        self.living()[worker].kill()

    def said(self) -> str:
        """What all processes have said, for messages of failed tests."""
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def close(self) -> None:
        """End everything."""
        for process in [*self.workers, self.scheduler]:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE_S)

    def _is_announced(self) -> bool:
        assert self.scheduler.poll() is None, self.said()
        return self.scheduler_file.exists() and bool(self.scheduler_file.read_text())

    def _start(
        self,
        *command: str,
        environment: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
        cwd: Path | None = None,
    ) -> subprocess.Popen[bytes]:
        name = f"{command[0]}-{len(self.workers)}.log"
        with (self.folder / name).open("ab") as said:
            return subprocess.Popen(
                [*before, *_DASK, *command, *self.tls],
                cwd=cwd,
                env=self.environment | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                process_group=0,
            )


@dataclass(frozen=True)
class Certificate:
    """A certificate, its key, and the authority that its owner trusts."""

    ca: Path
    cert: Path
    key: Path

    def for_dask(self) -> list[str]:
        """As options of dask's programs."""
        return ["--tls-ca-file", str(self.ca), "--tls-cert", str(self.cert), "--tls-key", str(self.key)]

    def as_options(self) -> dict[str, str]:
        """As options of the executor."""
        return {"tls_ca": str(self.ca), "tls_cert": str(self.cert), "tls_key": str(self.key)}


class Authority:
    """An authority that signs certificates, made as docs/cluster.md says."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._openssl(f"req -x509 {_NEW_KEY} -days 1 -subj /CN=authority -keyout ca.key -out ca.pem")

    def of(self, name: str) -> Certificate:
        """A new certificate."""
        self._openssl(f"req {_NEW_KEY} -subj /CN={name} -keyout {name}.key -out {name}.csr")
        signed = "-CA ca.pem -CAkey ca.key -CAcreateserial -days 1"
        self._openssl(f"x509 -req -in {name}.csr {signed} -out {name}.pem")
        return Certificate(*(self._folder / one for one in ("ca.pem", f"{name}.pem", f"{name}.key")))

    def _openssl(self, command: str) -> None:
        subprocess.run(["openssl", *command.split()], cwd=self._folder, check=True, capture_output=True)


_NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"


@pytest.fixture
def authority(tmp_path: Path) -> Callable[[str], Authority]:
    """Makes authorities by their names."""
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made by openssl, which is not installed")
    return lambda name: Authority(tmp_path / name)


@pytest.fixture
def start_cluster(tmp_path: Path) -> Iterator[Callable[..., DaskCluster]]:
    """Starts clusters, and ends what is left of them."""
    clusters: list[DaskCluster] = []

    def start(
        tls: Sequence[str] = (), environment: Mapping[str, str] | None = None, host: str = _LOOPBACK
    ) -> DaskCluster:
        folder = tmp_path / f"cluster-{len(clusters)}"
        folder.mkdir()
        own = {"TMPDIR": str(folder), "DASK_TEMPORARY_DIRECTORY": str(folder)}
        clusters.append(DaskCluster(folder, tls, dict(environment or os.environ) | own, host))
        return clusters[-1]

    yield start
    for one in clusters:
        one.close()


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
        self.graded: set[str] = set()
        """Cases whose check has told that it began."""
        self.session_s = 0.0
        """The least that a session takes."""
        self._may_end = threading.Semaphore(0)
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(service.answer(*self.path.strip("/").split("/")))

            def log_message(self, *_arguments: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.port = self._server.server_port

    def answer(self, what: str, case: str, *whose: str) -> bytes:
        """Answer a session."""
        if what == "begin":
            self.begun.append(Session(case, whose[0], int(whose[1])))
            return b"go on"
        if what == "graded":
            self.graded.add(case)
            return b"go on"
        time.sleep(self.session_s)
        while not self._may_end.acquire(timeout=0.2):
            if not self._listens(case):
                return b""
        if not self._listens(case):  # so that a session that was killed is not counted
            self._may_end.release()
            return b""
        self.finished[case] += 1
        return b"wrong" if case == WRONG else b"done"

    def _listens(self, case: str) -> bool:
        return any(is_alive(one.pid) for one in tuple(self.begun) if one.case == case)

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


def stations(*workers: subprocess.Popen[bytes]) -> list[int]:
    """Return the processes of runs beside dask workers."""
    parents = {one.pid for one in workers}
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat[1]) in parents and stat[0] != "Z":
            pids.append(int(entry.name))
    return pids


class Bench:
    """Evaluates one skill in a folder."""

    def __init__(self, work: Path, environment: dict[str, str]) -> None:
        self.work = work
        self.environment = environment | {"SKILLGAUGE_SANDBOX": "local"}
        self.service = Service()
        (work / "service").write_text(f"127.0.0.1:{self.service.port}")
        self.travels = False
        """Whether the files of a run go to workers, which have none of them."""
        shutil.copy(AGENT, work)
        self.started: list[subprocess.Popen[str]] = []

    def suite(self, cases: int, check: str = "test ! -e left") -> None:
        """Write the skill and its cases, with a command that checks each; `CASE` in it is the name of the case."""
        folder = self.work / "asks"
        (folder / "evals").mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: asks\ndescription: Asks a service.\n---\nAsk.\n")
        evals = [
            {
                "id": case,
                "prompt": f"ask {case}",
                "assertions": [
                    {"text": "it is done", "type": "contains", "value": "done"},
                    {"text": "what it left", "type": "command", "value": check.replace("CASE", str(case))},
                ],
            }
            for case in range(cases)
        ]
        (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "asks", "evals": evals}))

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Run the command in the background."""
        fixed = ["eval", "asks", "--plugin", AGENT.name, "--engine", "counted", "--no-baseline", "--json"]
        if not self.travels:
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
def skill(work: Path) -> Path:
    """A skill with a file of its own, a case with an input, and the script of an agent."""
    skill = work / "greeting"
    (skill / "evals/files").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: greeting\ndescription: Greets.\n---\nRead names.txt.\n")
    (skill / "names.txt").write_text("Ada\n")
    (skill / "evals/files/given.txt").write_text("Grace\n")
    check = {"text": "both names", "type": "command", "value": "grep -q Ada out.txt && grep -q Grace out.txt"}
    evals = [{"id": case, "prompt": "Greet.", "files": ["files/given.txt"], "assertions": [check]} for case in (1, 2)]
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "greeting", "evals": evals}))
    (work / "agent.yaml").write_text(SCRIPT)
    return skill
