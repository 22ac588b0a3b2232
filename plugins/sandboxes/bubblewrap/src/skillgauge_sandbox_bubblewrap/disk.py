"""A watch over what a workspace holds on disk, since nothing in the kernel bounds a folder for an ordinary user."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path

_ENTRY = 4096
"""Least that an entry is counted as, so that empty files count, too."""
_PERIOD_S = 0.1
_SHARE = 25
"""A look is followed by a pause of that many times its length, if that is more than the period."""


async def watch(folders: Iterable[Path], limit: int, exceeded: Callable[[], Awaitable[None]]) -> None:
    """Look at folders for as long as it is not cancelled, and tell when they hold too much.

    What is written between two looks is not bounded, so a fast writer gets beyond the limit by what it writes in a
    moment.

    Args:
        folders: counted together, with all below them.
        limit: bytes.
        exceeded: called after each look at which they hold more.
    """
    folders = list(folders)
    while True:
        began = time.monotonic()
        held = await asyncio.to_thread(_held, folders, limit)
        if held > limit:
            await exceeded()
        await asyncio.sleep(max(_PERIOD_S, _SHARE * (time.monotonic() - began)))


def _held(folders: Iterable[Path], enough: int) -> int:
    """What folders hold, in bytes; stops counting beyond `enough`."""
    total = 0
    waiting = [str(folder) for folder in folders]
    while waiting and total <= enough:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    total += max(entry.stat(follow_symlinks=False).st_blocks * 512, _ENTRY)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return total
