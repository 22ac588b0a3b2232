"""A watch over what a workspace holds on disk, since nothing in the kernel bounds a folder for an ordinary user."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path

_BLOCK = 4096
"""Least that an entry is counted as, so that empty files count, too."""
PERIOD_S = 0.1
_PART = 8
"""Folders are added up again when the file system has lost that part of the limit since."""


async def watch(folders: Iterable[Path], limit: int, exceeded: Callable[[], Awaitable[None]]) -> None:
    """Look at folders for as long as it is not cancelled, and tell when they hold too much.

    What is written between two looks is not bounded, so a fast writer gets beyond the limit by what it writes in a
    moment.

    Args:
        folders: all on one file system.
        limit: bytes.
        exceeded: called at each look at which they hold more.
    """
    folders = list(folders)
    free = await asyncio.to_thread(_free, folders[0])
    while True:
        await asyncio.sleep(PERIOD_S)
        now = _free(folders[0])
        if now > free - limit // _PART:
            free = max(free, now)
            continue
        if await asyncio.to_thread(_holds, folders, limit) > limit:
            await exceeded()
        else:
            free = now


def _free(folder: Path) -> int:
    """Bytes that are free, or what the free entries would take, whichever is less."""
    try:
        state = os.statvfs(folder)
    except OSError:
        return 0
    entries = state.f_ffree * _BLOCK if state.f_files else state.f_bfree * state.f_frsize
    return min(state.f_bfree * state.f_frsize, entries)


def _holds(folders: Iterable[Path], enough: int) -> int:
    """What folders hold, in bytes; stops counting beyond `enough`."""
    total = 0
    waiting = [str(folder) for folder in folders]
    while waiting and total <= enough:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    total += max(entry.stat(follow_symlinks=False).st_blocks * 512, _BLOCK)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return total
