"""The files that this process has on disk while it runs; none of them stays, however the process ends.

All workspaces of a process lie in one folder with a lock that the kernel gives up when the process dies. A guardian,
a small process of its own, waits for that moment: it ends whatever carries our mark and removes the folder. Where the
guardian is killed as well, the next process of the same account that opens a workspace does the same.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from skillgauge.api import get_logger

from ._guardian import KEPT, LOCK, empty_but_kept, end_marked, read_mark
from ._pump import prefix

if sys.platform != "win32":
    import fcntl

_log = get_logger(__name__)
_PREFIX = "skillgauge-"
_NAME_LENGTH = len(_PREFIX) + 8
"""With what `tempfile` adds: a folder that somebody else named is none of ours."""
_GUARDIAN = Path(__file__).with_name("_guardian.py")
_WAIT = 'read -r told && exit; exec "$@"'
"""A shell that becomes the guardian when the other end of its input closes without a word: it takes less than an
interpreter that waits."""
_SHELL_ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


class Belongings:
    """A folder that lives no longer than this process, nor than what lies in it.

    Args:
        parent: where it is made.
    """

    def __init__(self, parent: Path) -> None:
        self.parent = parent
        self.holders = 0
        self._lock = -1
        while self._lock < 0:  # somebody who sweeps may be faster
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent)).resolve()
            self._lock = _locked(self.folder, f"{prefix()}\n".encode())
        self._guardian = _guard(self.folder)

    def keep(self, folder: Path) -> None:
        """Leave one of the folders in it behind for inspection."""
        with suppress(FileExistsError):
            (self.folder / KEPT).mkdir()
        (self.folder / KEPT / folder.name).touch()

    def remove(self) -> None:
        """Remove it, but for what is kept, and let the guardian go."""
        if self._lock < 0:
            return
        with suppress(OSError):
            empty_but_kept(self.folder)
        os.close(self._lock)
        self._lock = -1
        if self._guardian is not None and self._guardian.stdin is not None:
            with suppress(OSError):
                self._guardian.stdin.write(b"done\n")
                self._guardian.stdin.close()
            self._guardian.wait()

    def disown(self) -> None:
        """Let go of it in a process that was forked: while that has our ends, nobody sees that the owner died."""
        os.close(self._lock)
        self._lock = -1
        if self._guardian is not None and self._guardian.stdin is not None:
            self._guardian.stdin.close()
            self._guardian.returncode = 0  # it is no child of this process


class _OfThisProcess:
    """The one folder in each place for temporary files."""

    def __init__(self) -> None:
        # One that its own thread may take again: garbage collection may call `release` in the middle of `at`.
        self._lock = threading.RLock()
        self._made: dict[Path, Belongings] = {}

    def at(self, parent: Path) -> Belongings:
        """The folder there, made for whoever comes first; what killed processes left there is removed before.

        It is removed when everybody who asked for it has called `release`.
        """
        with self._lock:
            belonging = self._made.get(parent)
            if belonging is not None:
                belonging.holders += 1  # first of all, so that nothing of what follows removes it
                if belonging.folder.is_dir():
                    return belonging
                belonging.remove()  # somebody else removed the folder; its guardian has nothing left to guard
            _sweep(parent)
            belonging = self._made[parent] = Belongings(parent)
            belonging.holders += 1
            return belonging

    def release(self, belonging: Belongings) -> None:
        """Say that nothing is in it any more of somebody who asked for it."""
        with self._lock:
            belonging.holders -= 1
            if not belonging.holders and self._made.get(belonging.parent) is belonging:
                del self._made[belonging.parent]
                belonging.remove()

    def remove(self) -> None:
        with self._lock:
            for belongings_ in self._made.values():
                belongings_.remove()
            self._made.clear()

    def start_afresh(self) -> None:
        """In a forked child none of them is its own."""
        for belongings_ in self._made.values():
            belongings_.disown()
        self._lock, self._made = threading.RLock(), {}


def _locked(folder: Path, mark: bytes) -> int:
    """The lock of a folder, taken; -1 if somebody else was faster."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:  # the folder was still empty
        return -1
    if sys.platform == "win32":
        return lock
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(lock, mark)
        if os.fstat(lock).st_nlink:
            return lock
    except BlockingIOError:
        pass
    os.close(lock)
    return -1


def _guard(folder: Path) -> subprocess.Popen[bytes] | None:
    """Start the guardian; `None` where there is no shell, or no room for a further process."""
    words = [os.path.realpath(sys.executable), "-I", "-S", str(_GUARDIAN), str(folder), prefix()]
    try:
        return subprocess.Popen(
            ["/bin/sh", "-c", _WAIT, "skillgauge-guardian", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=_SHELL_ENV,
            bufsize=0,
            start_new_session=True,
        )
    except OSError:
        return None


def _folders_of_runs(parent: Path) -> list[Path]:
    """Folders here that a run may have made, without a look at each of the thousands that others keep beside them."""
    try:
        with os.scandir(parent) as entries:
            near = [one for one in entries if one.name.startswith(_PREFIX)]
            return [Path(one.path) for one in near if one.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _sweep(parent: Path) -> None:
    """End and remove what processes of this account left that were killed, and tell of it in one line."""
    if sys.platform == "win32":
        return
    folders = processes = 0
    for folder in _folders_of_runs(parent):
        with suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue
            try:
                lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            except FileNotFoundError:
                if len(folder.name) == _NAME_LENGTH:
                    folder.rmdir()  # its owner was killed before there was a lock, or after; what is not empty stays
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a live one holds it
                processes += end_marked(read_mark(lock))
                folders += empty_but_kept(folder)
            finally:
                os.close(lock)
    if folders or processes:
        _log.warning("workspace.swept", left_by="runs that were killed", workspaces=folders, processes=processes)


_here = _OfThisProcess()
belongings = _here.at
release = _here.release


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A fresh folder that is removed at the end, also where the end is that this process is killed."""
    held = belongings(Path(tempfile.gettempdir()))
    try:
        with tempfile.TemporaryDirectory(prefix="t", dir=held.folder) as folder:
            yield Path(folder)
    finally:
        release(held)


atexit.register(_here.remove)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_here.start_afresh)
