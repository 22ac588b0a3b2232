"""Clusters of real processes on 127.0.0.1."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 120.0
_DASK = (sys.executable, "-m", "dask")
_LIFETIME = ("--no-dashboard", "--host", "127.0.0.1")


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
    """

    def __init__(self, folder: Path, tls: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.tls = tls
        self.environment = dict(environment or os.environ)
        self.scheduler_file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        """In the order in which they were started."""
        protocol = ("--protocol", "tls") if tls else ()
        self.scheduler = self._start(
            "scheduler", *_LIFETIME, "--port", "0", *protocol, "--scheduler-file", str(self.scheduler_file)
        )
        until(self._is_announced, "the start of the scheduler")

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return str(json.loads(self.scheduler_file.read_text())["address"])

    def living(self) -> list[subprocess.Popen[bytes]]:
        """Workers that have not ended."""
        return [one for one in self.workers if one.poll() is None]

    def add(self, *options: str, environment: Mapping[str, str] | None = None, cwd: Path | None = None) -> int:
        """Start a worker; returns its process id. It is part of the cluster a moment later."""
        places = () if "--nthreads" in options else ("--nthreads", "1")
        command = ("worker", *_LIFETIME, "--no-nanny", *places, "--scheduler-file", str(self.scheduler_file))
        self.workers.append(self._start(*command, *options, environment=environment, cwd=cwd))
        return self.workers[-1].pid

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
        self, *command: str, environment: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[bytes]:
        name = f"{command[0]}-{len(self.workers)}.log"
        with (self.folder / name).open("ab") as said:
            return subprocess.Popen(
                [*_DASK, *command, *self.tls],
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

    def start(tls: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> DaskCluster:
        folder = tmp_path / f"cluster-{len(clusters)}"
        folder.mkdir()
        own = {"TMPDIR": str(folder), "DASK_TEMPORARY_DIRECTORY": str(folder)}
        clusters.append(DaskCluster(folder, tls, dict(environment or os.environ) | own))
        return clusters[-1]

    yield start
    for one in clusters:
        one.close()
