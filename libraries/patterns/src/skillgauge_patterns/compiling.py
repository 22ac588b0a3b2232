"""Compile a pattern, unless it is a bomb."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import regex

from .size import size_of

PLAIN = 20_000
"""Elements of a pattern that is compiled here without further ado: some milliseconds and megabytes."""
LARGEST = 2_000_000
"""Elements beyond which nobody means it."""
_CPU_S, _MEMORY = 1, 256 * 1024 * 1024
_PATIENCE_S = 20.0
"""For the start of the process on a busy machine; its own limit is on what it uses."""
_SHOWN = 100
_TRIAL = Path(__file__).with_name("trial.py")


class PatternError(ValueError):
    """A pattern that is not valid, or asks for too much."""


@lru_cache(maxsize=1024)
def compiled(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """A pattern, ready to search.

    Raises:
        PatternError: it is not valid, or its compilation takes too long or too much memory.
    """
    size = size_of(pattern)
    if size is not None and size > LARGEST:
        raise refusal(pattern, f"it asks for too much (about {size:,} elements)")
    if size is None or size > PLAIN:
        _try_elsewhere(pattern, flags)
    try:
        return regex.compile(pattern, flags)
    except regex.error as error:
        raise refusal(pattern, str(error)) from error
    except (RecursionError, OverflowError, MemoryError) as error:
        raise refusal(pattern, f"it asks for too much ({type(error).__name__})") from error


def _try_elsewhere(pattern: str, flags: int) -> None:
    """Compile it in a process that can take no more than is good for it."""
    order = json.dumps({"pattern": pattern, "flags": int(flags), "cpu_s": _CPU_S, "memory": _MEMORY})
    words = [sys.executable, "-I", "-B", str(_TRIAL)]
    try:
        done = subprocess.run(words, input=order.encode(), capture_output=True, timeout=_PATIENCE_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise refusal(pattern, "it takes too long to compile") from error
    if done.returncode:
        raise refusal(pattern, f"it takes more than {_CPU_S} s or {_MEMORY >> 20} MiB to compile")


def refusal(pattern: str, why: str) -> PatternError:
    """Make the error about a pattern."""
    shown = pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…"
    return PatternError(f"pattern {shown!r} is not valid: {why}")
