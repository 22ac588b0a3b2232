"""Who works on a run: a process, as long as it lives or, seen from another machine, as long as its lease lasts."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from secrets import token_hex

from skillgauge.api import Frozen

LEASE_S = 60.0
"""So long nobody elsewhere takes over a run whose machine is silent. The clocks of machines may differ by less."""


class Owner(Frozen):
    """What is written down of it."""

    token: str
    machine: str
    pid: int
    started: str
    """When the process began, as its machine counts: another one may get its number later."""
    until: float

    @classmethod
    def me(cls) -> Owner:
        """This process, from now on; each time with a token of its own."""
        pid = os.getpid()
        return cls(token=token_hex(8), machine=_machine(), pid=pid, started=_started(pid), until=time.time() + LEASE_S)

    @property
    def is_at_work(self) -> bool:
        """Whether the run is still its."""
        if self.machine == _machine() and self.started:
            return _started(self.pid) == self.started
        return self.until > time.time()


def _machine() -> str:
    """This machine since it was started, and the part of it whose processes we see."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{socket.gethostname()}/{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


def _started(pid: int) -> str:
    """Empty if there is no such process, or if this system does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
