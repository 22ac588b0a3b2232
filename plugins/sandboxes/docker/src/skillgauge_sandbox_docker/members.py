"""Processes of a container as this machine sees them, by its control group: nothing inside can leave or forge that.

Where the daemon runs its containers elsewhere, in a virtual machine for example, no process is seen.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

_ID_LENGTH = 64
_LOOKS = 100
_PAUSE_S = 0.01

Member = tuple[int, str]
"""Id of a process, and when it started: a number is used again."""


def pids_of(container_id: str) -> list[int]:
    """Return the processes of a container, those of all its commands; none if the id is not a whole one."""
    pids = list[int]()
    if len(container_id) != _ID_LENGTH:
        return pids
    with suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - many a second
            if name.isdecimal() and _is_member(int(name), container_id):
                pids.append(int(name))
    return pids


def members_of(container_id: str) -> frozenset[Member]:
    """Return the processes of a container, told from later ones with the same number."""
    return frozenset((pid, started(pid)) for pid in pids_of(container_id))


def kill_all_but(spared: frozenset[Member], container_id: str) -> bool:
    """Kill the processes of a container until only those to spare are left; tells whether that was achieved."""
    for _ in range(_LOOKS):
        others = members_of(container_id) - spared
        living = [pid for pid, _ in others if not _is_dead(pid)]
        if not living:
            return True
        for pid in living:
            _kill(pid, container_id)
        time.sleep(_PAUSE_S)
    return False


def started(pid: int) -> str:
    """Return when a process started, in ticks since the machine did; empty if there is none."""
    return _status(pid)[19]


def _is_dead(pid: int) -> bool:
    """Tell whether a process has ended and is only waited for."""
    return _status(pid)[0] in ("Z", "X", "")


def _status(pid: int) -> list[str]:
    """Return the fields of a process behind its name."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return [""] * 20
    return status.rpartition(")")[2].split()


def _is_member(pid: int, container_id: str) -> bool:
    try:
        return container_id.encode() in Path(f"/proc/{pid}/cgroup").read_bytes()
    except OSError:
        return False


def _kill(pid: int, container_id: str) -> None:
    if sys.platform != "linux":
        return
    with suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if _is_member(pid, container_id):  # the number may be another process's by now; the handle is not
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
