"""Workers of a cluster that have nothing in common with the process that runs the evaluation but a connection."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM

from .conftest import SCRIPT, DaskCluster

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PATIENCE_S = 300.0


def evaluated(skill: Path, environment: dict[str, str], cluster: DaskCluster, *more: str) -> tuple[int, str, str]:
    """Evaluate on a cluster; the exit code and what was said."""
    options = ["--executor", "dask", "--set", f"executors.dask.address={cluster.address}", "--json"]
    options += ["--set", "engines.mock.script=agent.yaml", "--engine", "mock", "--no-baseline", *more]
    done = subprocess.run(
        [str(PROGRAM), "eval", skill.name, *options],
        cwd=skill.parent,
        env=environment | {"SKILLGAUGE_SANDBOX": "local"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    return done.returncode, done.stdout, done.stderr


def test_files_travel(
    skill: Path, environment: dict[str, str], start_cluster: Callable[..., DaskCluster], tmp_path: Path
) -> None:
    """Skill, inputs and script come to two workers with empty homes; nothing but the cache of contents is left."""
    homes = [tmp_path / name for name in ("first", "second")]
    cluster = start_cluster()
    for home in homes:
        home.mkdir()
        cluster.add(environment={"HOME": str(home), "TMPDIR": str(home)}, cwd=home)
    code, out, err = evaluated(skill, environment, cluster, "--concurrency", "2")
    assert code == 0, out + err + cluster.said()
    assert [one["verdict"] for one in json.loads(out)["results"]] == ["pass", "pass"]
    left = {
        path: home
        for home in homes
        for path in home.rglob("*")
        if path.is_file() and "dask-scratch-space" not in path.parts
    }
    assert {"Ada\n", "Grace\n", SCRIPT} <= {path.read_text() for path in left}
    assert {path.relative_to(home).parts[:2] for path, home in left.items()} == {(".cache", "skillgauge")}


def test_recordings_do_not_travel(
    skill: Path, environment: dict[str, str], start_cluster: Callable[..., DaskCluster]
) -> None:
    """A worker would take them with it in the end, so it refuses, and the run says why."""
    cluster = start_cluster()
    cluster.fill(1)
    code, out, err = evaluated(skill, environment, cluster, "--record", "recorded")
    assert code == 2, out + err
    assert "recordings would be written where nobody finds them" in out + err
    assert not os.path.exists(skill.parent / "recorded")  # noqa: PTH110 - not even an empty folder
