"""Fixtures for pytest: `pytest_plugins = ["skillgauge_testkit.fixtures"]` in the `conftest.py` of the root folder.

The only module of the test kit that needs pytest. Each fixture can be replaced by one of the same name in a
`conftest.py` nearer to the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from skillgauge.plugins.installed import read_index

from .program import PROGRAM, Program


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def plugin_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the index of what is installed, which takes a tenth of a second to make."""
    folder = tmp_path_factory.mktemp("index")
    read_index(cache_dir=folder)
    return folder


@pytest.fixture
def environment(tmp_path: Path, plugin_index: Path) -> dict[str, str]:
    """Make the environment of the program: a home in which it has run before, and a search path; nothing else."""
    home = tmp_path / "home"
    shutil.copytree(plugin_index, home / ".cache/skillgauge")
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "CI": "true"}


@pytest.fixture
def program(work: Path, environment: dict[str, str]) -> Program:
    """The command line, in the work folder and in this environment."""
    return Program(work, environment)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Makes disks of some MiB, and of some files if that is said; skips where this account may not mount any."""
    with ExitStack() as stack:

        def make(size_mb: int, files: int = 0) -> Path:
            folder = tmp_path / f"disk-{size_mb}"
            folder.mkdir()
            if shutil.which("mount") is None:
                pytest.skip("a small disk is needed, and there is no program mount")
            command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m,nr_inodes={files}", "tmpfs", str(folder)]
            mounted = subprocess.run(command, capture_output=True, text=True, check=False)
            if mounted.returncode:
                pytest.skip(f"a small disk is needed, and cannot be mounted here: {mounted.stderr.strip()}")
            stack.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
            return folder

        yield make
