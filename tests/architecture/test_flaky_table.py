"""The table of `docs/statistics.md` on flaky cases is what its simulation prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_page_has_the_table() -> None:
    """It is seeded, so whoever changes the rule changes the page: run benchmarks/flaky_simulation.py."""
    command = [sys.executable, "-m", "benchmarks.flaky_simulation"]
    table = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert table.count("\n") == 2 + 4 * 6
    assert table in (ROOT / "docs/statistics.md").read_text("utf-8")
