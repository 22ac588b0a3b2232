"""A watch over what a workspace holds, and over the room around it: nothing in the kernel bounds a folder for a user.

Files are counted as the file system sees them: also those below paths that are too long to be named, and those that
were deleted and are still open or mapped.
"""

from __future__ import annotations

import asyncio
import math
import os
import stat
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from skillgauge_documents.immutables import immutable

from . import held

_ENTRY = 4096
"""Least that an entry is counted as, so that empty files count, too."""
_PERIOD_S = 0.1
_SHARE = 25
"""A look is followed by a pause of that many times its length, if that is more than the period."""
_LONGEST_PATH = 3000
"""Characters of a path below which its names still fit, each of 255 bytes at most."""
_MOST_FAR = 100
"""Folders with longer paths that are looked into at a time: nobody needs them, and each takes a file descriptor."""


_FULL_MB = 1
"""With less than that free, programs fail to write what they have to."""
_FULL_ENTRIES = 16
"""With fewer files that can still be made, they do as well."""
MIB = 1024 * 1024

_last_full: dict[int, tuple[float, str]] = {}
"""When each disk was last seen to be full, by the monotonic clock, and what it lacked; by device number."""


@immutable
class DiskLimit:
    """Most that a workspace may hold."""

    mb: int
    """MiB."""
    option: str
    """Name of the option that sets it."""

    def exceeded(self, folder: Path, pids: Sequence[int]) -> str:
        """Return that a workspace holds more, and what to do; empty if it does not.

        Args:
            folder: the one around it.
            pids: its processes, see `held.descendants`.
        """
        if not holds_more([folder], pids, self.mb * MIB):
            return ""
        return f"the workspace holds more than {self.mb} MiB; write less, or raise {self.option}"


def lack_of_room(folder: Path, least_mb: int = _FULL_MB) -> str:
    """Return that the disk of a folder is full, and what to do; empty if it has room.

    Args:
        folder: any on that disk.
        least_mb: MiB that must be free.
    """
    return _told(folder, _lack(folder, least_mb))


def note_room(folder: Path) -> None:
    """Remember that the disk of a folder is full, for all workspaces of this process there; see `lack_since`.

    A disk can be full for less time than passes between two looks. Most often the workspace that filled it is removed
    then, so that whoever removes one calls this before.

    Args:
        folder: any on that disk.
    """
    if lack := _lack(folder, _FULL_MB):
        with suppress(OSError):  # removed meanwhile
            _last_full[folder.stat().st_dev] = (time.monotonic(), lack)


def lack_since(folder: Path, since: float) -> str:
    """Return that the disk of a folder is full, or was noted to be since a time, and what to do; empty if it was not.

    Args:
        folder: any on that disk.
        since: seconds of the monotonic clock; infinite for now alone.
    """
    if lack := lack_of_room(folder):
        return lack
    try:
        at, lack = _last_full.get(folder.stat().st_dev, (-math.inf, ""))
    except OSError:  # removed meanwhile
        return ""
    return _told(folder, lack) if at >= since else ""


def _lack(folder: Path, least_mb: int) -> str:
    """Return what the disk of a folder lacks, in words that follow its name; empty if nothing."""
    try:
        status = os.statvfs(folder)
    except (OSError, AttributeError):  # removed meanwhile, or a system without it
        return ""
    free_mb = status.f_bavail * status.f_frsize // MIB
    if free_mb < least_mb:
        need = "" if least_mb == _FULL_MB else f", {least_mb} are needed"
        return f"is full ({free_mb} MiB free{need})"
    return "has no room for further files" if status.f_files and status.f_favail < _FULL_ENTRIES else ""


def _told(folder: Path, lack: str) -> str:
    if not lack:
        return ""
    advice = "free some space, or set TMPDIR to a folder with more"
    return f"the disk of the temporary folder {str(folder)!r} {lack}; {advice}"


async def watch_room(look: Callable[[], object]) -> None:
    """Look for as long as it is not cancelled, without the pauses that a longer look needs: a disk can be full briefly.

    The first look comes after a period, which most commands do not last, so that these cost none.

    Args:
        look: takes notice of a disk that is full; called in a thread.
    """
    while True:
        await asyncio.sleep(_PERIOD_S)
        await asyncio.to_thread(look)


async def watch(look: Callable[[], bool], exceeded: Callable[[], Awaitable[None]]) -> None:
    """Look for as long as it is not cancelled, and tell when there is too much.

    What is written before the first look, which comes after a period, and between two others is not bounded, so a fast
    writer gets beyond the limit by what it writes in a moment.

    Args:
        look: whether there is too much; called in a thread.
        exceeded: called after each look at which there is.
    """
    pause_s = _PERIOD_S
    while True:
        await asyncio.sleep(pause_s)
        began = time.monotonic()
        if await asyncio.to_thread(look):
            await exceeded()
        pause_s = max(_PERIOD_S, _SHARE * (time.monotonic() - began))


def holds_more(folders: Iterable[Path], pids: Sequence[int], limit: int) -> bool:
    """Tell whether folders hold more bytes than a limit, with deleted files that processes still have open there.

    Args:
        folders: counted together, with all below them.
        pids: processes of the workspace.
        limit: bytes.
    """
    own = [str(folder) for folder in folders]
    devices = set()
    for folder in own:
        with suppress(OSError):
            devices.add(os.stat(folder).st_dev)  # noqa: PTH116 - many a second
    deleted = held.deleted_files(pids, devices)
    return deleted > limit or _held(own, limit - deleted) > limit - deleted


def _held(folders: list[str], enough: int) -> int:
    """Count the bytes that folders hold; stops counting beyond `enough`."""
    total, waiting, far = 0, folders, list[int]()
    while total <= enough:
        if not waiting:
            if not far:
                break
            fd = far.pop()
            total += _below(fd, far, enough - total)
            os.close(fd)
            continue
        total += _entries(waiting.pop(), waiting, far)
        if len(far) > _MOST_FAR:
            total = enough + 1
    for fd in far:
        os.close(fd)
    return total


def _below(fd: int, far: list[int], enough: int) -> int:
    """Yield the entries of a folder whose names have a length that can be used."""
    total, waiting = 0, [f"/proc/self/fd/{fd}"]
    while waiting and total <= enough and len(far) <= _MOST_FAR:
        total += _entries(waiting.pop(), waiting, far)
    return total


def _entries(folder: str, waiting: list[str], far: list[int]) -> int:
    total = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                total += max(status.st_blocks * 512, _ENTRY)
                if not stat.S_ISDIR(status.st_mode):
                    continue
                if len(os.fsencode(entry.path)) < _LONGEST_PATH:
                    waiting.append(entry.path)
                elif len(far) <= _MOST_FAR:
                    far.append(os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))
    return total
