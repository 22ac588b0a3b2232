"""Recordings read and written on the event loop if they are short, and in a thread if they are long.

To hand a short one to a thread costs another millisecond, as much as all the rest of it: for each step of the file
system the thread gives up the interpreter, and has to win it back from the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from .cassettes import Cassette, write_cassette

T = TypeVar("T")

SHORT = 64 * 1024
"""Most characters of a session, and bytes of a file, that are short."""


async def read(path: Path, work: Callable[[Path], T]) -> T:
    """Return what `work` makes of the recording in a file, which need not be there; raise what it raises."""
    try:
        is_short = path.stat().st_size <= SHORT
    except OSError:
        is_short = True
    return work(path) if is_short else await asyncio.to_thread(work, path)


async def write(path: Path, cassette: Cassette) -> None:
    """Write a recording, whole or not at all.

    Raises:
        UsageError: the place cannot be written.
    """
    if is_short(cassette):
        write_cassette(path, cassette)
    else:
        await asyncio.to_thread(write_cassette, path, cassette)


def is_short(cassette: Cassette) -> bool:
    """Tell whether a recording is written in less time than it takes to hand it to a thread."""
    trajectory = cassette.execution.trajectory
    lengths = [len(trajectory.raw or "") if trajectory else 0]
    lengths += (len(file.text or file.base64 or "") for file in cassette.files)
    # The rest is counted only if these do not decide: to spell out the largest streams would take a tenth of a second.
    return sum(lengths) <= SHORT and len(cassette.execution.model_dump_json()) <= SHORT
