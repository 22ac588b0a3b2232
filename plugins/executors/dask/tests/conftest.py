"""Clusters of real processes on 127.0.0.1."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 60.0
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
        places = () if "--nthreads" in options else ("--nthreads", "2")
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
