"""Packages to test, and to spoil."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).parents[3] / "formats/uaaps/tests/data"


@pytest.fixture
def package(work: Path) -> Path:
    """A copy of a package with a skill, hooks, and tests of both."""
    folder = work / "word-tools"
    shutil.copytree(DATA / "word-tools", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder
