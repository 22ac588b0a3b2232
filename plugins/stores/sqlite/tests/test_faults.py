"""200 faults in runs that go on: nothing finished is lost, and nothing is counted twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).with_name("faults.py")
EACH = 50


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_nothing_finished_is_lost_and_nothing_is_counted_twice(tmp_path: Path, part: int) -> None:
    """Kills, stops, full disks, clocks that jump, two runs at once and cut files, at moments that chance chooses."""
    command = [sys.executable, str(DRIVER), str(tmp_path), str(part * 1000), str(EACH)]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    assert told["problems"] == []
    assert sum(told["counts"].values()) == EACH
    assert len(told["counts"]) == 6
