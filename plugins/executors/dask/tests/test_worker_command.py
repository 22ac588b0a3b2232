"""`skillgauge worker`: workers of a cluster that are admitted by name, or refused with every reason."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import PROGRAM

from .conftest import DaskCluster, until
from .test_files import evaluated

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
ENGINE = "skillgauge-engine-mock"


class Workers:
    """Processes of `skillgauge worker`, each with a home and a folder of its own."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *options: str, **variables: str) -> None:
        """Start one."""
        home = self._folder / name
        home.mkdir()
        environment = self._environment | {"HOME": str(home), "TMPDIR": str(home)} | variables
        with (home / "said").open("wb") as said:
            self._processes[name] = subprocess.Popen(
                [str(PROGRAM), "worker", "--name", name, "--places", "1", "--host", "127.0.0.1", *options],
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                process_group=0,
            )

    def said(self, name: str) -> str:
        """Everything that a worker has printed."""
        return (self._folder / name / "said").read_text()

    def hear(self, name: str, words: str) -> None:
        """Wait until a worker has said something."""
        until(lambda: words in self.said(name) or self._processes[name].poll() is not None, f"{name}: {words}")
        assert words in self.said(name), self.said(name)

    def stop(self, name: str) -> int:
        """Stop a worker as a batch system does; return its exit code."""
        self._processes[name].send_signal(signal.SIGTERM)
        return self._processes[name].wait(300)

    def end(self, name: str) -> int:
        """Wait for the end of a worker; return its exit code."""
        return self._processes[name].wait(300)

    def close(self) -> None:
        """End what is left."""
        for process in self._processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def workers(tmp_path: Path, environment: dict[str, str]) -> Iterator[Workers]:
    """Starts workers, and ends what is left of them."""
    started = Workers(tmp_path, environment | {"SKILLGAUGE_SANDBOX": "local"})
    yield started
    started.close()


def another_version(folder: Path) -> str:
    """Make a folder that, as `PYTHONPATH`, gives the engine of the run another version; return it."""
    real = distribution(ENGINE)
    fake = folder / f"{ENGINE.replace('-', '_')}-0.0.1.dist-info"
    fake.mkdir(parents=True)
    (fake / "METADATA").write_text(
        (real.read_text("METADATA") or "").replace(f"Version: {real.version}", "Version: 0.0.1")
    )
    (fake / "entry_points.txt").write_text(real.read_text("entry_points.txt") or "")
    return str(folder)


def test_a_worker_of_another_version_is_refused_by_name(
    skill: Path,
    environment: dict[str, str],
    start_cluster: Callable[..., DaskCluster],
    workers: Workers,
    tmp_path: Path,
) -> None:
    """Alone it ends the run with exit code 2; beside a good one it gets no trial. Both owners are told."""
    cluster = start_cluster()
    address = ("--set", f"executors.dask.address={cluster.address}")
    workers.start("old", *address, PYTHONPATH=another_version(tmp_path / "old-version"))
    workers.hear("old", "waits for runs at")
    code, out, err = evaluated(skill, environment, cluster)
    assert code == 2, out + err
    told = out + err
    assert "executor.no-worker" in told
    assert f"worker old: {ENGINE} 0.0.1 is installed here, and the run has" in told
    workers.hear("old", "worker old is refused by a run")
    assert f"pip install {ENGINE}==" in workers.said("old")

    workers.start("good", *address, "--resource", "docker=2")
    workers.hear("good", "waits for runs at")
    assert "docker=2" in workers.said("good")
    needs = ("--set", 'executors.dask.resources={"docker": 1}')
    code, out, err = evaluated(skill, environment, cluster, *needs, "--concurrency", "2")
    assert code == 0, out + err + workers.said("good")
    workers.hear("good", "worker good is admitted to a run")
    assert workers.stop("good") == 0
    assert "worker good has ended" in workers.said("good")


def test_a_worker_ends_with_its_scheduler(
    start_cluster: Callable[..., Any], workers: Workers, authority: Callable[[str], Any]
) -> None:
    """It waits for the scheduler file, uses the certificates of the options, and says in the end what is gone."""
    ours = authority("ours")
    cluster = start_cluster(ours.of("cluster").for_dask())
    late = cluster.folder / "late.json"
    where = {"scheduler_file": str(late)} | ours.of("worker").as_options()
    options = [word for name, value in where.items() for word in ("--set", f"executors.dask.{name}={value}")]
    workers.start("late", *options)
    workers.hear("late", "for executor 'dask': 1 at once")
    shutil.copy(cluster.scheduler_file, late)
    workers.hear("late", "waits for runs at tls://")
    os.killpg(cluster.scheduler.pid, signal.SIGKILL)
    assert workers.end("late") == 0
    assert "is gone" in workers.said("late")
