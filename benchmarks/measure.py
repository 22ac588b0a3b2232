"""Small tools of the benchmark scripts: time whole processes, describe the machine."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
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


def cpu_medians(commands: Sequence[Sequence[str]], *, times: int) -> list[float]:
    """Median CPU seconds of each command, its children included; they run in turns, after one turn that does not count.

    CPU time, because other work on the machine disturbs it less than the time on the wall.
    """
    seconds: list[list[float]] = [[] for _ in commands]
    for turn in range(times + 1):
        for command, found in zip(commands, seconds, strict=True):
            before = _children_cpu()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if turn:
                found.append(_children_cpu() - before)
    return [statistics.median(found) for found in seconds]


def in_threads(one: Callable[[int], None], count: int, *, at_once: int) -> float:
    """Wall-clock seconds of so many calls, each with its number from 0."""
    started = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(count)))
    return time.perf_counter() - started


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def machine() -> str:
    """One line about where the figures come from."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    python = platform.python_version()
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {python}, load {load:.1f}"


def verdict(reached: bool) -> str:
    """How a goal is reported."""
    return "reached" if reached else "MISSED"
