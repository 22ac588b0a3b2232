"""Tests that need bubblewrap are skipped where it does not work, and say why."""

from __future__ import annotations

import asyncio

import pytest

from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """Skips where there is no bubblewrap that works."""
    problems = asyncio.run(BubblewrapSandbox(BubblewrapOptions()).check()).problems
    if problems:
        pytest.skip(f"{problems[0].message} (make sandbox)")
