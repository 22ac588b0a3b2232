"""`examples/scale`: what its files start is started here, without the cluster around it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

from skillgauge_testkit.program import Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/scale"
SKILLS = ("first", "second", "third with a space")
HERE = '#!/bin/sh\nprintf "%s\\n" "$*" >> ssh.log\nfor last; do :; done\nexec sh -c "$last"\n'
"""Takes the place of `ssh`: what the other machine would run is run here."""


@pytest.fixture(name="place")
def place_with_skills(work: Path) -> Path:
    """A checkout with three skills."""
    for name in SKILLS:
        shutil.copytree(ROOT / "examples/skills/calculator", work / "skills" / name)
    return work


def started(command: list[str], program: Program, place: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the program in the search path and a store that all tasks share."""
    path = os.pathsep.join((str(place / "bin"), str(Path(sys.executable).parent), program.environment["PATH"]))
    store = {"SKILLGAUGE_STORE": str(place / "all.db"), "SKILLGAUGE_SANDBOX": "local"}
    environment: Mapping[str, str] = {**program.environment, "PATH": path, **store, **more}
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=300)


def evaluated(program: Program) -> list[str]:
    """The folders whose skills have a run in the common store."""
    listed = program("history", "list", "--json", "--store", "all.db").document
    runs = [run["run"]["run_id"] for run in listed["runs"]]
    assert all(run["run"]["state"] == "finished" for run in listed["runs"])
    shown = [program("report", "show", run, "--json", "--store", "all.db").document for run in runs]
    return sorted(Path(suite["root"]).name for run in shown for suite in run["plan"]["suites"])


def test_a_task_of_the_array_evaluates_its_skill(program: Program, place: Path) -> None:
    """Each number is a skill, and a task that is submitted without a store says what it lacks."""
    script = str(EXAMPLE / "skillgauge.sbatch")
    for number in range(len(SKILLS)):
        done = started(["bash", script], program, place, SLURM_ARRAY_TASK_ID=str(number))
        assert done.returncode == 0, done.stderr
    assert evaluated(program) == sorted(SKILLS)
    refused = started(["bash", script], program, place, SLURM_ARRAY_TASK_ID="0", SKILLGAUGE_STORE="")
    assert refused.returncode == 1
    assert "the address of the database" in refused.stderr
    beyond = started(["bash", script], program, place, SLURM_ARRAY_TASK_ID="3")
    assert beyond.returncode == 1
    assert "unbound" in beyond.stderr


def test_skills_are_shared_among_machines(program: Program, place: Path) -> None:
    """Every skill is evaluated once, the machines take turns, and the worst exit code is the script's."""
    (place / "bin").mkdir()
    (place / "bin/ssh").write_text(HERE)
    (place / "bin/ssh").chmod(0o755)
    done = started(["bash", str(EXAMPLE / "over-ssh.sh")], program, place, HOSTS="worker-1 worker-2")
    assert done.returncode == 0, done.stderr
    assert evaluated(program) == sorted(SKILLS)
    calls = (place / "ssh.log").read_text()
    assert (calls.count(" worker-1 cd "), calls.count(" worker-2 cd ")) == (2, 1)
    shutil.rmtree(place / "skills/second")
    (place / "skills/second").mkdir()
    spoiled = started(["bash", str(EXAMPLE / "over-ssh.sh")], program, place, HOSTS="worker-1 worker-2")
    assert spoiled.returncode == program("eval", "skills/second").code != 0


