"""Packages to change at will."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture
def word_tools(tmp_path: Path) -> Path:
    """A copy of a package with a skill, hooks, and tests of both."""
    folder = tmp_path / "word-tools"
    shutil.copytree(DATA / "word-tools", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder
