"""The contract of executors: a cluster in this process, one of real processes, and one with TLS."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Executor, PluginError, PortableRunTrial
from skillgauge_executor_dask import pool
from skillgauge_executor_dask.connecting import answers, connected
from skillgauge_executor_dask.options import DaskOptions
from skillgauge_testkit import EXECUTORS, Maker, check_executor, check_light_import, check_plugin, with_options
from skillgauge_testkit.leftovers import children_running
from skillgauge_workers import Attempts, Frame, Kind, Link

MODULE = "skillgauge_executor_dask.plugin"
MODULE_OF_WORKERS = "skillgauge_workers.program"
PATIENCE_S = 90.0
"""A worker that comes late imports everything first, beside others that do."""


def test_announcement() -> None:
    """Hook, provider, object and entry point fit together, and announcing is cheap."""
    check_plugin(MODULE, "executors")
    check_light_import(MODULE)


def repeat_first_result(patched: pytest.MonkeyPatch) -> None:
    """Let the first result of a run arrive twice."""
    deliver, repeated = pool._Link._deliver, list[Frame]()

    def delivered(link: pool._Link, frame: Frame | None) -> None:
        deliver(link, frame)
        if not repeated and frame is not None and frame.kind is Kind.RESULT:
            repeated.append(frame)
            deliver(link, frame)

    patched.setattr(pool._Link, "_deliver", delivered)


class Misled:
    """A run with another recipe."""

    def __init__(self, run: PortableRunTrial, recipe: Callable[[bytes], bytes]) -> None:
        self._run = run
        self.recipe = recipe(run.recipe)

    def __getattr__(self, name: str) -> object:
        return getattr(self._run, name)


def mislead_first(patched: pytest.MonkeyPatch, recipe: Callable[[bytes], bytes]) -> None:
    """Let the first worker of a run get another recipe."""
    prepared, calls = pool.prepared, list[Link]()

    async def prepared_but_one(link: Link, run: PortableRunTrial, *more: Any) -> Attempts:
        calls.append(link)
        return await prepared(link, Misled(run, recipe) if len(calls) == 1 else run, *more)

    patched.setattr(pool, "prepared", prepared_but_one)


class EmbeddedWorkers:
    """The workers of a cluster in this process, each of which has a child of it for a run."""

    def __init__(self, patched: pytest.MonkeyPatch, _executor: Executor) -> None:
        patched.undo()
        self._patched = patched

    def count(self) -> int:
        """Children that make attempts."""
        return len(self._pids())

    def kill_one(self) -> None:
        """Each makes an attempt."""
        os.killpg(self._pids()[0], signal.SIGKILL)

    def add(self) -> bool:
        """There are as many as the option says, and no other joins."""
        return False

    def spoil_one(self) -> bool:
        """The first that is started cannot prepare the run."""
        return self.mislead_one(lambda _recipe: b"nothing that prepares a run")

    def mislead_one(self, recipe: Callable[[bytes], bytes]) -> bool:
        """The first that is started gets it."""
        mislead_first(self._patched, recipe)
        return True

    def repeat_one(self) -> bool:
        """The first answer is delivered twice."""
        repeat_first_result(self._patched)
        return True

    def _pids(self) -> list[int]:
        return children_running(MODULE_OF_WORKERS)


class ClusterWorkers:
    """Processes of `dask worker`; there are two when a clause begins."""

    def __init__(self, patched: pytest.MonkeyPatch, cluster: Any, spoiled: Path, refusals: list[str]) -> None:
        patched.undo()
        self._patched = patched
        self._cluster = cluster
        self._spoiled = spoiled
        self._refusals = refusals
        cluster.fill(2)

    def count(self) -> int:
        """Those that live."""
        return len(self._cluster.living())

    def kill_one(self) -> None:
        """Each makes an attempt."""
        self._cluster.kill()

    def add(self) -> bool:
        """Another one is started, and ends with the cluster."""
        self._cluster.add()
        return True

    def spoil_one(self) -> bool:
        """The testkit cannot be imported in another one; the others get nothing before it has said so."""
        self._cluster.add(environment={"PYTHONPATH": str(self._spoiled)})
        self._cluster.add()
        prepared, refusals = pool.prepared, self._refusals

        async def prepared_after_refusal(link: Link, run: PortableRunTrial, *more: Any) -> Attempts:
            try:
                attempts = await prepared(link, run, *more)
            except PluginError as error:
                refusals.append(str(error))
                raise
            while not refusals:
                await asyncio.sleep(0.02)
            return attempts

        self._patched.setattr(pool, "prepared", prepared_after_refusal)
        return True

    def mislead_one(self, recipe: Callable[[bytes], bytes]) -> bool:
        """The first that is part of the run gets it."""
        mislead_first(self._patched, recipe)
        return True

    def repeat_one(self) -> bool:
        """The first answer is delivered twice."""
        repeat_first_result(self._patched)
        return True


@pytest.mark.slow
def test_cluster_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial runs once in some worker, whoever dies, and nothing goes on after the end of a run."""
    make = with_options(Maker(EXECUTORS, MODULE), {"workers": 2})
    check_executor(make, workers=lambda executor: EmbeddedWorkers(monkeypatch, executor))


def test_clusters_of_several_runs_need_no_port_of_each_other() -> None:
    """Each run on a machine has a cluster of its own: none listens on the port of dask's dashboard."""

    async def both() -> None:
        async with connected(DaskOptions(), (1, 1)) as one, connected(DaskOptions(), (1, 1)) as other:
            assert await answers(one)
            assert await answers(other)

    asyncio.run(both())


@pytest.mark.slow
def test_cluster_of_processes(
    start_cluster: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same, where workers are killed, join late and are bad as real ones are."""
    kit = tmp_path / "spoiled/skillgauge_testkit"
    kit.mkdir(parents=True)
    (kit / "__init__.py").write_text("raise ImportError('this worker is spoiled')")
    refusals: list[str] = []
    cluster = start_cluster()
    cluster.fill(2)
    make = with_options(Maker(EXECUTORS, MODULE), {"address": cluster.address})
    check_executor(
        make, workers=lambda _: ClusterWorkers(monkeypatch, cluster, kit.parent, refusals), patience_s=PATIENCE_S
    )
    assert refusals
    assert all("this worker is spoiled" in one for one in refusals), refusals


@pytest.mark.slow
def test_cluster_with_tls(start_cluster: Callable[..., Any], authority: Callable[[str], Any]) -> None:
    """The same over encrypted connections with certificates on both ends; others get no connection."""
    ours = authority("ours")
    cluster = start_cluster(ours.of("cluster").for_dask())
    cluster.fill(2)
    where = {"scheduler_file": str(cluster.scheduler_file)}
    check_executor(with_options(Maker(EXECUTORS, MODULE), where | ours.of("client").as_options()))
    for wrong in ({}, authority("theirs").of("client").as_options()):
        with pytest.raises(AssertionError, match="no dask scheduler answers at tls://"):
            check_executor(with_options(Maker(EXECUTORS, MODULE), where | wrong))
