"""The memory that processes hold without a name: deleted files that are open or mapped, and shared memory."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_MAPPED = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) +/.* \(deleted\)$", re.MULTILINE)
_SHARED = re.compile(rb"^RssShmem:\s+(\d+) kB", re.MULTILINE)
_SHARED_FILES = re.compile(rb"^RssFile:\s+(\d+) kB", re.MULTILINE)
_SHARE = re.compile(rb"^Pss_Shmem:\s+(\d+) kB", re.MULTILINE)
_MAPPED_KB = 16 * 1024
"""Of files in memory; with less nobody has a large one mapped. The tables of all processes are too long to be read ten
times a second."""
_MEMORY_FILE = "/memfd:"


def descendants(pids: Sequence[int]) -> list[int]:
    """Processes with all that come from them."""
    pids_below, waiting = list[int](), list(pids)
    while waiting:
        pid = waiting.pop()
        pids_below.append(pid)
        with suppress(OSError, ValueError):
            for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - many a second
                waiting += map(int, Path(f"/proc/{pid}/task/{task}/children").read_bytes().split())
    return pids_below


def deleted_files(pids: Sequence[int], devices: Collection[int]) -> int:
    """Bytes of deleted files of some file systems that processes have open or mapped, each counted once."""
    sizes: dict[tuple[int, int], int] = {}
    for pid in pids:
        for _, status in _open_files(pid):
            if status.st_nlink == 0 and status.st_dev in devices and stat.S_ISREG(status.st_mode):
                sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
        if _kb(_SHARED_FILES, pid, "status") > _MAPPED_KB:
            for device, inode, size in _mapped(pid):
                if device in devices:
                    sizes.setdefault((device, inode), size)
    return sum(sizes.values())


def shares_more(pids: Sequence[int], limit: int) -> bool:
    """Tell whether processes share more memory than a limit: mapped by them, or in files without a name."""
    files = {status.st_ino: status.st_blocks * 512 for pid in pids for status in _memory_files(pid)}
    if sum(files.values()) > limit:
        return True
    # What several have mapped is counted with each first, which is quick, and in shares if that is too much.
    mapped = 1024 * sum(_kb(_SHARED, pid, "status") for pid in pids)
    return mapped > limit and 1024 * sum(_kb(_SHARE, pid, "smaps_rollup") for pid in pids) > limit


def _memory_files(pid: int) -> Iterator[os.stat_result]:
    return (status for name, status in _open_files(pid) if name.startswith(_MEMORY_FILE))


def _open_files(pid: int) -> Iterator[tuple[str, os.stat_result]]:
    with suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - many a second
            with suppress(OSError):
                path = f"/proc/{pid}/fd/{number}"
                name = os.readlink(path)  # noqa: PTH115 - many a second
                if name.startswith("/"):
                    yield name, os.stat(path)  # noqa: PTH116 - many a second


def _mapped(pid: int) -> Iterator[tuple[int, int, int]]:
    """Device, inode and size of deleted files that a process has mapped."""
    with suppress(OSError):
        for begin, end, major, minor, inode in _MAPPED.findall(Path(f"/proc/{pid}/maps").read_bytes()):
            yield os.makedev(int(major, 16), int(minor, 16)), int(inode), int(end, 16) - int(begin, 16)


def _kb(pattern: re.Pattern[bytes], pid: int, file: str) -> int:
    try:
        match = pattern.search(Path(f"/proc/{pid}/{file}").read_bytes())
    except OSError:
        return 0
    return int(match[1]) if match else 0
