"""The removal of folders of workspaces: small ones at once, and none by following links."""

from __future__ import annotations

import asyncio
import itertools
import os
from pathlib import Path

from ._guardian import remove
from ._tree import BYTES_AT_ONCE, FILES_AT_ONCE
from .disk import note_room

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


async def removed(folder: Path) -> bool:
    """Remove a folder with all that is in it; tells whether it is gone. If it filled its disk, that is noted before."""
    note_room(folder)
    return remove_little(folder) or await asyncio.to_thread(remove, folder)


def remove_little(folder: Path) -> bool:
    """Remove a folder as long as that takes less time than handing it to a thread; tells whether it is gone.

    It stops at many files, at a large one, whose blocks take time to be freed, and at whatever cannot be removed as
    simply as this. That is still there afterwards, with some of the rest.
    """
    try:
        parent = os.open(folder.parent, _FOLDER)
        try:
            return _emptied(parent, folder.name, FILES_AT_ONCE) >= 0
        finally:
            os.close(parent)
    except OSError:
        return False


def _emptied(parent: int, name: str, most: int) -> int:
    """Remove a folder of few entries, and follow no link.

    Args:
        parent: a descriptor of the folder around it.
        name: its name there.
        most: entries that may be removed, those of folders within it included.

    Returns:
        How many more might have been removed; -1 if it stopped and the folder is still there.

    Raises:
        OSError: something cannot be removed.
    """
    folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        with os.scandir(folder) as entries:
            for entry in list(itertools.islice(entries, most + 1)):
                most -= 1
                if most < 0:
                    return -1
                if entry.is_dir(follow_symlinks=False):
                    most = _emptied(folder, entry.name, most)
                    if most < 0:
                        return -1
                elif entry.stat(follow_symlinks=False).st_size > BYTES_AT_ONCE:
                    return -1
                else:
                    os.unlink(entry.name, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=parent)
    return most
