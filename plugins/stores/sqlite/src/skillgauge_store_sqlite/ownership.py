"""The owner of a run, so that two processes never work on the same one and a dead one never blocks it.

A process on this host is looked at directly, so that a run is free the moment its process was killed. Of a process
elsewhere we only know its lease, which it renews while it works.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from skillgauge_documents.immutables import immutable

OWNER_COLUMNS = "owners.host, owners.pid, owners.process_start, owners.lease_expires"
"""What `Lease.is_owned` wants to see of a run that was joined with its owner."""


@immutable
class Timing:
    """Intervals in seconds, and the clock that leases are read on."""

    lease_s: float = 60.0
    """A process elsewhere that was silent for this long has lost its runs."""
    renew_s: float = 15.0
    busy_s: float = 30.0
    """How long to wait for another process's lock; shorter than a lease, or the wait could cost us our own."""
    clock: Callable[[], float] = time.time


@immutable
class Process:
    """A process, told apart from every other one that has or had its number."""

    host: str
    pid: int
    started: str | None
    """Ticks from the system's start to its own; `None` where the system does not tell."""

    @classmethod
    def this(cls) -> Process:
        """The running process."""
        stat = _stat(os.getpid())
        return cls(_host(), os.getpid(), stat.started if stat else None)

    def lives(self) -> bool | None:
        """Tell whether it lives; `None` if that cannot be seen from here."""
        if self.host != _host() or sys.platform == "win32":  # there, asking a process for a sign of life kills it
            return None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass  # it belongs to somebody else
        stat = _stat(self.pid)
        if self.started is None or stat is None:
            return None
        return stat.state not in "ZX" and stat.started == self.started


@dataclass
class Lease:
    """The runs that one store owns, and its answer to whether another owns a run."""

    timing: Timing = field(default_factory=Timing)
    process: Process = field(default_factory=Process.this)
    token: str = field(default_factory=lambda: uuid4().hex)
    """One per store, so that two stores in one process do not take each other's runs either."""
    _used: bool = False

    def is_owned(self, host: str | None, pid: int, process_start: str | None, lease_expires: float) -> bool:
        """Tell whether a run with these `OWNER_COLUMNS` is being worked on."""
        if host is None:
            return False
        lives = Process(host, pid, process_start).lives()
        return lease_expires > self.timing.clock() if lives is None else lives

    def take(self, db: sqlite3.Connection, run: int) -> None:
        """Own a run that nobody owns."""
        db.execute(
            "INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?, ?, ?)",
            (run, self.token, self.process.host, self.process.pid, self.process.started, self._until()),
        )
        self._used = True

    def renew(self, db: sqlite3.Connection, run: int) -> bool:
        """Go on owning a run; false if it is no longer ours."""
        renewal = "UPDATE owners SET lease_expires = ? WHERE run = ? AND token = ?"
        return db.execute(renewal, (self._until(), run, self.token)).rowcount == 1

    def renew_all(self, db: sqlite3.Connection) -> None:
        """Go on owning everything that is ours."""
        if self._used:
            db.execute("UPDATE owners SET lease_expires = ? WHERE token = ?", (self._until(), self.token))

    def release(self, db: sqlite3.Connection, run: int) -> None:
        """Own a run no longer."""
        db.execute("DELETE FROM owners WHERE run = ? AND token = ?", (run, self.token))

    def release_all(self, db: sqlite3.Connection) -> None:
        """Own nothing any longer."""
        if self._used:
            db.execute("DELETE FROM owners WHERE token = ?", (self.token,))

    def _until(self) -> float:
        return self.timing.clock() + self.timing.lease_s


@lru_cache
def _host() -> str:
    """Equal for two processes exactly if they see each other's process numbers."""
    try:
        # A container has its host's boot id but numbers of its own; a restart makes every old number void.
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{socket.gethostname()}/{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


class _Stat(NamedTuple):
    state: str
    """A letter; Z and X are dead, though their parent has not noticed yet."""
    started: str


def _stat(pid: int) -> _Stat | None:
    """Return the state that Linux shows of a process; `None` elsewhere, and if it may not be seen."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the program's name before it may hold anything
    return _Stat(state=fields[0], started=fields[19])
