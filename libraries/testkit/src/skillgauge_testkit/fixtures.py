"""Fixtures for pytest: `pytest_plugins = ["skillgauge_testkit.fixtures"]` in the `conftest.py` of the root folder.

The only module of the test kit that needs pytest. Each fixture can be replaced by one of the same name in a
`conftest.py` nearer to the tests.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .program import PROGRAM, Program


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the program sees: a home of its own and a search path, nothing else of this machine."""
    home = tmp_path / "home"
    home.mkdir()
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "CI": "true"}


@pytest.fixture
def program(work: Path, environment: dict[str, str]) -> Program:
    """The command line, in the work folder and in this environment."""
    return Program(work, environment)
