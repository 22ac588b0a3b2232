"""What journeys of users start from: an empty folder, an empty home, and a folder with the wheels of everything."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import wheels as ci_wheels

HERE = Path(__file__).parent
"""Where the scripts are."""

PYTHON = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
"""The interpreter below the environment that the tests run in, as a user has it."""

NEEDED = (
    *("skillgauge-testkit", "skillgauge-model-client", "pytest>=8"),
    *("hatchling>=1.26", "editables", "uv_build>=0.13,<0.14", "pip", "pipx"),
)
"""What journeys install besides skillgauge for agents, with all that these need: three of them build distributions, and
pipx brings its own pip up to date."""

TIME_LIMIT_S = 600
"""For what takes seconds, on a machine that is busy or far from the package index."""


def once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], None]) -> Path:
    """A folder that the first of all workers of this run fills."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, ready = base / name, base / f"{name}.ready"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            folder.mkdir()
            fill(folder)
            ready.touch()
    return folder


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of every member and of every third-party package that a journey installs."""
    if importlib.util.find_spec("ensurepip") is None:
        pytest.skip(
            "this Python has no ensurepip, so `python3 -m venv` makes no pip (Debian: apt install python3-venv)"
        )
    return once(tmp_path_factory, "wheelhouse", _fill)


def _fill(folder: Path) -> None:
    built = ci_wheels.build(folder)
    constraints = ci_wheels.constraints_for(built, folder)
    # Said with its place, since pip looks for one with an extra in the index alone, whatever the constraints say.
    ours = f"skillgauge[mcp] @ {built['skillgauge'].as_uri()}"
    download = ("-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", folder)
    with tempfile.TemporaryDirectory() as name:
        for command in (
            (PYTHON, "-m", "venv", name),
            (f"{name}/bin/python", *download, "--constraint", constraints, ours, *NEEDED),
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIME_LIMIT_S)
            assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def user(tmp_path: Path, wheelhouse: Path) -> dict[str, str]:
    """The environment of a user who has Python and nothing else; pip finds packages in the wheelhouse only."""
    home, programs = tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    programs.mkdir()
    python = programs / "python3"
    python.write_text(f'#!/bin/sh\nexec "{PYTHON}" "$@"\n')
    python.chmod(0o755)
    return {
        "HOME": str(home),
        "PATH": f"{programs}{os.pathsep}{os.defpath}",
        "LANG": "C.UTF-8",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_FIND_LINKS": str(wheelhouse),
        "PIP_NO_INDEX": "1",
    }


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def travel(name: str, work: Path, user: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a script to its end; it stops at the first command that fails."""
    script = HERE / f"{name}.sh"
    done = subprocess.run(
        ["sh", "-e", script], cwd=work, env=user, capture_output=True, text=True, check=False, timeout=TIME_LIMIT_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done
