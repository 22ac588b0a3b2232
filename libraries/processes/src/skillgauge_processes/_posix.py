"""The requests to the system that keep processes in hand: groups, orphans, limits, reasons of failed starts."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from skillgauge.api import Command, LaunchError

if sys.platform == "linux":
    import resource

_CHUNK = 65536
_EXEC_TICKS = 200
_PR_SET_CHILD_SUBREAPER = 36


@cache
def adopt_orphans() -> bool:
    """Become the parent of descendants that lose theirs; False where that is not possible."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def adopted_groups(marker: bytes) -> set[int]:
    """Groups of the adopted children that carry the marker.

    Adopted children belong to the main thread, while those that we start belong to the threads that attend to
    them; so as a rule there is nothing to look at.
    """
    groups: set[int] = set()
    seen: set[bytes] = set()
    with suppress(OSError):
        # Until nobody comes any more: one of them that was dying may have left children to us meanwhile.
        while children := set(_read(f"/proc/self/task/{os.getpid()}/children").split()) - seen:
            for child in children:
                with suppress(OSError):
                    if marker in _environ(int(child)):
                        groups.add(os.getpgid(int(child)))
            seen |= children
    return groups


def _environ(pid: int) -> bytes:
    """The environment that a child was started with; nothing for a zombie."""
    for _ in range(_EXEC_TICKS):
        environ = _read(f"/proc/{pid}/environ")
        if environ or _read(f"/proc/{pid}/cmdline") or os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            return environ
        time.sleep(0.001)  # it is starting a program or dying, and has neither for a moment
    return b""


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(fd, _CHUNK), b""))
    finally:
        os.close(fd)


def close(fd: int) -> int:
    if fd >= 0:
        os.close(fd)
    return -1


def kill_group(group: int, number: int) -> bool:
    """Send a signal to a group; False if nobody is there to take it."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def limit(pid: int, command: Command) -> None:
    """Bound what each process may use, on Linux.

    It runs by now, and what it did already was not bounded. A hook between fork and exec would be exact, but cost
    a real fork, which took 15 times as long at 200 MB of memory of our own. Input is written only after this.
    """
    if sys.platform != "linux":
        return
    with suppress(ProcessLookupError, PermissionError):  # it has ended, or runs as another user
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        for kind, value in ((resource.RLIMIT_CPU, command.cpu_s), (resource.RLIMIT_FSIZE, command.file_bytes)):
            if value is not None:
                allowed = resource.prlimit(pid, kind)[1]
                soft, hard = (
                    bound if allowed == resource.RLIM_INFINITY else min(bound, allowed)
                    for bound in (value, value + (kind == resource.RLIMIT_CPU))  # a second to heed SIGXCPU
                )
                resource.prlimit(pid, kind, (soft, hard))


_ADVICE = {
    errno.ENOENT: "{program!r} is not there, or what its first line names; install it, or check the PATH",
    errno.EACCES: "{program!r} may not be executed; try `chmod +x`, or put its interpreter in front",
    errno.ENOEXEC: "{program!r} is no program for this machine; put its interpreter in front, or add a `#!` line",
    errno.E2BIG: "arguments and environment are too long for the system; pass data through stdin or a file",
    errno.EAGAIN: "the system allows no further process; lower the concurrency or raise `ulimit -u`",
    errno.ENOMEM: "the system has no memory for a further process; lower the concurrency",
    errno.EMFILE: "no file descriptor is left; lower the concurrency or raise `ulimit -n`",
}
_ADVICE[errno.ENOTDIR] = _ADVICE[errno.ENOENT]


def launch_error(error: Exception, argv: Sequence[str], cwd: str) -> LaunchError:
    """Say what keeps a process from starting, and what to do about it."""
    number = error.errno if isinstance(error, OSError) else None
    advice = _ADVICE.get(number or 0, "{program!r} cannot be started: {error}")
    if number in (errno.ENOENT, errno.ENOTDIR, errno.EACCES) and not Path(cwd).is_dir():
        advice = "working directory {cwd} is not there; was it removed, or is it misspelt?"
    result = LaunchError(advice.format(program=(*argv, "")[0], cwd=cwd, error=error))
    result.errno = number
    return result