def test_a_pod_evaluates_its_skill(program: Program, place: Path) -> None:
    """The manifest is an indexed job whose container evaluates the skill of its number, and names no secret's value."""
    job: Any = yaml.safe_load((EXAMPLE / "kubernetes.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    assert job["spec"]["completionMode"] == "Indexed"
    assert job["spec"]["parallelism"] <= job["spec"]["completions"]
    pod = job["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Never"  # a policy on failures of pods is refused with any other
    (container,) = pod["containers"]
    assert [rule["onExitCodes"]["containerName"] for rule in job["spec"]["podFailurePolicy"]["rules"][1:]] == ["eval"]
    assert [one["name"] for one in container["volumeMounts"]] == [one["name"] for one in pod["volumes"]]
    secrets = [one["name"] for one in container["env"] if "valueFrom" in one]
    assert secrets == ["PGPASSWORD", "SKILLGAUGE_STORE_KEY", "ANTHROPIC_API_KEY"]
    command = [*container["command"], *container["args"]]
    for number in range(len(SKILLS)):
        index = {"JOB_COMPLETION_INDEX": str(number), "SKILLS": str(place / "skills")}
        done = started(command, program, place, **index)
        assert done.returncode == 0, done.stderr
    assert evaluated(program) == sorted(SKILLS)


@pytest.mark.slow
def test_files_for_workers_start_workers(program: Program, place: Path) -> None:
    """Slurm, ssh and Kubernetes: the workers of all three make trials of one run, and end with the scheduler."""
    pytest.importorskip("distributed")
    (place / "bin").mkdir()
    (place / "bin/ssh").write_text(HERE)
    (place / "bin/ssh").chmod(0o755)
    manifest: Any = yaml.safe_load((EXAMPLE / "workers.yaml").read_text())
    pod = manifest["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert manifest["spec"]["selector"]["matchLabels"] == manifest["spec"]["template"]["metadata"]["labels"]
    assert [one["name"] for one in container["volumeMounts"]] == [one["name"] for one in pod["volumes"]]
    with DaskScheduler(place) as scheduler:
        config = place / "cluster.yaml"
        config.write_text(yaml.safe_dump({"plugins": {"executors": {"dask": {"address": scheduler.address}}}}))
        commands = {
            "slurm": (["bash", str(EXAMPLE / "workers.sbatch")], {"SLURM_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "1"}),
            "ssh": (["bash", str(EXAMPLE / "workers-over-ssh.sh")], {"HOSTS": "one two", "PLACES": "2"}),
            "pod": ([*container["command"], *container["args"]], {"POD": "workers-abc"}),
        }
        more = {"CONFIG": str(config), "SCHEDULER_FILE": str(place / "scheduler.json")}
        with ThreadPoolExecutor() as threads:
            under_way = {
                name: threads.submit(started, command, program, place, **more, **variables)
                for name, (command, variables) in commands.items()
            }
            try:
                options = ("--executor", "dask", "--config", str(config), "--concurrency", "8")
                assert program("eval", "skills/first", *options, "--json").code == 0
                scheduler.has_workers({"7-1", "one", "two", "workers-abc"})
            finally:
                scheduler.end()
        for name, worker in under_way.items():
            done = worker.result()
            assert done.returncode == 0, (name, done.stderr)
            assert "is admitted to a run" in done.stderr or "waits for runs" in done.stderr, (name, done.stderr)


class DaskScheduler:
    """A `dask scheduler` on this machine."""

    def __init__(self, place: Path) -> None:
        self._file = place / "scheduler.json"
        dask = (sys.executable, "-m", "dask", "scheduler", "--no-dashboard", "--host", "127.0.0.1", "--port", "0")
        with (place / "scheduler.log").open("wb") as log:
            self._process = subprocess.Popen([*dask, "--scheduler-file", str(self._file)], stdout=log, stderr=log)
        self._until(lambda: self._file.exists() and bool(self._file.read_text()))
        self.address = json.loads(self._file.read_text())["address"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    def has_workers(self, names: set[str]) -> None:
        """Wait until all of these are part of the cluster."""
        from distributed import Client  # noqa: PLC0415 - an extra, which not every installation has

        with Client(self.address) as client:
            self._until(lambda: {one["name"] for one in client.scheduler_info(-1)["workers"].values()} >= names)

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()

    def _until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 300
        while not holds():
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.parametrize("name", ["skillgauge.sbatch", "over-ssh.sh", "workers.sbatch", "workers-over-ssh.sh"])
def test_scripts_are_well_formed(name: str) -> None:
    """Also where no test gets to."""
    subprocess.run(["bash", "-n", str(EXAMPLE / name)], check=True, capture_output=True)


@pytest.mark.parametrize(("name", "signal"), [("skillgauge.sbatch", "INT"), ("workers.sbatch", "TERM")])
def test_directives_come_before_commands(name: str, signal: str) -> None:
    """Slurm reads none after the first command."""
    lines = (EXAMPLE / name).read_text().splitlines()
    first = next(at for at, line in enumerate(lines) if line and not line.startswith("#"))
    assert any(line.startswith(f"#SBATCH --signal=B:{signal}@") for line in lines[:first])
    assert not any(line.startswith("#SBATCH") for line in lines[first:])
