"""Ends the processes of a skillgauge that was killed, and removes its folder.

Run as a program of its own, isolated and without `site`, by a shell that waited for the end of its parent; so nothing
but the standard library is imported, and little of that.

Arguments: the folder, and the mark of its processes.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from contextlib import suppress

LOCK = "lock"
"""File that the owner of a folder has locked; in it the mark of its processes."""
KEPT = "kept"
"""Folder with a file for each workspace that is to be left behind."""
_MARKER = b"SKILLGAUGE_CHILD_PROCESS="
_LOOKS = 100
_LOOK_S = 0.02
_LONGEST_MARK = 64


def read_mark(lock: int) -> bytes:
    """The mark that the owner of a lock wrote into it; empty if it did not come so far."""
    line, end, _ = os.pread(lock, _LONGEST_MARK, 0).partition(b"\n")
    return line if end else b""


def end_marked(mark: bytes) -> int:
    """Kill every process that carries a mark, with its group; tells how many there were."""
    ended: set[int] = set()
    for _ in range(_LOOKS if mark else 0):
        pids = _marked(mark)
        if not pids:
            break
        for pid in pids:
            _kill(pid)
        ended |= pids
        time.sleep(_LOOK_S)
    return len(ended)


def empty_but_kept(folder: str | os.PathLike[str]) -> int:
    """Remove a folder, but for workspaces that are to be kept; tells how many others were in it.

    Raises:
        OSError: something of it cannot be removed.
    """
    removed = 0
    kept: set[str] = set()
    with suppress(OSError):
        kept.update(os.listdir(os.path.join(folder, KEPT)))  # noqa: PTH118, PTH208 - pathlib would be one more import
    for name in sorted({*os.listdir(folder)} - {*kept, LOCK}):  # noqa: PTH208
        path = os.path.join(folder, name)  # noqa: PTH118
        removed += os.path.isdir(path) and name != KEPT  # noqa: PTH112
        if not remove(path):
            raise OSError(f"{path!r} cannot be removed")  # and whoever comes next finds the lock and tries again
    with suppress(FileNotFoundError):  # whoever sweeps beside us was here, but what we moved aside was in his way
        os.unlink(os.path.join(folder, LOCK))  # noqa: PTH108, PTH118
    if not kept:
        os.rmdir(folder)  # noqa: PTH106
    return removed


def remove(path: str | os.PathLike[str]) -> bool:
    """Remove a folder, however deep and whatever its modes are, or a file; tells whether it is gone."""
    try:
        if not os.path.isdir(path) or os.path.islink(path):  # noqa: PTH112, PTH114
            os.unlink(path)  # noqa: PTH108
            return True
        parent = os.open(os.path.dirname(os.fspath(path)) or ".", os.O_RDONLY | os.O_DIRECTORY)  # noqa: PTH120
    except OSError:
        return not os.path.lexists(path)
    try:
        _flatten(parent, os.path.basename(os.fspath(path)))  # noqa: PTH119
    finally:
        os.close(parent)
    return not os.path.lexists(path)


def _flatten(parent: int, name: str) -> None:
    """Remove a tree without recursion: folders inside are moved up beside it before it is emptied itself.

    So no path grows with the depth of the tree, and no stack, and no more than a few descriptors are open.
    """
    waiting, number = [name], 0
    emptied: list[str] = []
    while waiting:
        one = waiting.pop()
        emptied.append(one)
        folder = _opened(parent, one)
        if folder < 0:
            continue
        try:
            for entry in os.listdir(folder):  # noqa: PTH208
                try:
                    os.unlink(entry, dir_fd=folder)
                except OSError:
                    if _was_empty(folder, entry):
                        continue
                    number += 1
                    aside = f"{name}.{number}"
                    if _moved(folder, entry, parent, aside):
                        waiting.append(aside)
        except OSError:
            pass
        finally:
            os.close(folder)
    for one in reversed(emptied):
        try:
            os.rmdir(one, dir_fd=parent)
        except OSError:
            continue


def _was_empty(parent: int, name: str) -> bool:
    """Remove a folder that holds nothing, as most of a workspace's do: moving it up costs several times as much."""
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _opened(parent: int, name: str) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        os.chmod(name, 0o700, dir_fd=parent)
        return os.open(name, flags, dir_fd=parent)
    except OSError:
        return -1


def _moved(folder: int, entry: str, parent: int, aside: str) -> bool:
    """Move an entry that cannot be unlinked; what may not be written to cannot change its parent either."""
    for _ in range(2):
        try:
            os.rename(entry, aside, src_dir_fd=folder, dst_dir_fd=parent)
            return True
        except PermissionError:
            if not stat.S_ISDIR(os.lstat(entry, dir_fd=folder).st_mode):
                return False
            os.chmod(entry, 0o700, dir_fd=folder)
        except OSError:
            return False
    return False


def _marked(mark: bytes) -> set[int]:
    pids: set[int] = set()
    try:
        names = os.listdir("/proc")  # noqa: PTH208
    except OSError:
        return pids
    for name in names:
        if not name.isdecimal() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                environ = file.read()
        except OSError:
            continue
        if any(one.startswith(_MARKER) and mark in one for one in environ.split(b"\0")):
            pids.add(int(name))
    return pids


def _kill(pid: int) -> None:
    """Kill a process, and its group unless that is ours."""
    try:
        group = os.getpgid(pid)
        if group != os.getpgid(0):
            os.killpg(group, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return


def main() -> None:
    """Do it."""
    folder, mark = sys.argv[1:]
    for _ in range(_LOOKS):
        end_marked(mark.encode())
        try:
            empty_but_kept(folder)
        except FileNotFoundError:
            return
        except OSError:  # somebody who is dying still writes there
            time.sleep(_LOOK_S)


if __name__ == "__main__":
    main()
