"""The attacks themselves: one that got through must be seen, however busy the machine is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from skillgauge_testkit.attacks import attacker


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="other systems have no such priority")
def test_a_process_that_was_killed_is_seen_dead() -> None:
    """It dies when it next gets a processor: one that gets what others leave is alive right after the kill."""
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    try:
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as victim:
            os.sched_setscheduler(victim.pid, os.SCHED_IDLE, os.sched_param(0))
            attacker.kill(str(victim.pid))
            assert victim.poll() is not None
    finally:
        os.sched_setaffinity(0, processors)
