"""The owner of a container, so that those of the dead can be told from those of the living."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

from skillgauge.api import LaunchError

from .client import Client

LABEL = "skillgauge.owner"
_MOST = 50
"""Containers that one look removes."""
_PATIENCE_S = 20.0


def this_process() -> str:
    """A label for what this process makes: the machine as this process sees it, and the process on it."""
    pid = os.getpid()
    return "/".join((*_here(), str(pid), _started(pid)))


def is_dead(label: str) -> bool:
    """Tell whether the process of a label has ended, as far as that can be known: one of elsewhere never has."""
    place, _, started = label.rpartition("/")
    place, _, pid = place.rpartition("/")
    return place == "/".join(_here()) and pid.isdigit() and _started(int(pid)) != started


async def remove_leftovers(client: Client) -> int:
    """Remove containers of processes that ended without doing so; says how many."""
    removed = 0
    with suppress(LaunchError):
        form = f'{{{{.ID}}}} {{{{.Label "{LABEL}"}}}}'
        listed = await client.call("ps", "--all", "--filter", f"label={LABEL}", "--format", form, timeout_s=_PATIENCE_S)
        owned = [line.split(" ", 1) for line in listed.stdout.splitlines() if " " in line]
        dead = [container for container, owner in owned if is_dead(owner.strip())]
        for container in dead[:_MOST]:
            await client.call("rm", "--force", container, timeout_s=_PATIENCE_S)
            removed += 1
    return removed


def _here() -> tuple[str, ...]:
    boot = namespace = "unknown"
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return socket.gethostname(), boot, namespace


def _started(pid: int) -> str:
    """Return the start of a process, in ticks since the machine's; empty if there is none, or it cannot be known."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "" if Path("/proc/self").exists() else _lives(pid)
    return status.rpartition(")")[2].split()[19]


def _lives(pid: int) -> str:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "gone"
    except OSError:
        return ""
    return ""
