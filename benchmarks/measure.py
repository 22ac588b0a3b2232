"""Small tools of the benchmark scripts: time whole processes, describe the machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

BIN = Path(sys.executable).parent
"""Where the programs of this environment are."""


def best_of(command: Sequence[str], *, times: int, cwd: Path | None = None) -> float:
    """Least wall-clock seconds of several runs of a command; the least is what other load disturbs least."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd)
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def machine() -> str:
    """One line about where the figures come from."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    python = platform.python_version()
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {python}, load {load:.1f}"


def verdict(reached: bool) -> str:
    """How a goal is reported."""
    return "reached" if reached else "MISSED"
