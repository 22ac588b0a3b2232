"""Whole runs in worker processes: what they share, how they die, and who is told."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

import pytest

from skillgauge.api import KeptExecution, PluginError, Trial, TrialResult
from skillgauge_executor_processes import pool
from skillgauge_executor_processes.executor import ProcessesExecutor
from skillgauge_executor_processes.options import ProcessesOptions
from skillgauge_executor_processes.pool import Pool
from skillgauge_workers import Attempts

PARTS = Path(__file__).with_name("parts.py")
LONG_S = 60.0
"""How long a test waits for what must happen before it gives up; nothing is measured by it."""


class Bench:
    """Runs evaluations in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []

    def start(self, deeds: Sequence[str], *options: str, workers: int = 2, **variables: str) -> subprocess.Popen[str]:
        """Start an evaluation of cases that do this."""
        (self.folder / "suite.deeds").write_text(json.dumps(deeds))
        command = [
            sys.executable,
            "-m",
            "skillgauge",
            "eval",
            "suite.deeds",
            "--plugin",
            str(PARTS),
            "--sandbox",
            "deed",
        ]
        command += ["--executor", "processes", "--set", f"executors.processes.workers={workers}"]
        command += ["--store", "none", "--format", "record", "--output-dir", "out", *options]
        environ = {**os.environ, "PYTHONPATH": str(PARTS.parent), **variables}
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=self.folder, env=environ, stdout=pipe, stderr=pipe, text=True)
        self.started.append(process)
        return process

    def run(self, deeds: Sequence[str], *options: str, **settings: object) -> tuple[int, str, str]:
        """Exit code and what was written."""
        process = self.start(deeds, *options, **settings)  # type: ignore[arg-type]  # the same ones
        stdout, stderr = process.communicate(timeout=LONG_S)
        return process.returncode, stdout, stderr

    def results(self) -> dict[str, TrialResult]:
        """What the run record holds, by case."""
        (record,) = (self.folder / "out").glob("*.record.*")
        found = [TrialResult.model_validate(one) for one in json.loads(record.read_text())["results"]]
        return {one.case_id: one for one in found}

    def pids(self) -> set[int]:
        """Processes in which attempts were made."""
        return {int(path.suffix[1:]) for path in self.folder.glob("[0-9]*.[0-9]*")}

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something that must happen."""
        end = time.monotonic() + LONG_S
        while not holds():
            assert time.monotonic() < end
            time.sleep(0.02)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A folder to evaluate in; what is still running at the end is killed."""
    made = Bench(tmp_path)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def is_alive(pid: int) -> bool:
    """Whether a process is there and not only waiting to be reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.slow
def test_work_is_divided(bench: Bench) -> None:
    """Two workers share the trials; every one is in the record, and the sessions are closed in each of them."""
    code, _, stderr = bench.run(["work"] * 12, "--concurrency", "4")
    assert code == 0, stderr
    workers = {one.execution.output for one in bench.results().values()}
    assert (len(bench.results()), len(workers)) == (12, 2)
    assert {f"closed-{pid}" for pid in workers} <= {path.name for path in bench.folder.glob("closed-*")}


@pytest.mark.slow
def test_no_more_workers_than_trials_at_once(bench: Bench) -> None:
    """With a concurrency of 1 there is one worker, whatever the option says."""
    code, _, stderr = bench.run(["work"] * 4, "--concurrency", "1", workers=3)
    assert code == 0, stderr
    assert len(bench.pids()) == 1


@pytest.mark.slow
def test_secrets_and_prints_of_workers(bench: Bench) -> None:
    """Workers have the environment of the run and redact as it does; what they print is no part of the report."""
    code, stdout, stderr = bench.run(["tell", "print"], "--json", DEED_SECRET="a-secret-of-some-length")
    assert code == 0, stderr
    assert bench.results()["0-tell"].execution.output == "[redacted:DEED_SECRET]"
    assert "printed" not in stdout
    assert "printed by a plugin" in stderr
    assert "\x1b" not in stderr
    assert not any(line.lstrip().startswith("::error") for line in stderr.splitlines())


@pytest.mark.slow
def test_worker_that_dies(bench: Bench) -> None:
    """What it had under way is an error that says why, and the others run in a worker that takes its place."""
    code, _, _ = bench.run(["die", *["work"] * 9], "--concurrency", "2")
    results = bench.results()
    assert (code, len(results)) == (0, 10)
    lost = results["0-die"].execution.failure
    assert lost is not None
    assert lost.message == "the worker process that made the attempt ended with signal 9"
    assert sum(one.execution.failure is None for one in results.values()) >= 8


@pytest.mark.slow
def test_attempt_that_died_is_made_again(bench: Bench) -> None:
    """With retries another worker makes it, and the record tells of both attempts."""
    code, _, stderr = bench.run(["die-once", "work"], "--concurrency", "1", "--retries", "1")
    assert code == 0, stderr
    result = bench.results()["0-die-once"]
    assert (result.attempts, result.verdict) == (2, "pass")
    assert [one.failure.failure_class for one in result.given_up] == ["killed"]
    assert len(bench.pids()) == 2


@pytest.mark.slow
def test_run_that_no_worker_can_prepare(bench: Bench) -> None:
    """It ends before any trial, with the reason."""
    (bench.folder / "unusable").touch()
    code, _, stderr = bench.run(["work"])
    assert code == 2
    assert "every worker was refused" in stderr
    assert "nothing works in a worker" in stderr
    assert not bench.pids()


@pytest.mark.parametrize("deed", ["wait", pytest.param("block", marks=pytest.mark.slow)])
def test_interrupted_run_leaves_no_worker(bench: Bench, deed: str) -> None:
    """After Ctrl-C what has finished is kept and no worker lives, even one that a plugin blocks."""
    process = bench.start(["work", deed], "--concurrency", "1")
    bench.until(lambda: any(bench.folder.glob(f"1-{deed}.*")))
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LONG_S)
    assert process.returncode == 130, stderr
    assert list(bench.results()) == ["0-work"]
    assert not any(map(is_alive, bench.pids()))


@pytest.mark.parametrize("deed", ["wait", pytest.param("block", marks=pytest.mark.slow)])
def test_killed_run_leaves_no_worker(bench: Bench, deed: str) -> None:
    """Workers end with the process that started them, in order where they can."""
    process = bench.start([deed], "--concurrency", "1")
    bench.until(lambda: bool(bench.pids()))
    process.kill()
    process.communicate()
    bench.until(lambda: not any(map(is_alive, bench.pids())))
    assert any(bench.folder.glob("closed-*")) is (deed == "wait")


def children() -> set[int]:
    """Processes that this one has started and not reaped."""
    return {int(pid) for one in Path("/proc/self/task").glob("*/children") for pid in one.read_text().split()}


class Nothing:
    """A run in which nothing is finished."""

    concurrency = 1
    recipe = b""

    async def keep(self, kept: KeptExecution) -> None:
        """Is never asked."""
        raise NotImplementedError

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """Nothing."""


def test_pool_that_is_closed_at_once_leaves_no_worker() -> None:
    """A worker that is still being prepared is ended and reaped."""

    async def closed_early() -> None:
        before = children()
        early = Pool(Nothing(), 1)
        opening = asyncio.create_task(early.open())
        async with asyncio.timeout(LONG_S):
            while not children() - before:
                await asyncio.sleep(0.001)
        await early.close()
        assert not children() - before
        assert isinstance((await asyncio.gather(opening, return_exceptions=True))[0], asyncio.CancelledError)

    asyncio.run(closed_early())


class Gone(Attempts):
    """A worker that has died, and may not have been reaped yet."""

    def __init__(self) -> None:
        self.lives = False
        self.is_closed = False

    async def close(self) -> None:
        """Wait for its end."""
        self.is_closed = True


def test_workers_that_were_replaced_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ends the run waits for those that died in it, too."""
    made: list[Gone] = []

    async def connect(_run: object, _share: int) -> Gone:
        made.append(Gone())
        return made[-1]

    async def twice() -> None:
        several = Pool(Nothing(), 1)
        await several.open()
        await several.open()
        await several.close()

    monkeypatch.setattr(pool, "_connect", connect)
    asyncio.run(twice())
    assert [one.is_closed for one in made] == [True, True]


def test_run_without_recipe() -> None:
    """A run that was not made from options is refused with a sentence that says so."""

    async def no_trials() -> AsyncIterator[Trial]:
        return
        yield

    async def run_trial(_trial: Trial) -> TrialResult:
        raise NotImplementedError

    async def refused() -> None:
        ProcessesExecutor(ProcessesOptions()).run(no_trials(), run_trial)

    with pytest.raises(PluginError, match="has no recipe"):
        asyncio.run(refused())
