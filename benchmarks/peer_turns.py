"""Commands timed in turns: wall and processor time of all their processes, each in a new folder with a new home."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.peer_installs import environment
from benchmarks.peer_table import Entry, Role, Row, Usage

LIMIT_S = 600.0
"""How long a command may take."""


class WrongResultError(Exception):
    """A command failed, or did less than was asked for, so its time counts for nothing."""


@dataclass(frozen=True)
class Command:
    """A program of a row.

    Args:
        label: what the table calls it.
        role: whether it is the floor, skillgauge, or another program.
        words: the command.
        check: raises `WrongResultError` unless the folder, in which the command ran, shows that all was done.
        variables: added to its environment.
        reason: why it takes longer than others, where that is known.
    """

    label: str
    role: Role
    words: Sequence[str]
    check: Callable[[Path], None]
    variables: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


OUTPUT = "output.txt"
"""File with all that a command printed, in the folder in which it ran."""


def measured(title: str, commands: Sequence[Command], turns: int) -> Row:
    """Run all commands in turns, each beginning with another one, after one turn that does not count.

    A command that fails is left out from then on, and the row says why.
    """
    load, busy, began = os.getloadavg()[0], busy_s(), time.perf_counter()
    usages: dict[str, list[Usage]] = {command.label: [] for command in commands}
    failures: dict[str, str] = {}
    own_s = _own_cpu()
    for turn in range(turns + 1):
        first = turn % max(1, len(commands))
        for command in (*commands[first:], *commands[:first]):
            if command.label in failures:
                continue
            try:
                usage = once(command)
            except WrongResultError as error:
                failures[command.label] = str(error)
                continue
            if turn:
                usages[command.label].append(usage)
    entries = [
        Entry(command.label, command.role, tuple(usages[command.label]), command.reason)
        for command in commands
        if command.label not in failures
    ]
    others = None
    if busy is not None:
        capacity = (time.perf_counter() - began) * (os.cpu_count() or 1)
        others = min(1.0, max(0.0, (busy_s() or busy) - busy - (_own_cpu() - own_s)) / capacity)
    return Row(title, tuple(entries), failures, load, others)


def once(command: Command) -> Usage:
    """Run a command in a new folder and return what it took.

    Raises:
        WrongResultError: it failed, did not end in time, or its result is not what it should be.
    """
    with tempfile.TemporaryDirectory(prefix="peers-", ignore_cleanup_errors=True) as name:
        work = Path(name, "work")
        home = Path(name, "home")
        work.mkdir()
        home.mkdir()
        seen = environment(home, peer=command.role is Role.PEER) | dict(command.variables)
        usage, code = timed(command.words, work, seen)
        if code:
            raise WrongResultError(f"exit code {code}: {_end_of(work / OUTPUT)}")
        command.check(work)
    return usage


def timed(words: Sequence[str], work: Path, seen: Mapping[str, str]) -> tuple[Usage, int]:
    """Return what a command took, with all the processes that it waited for, and its exit code."""
    with (work / OUTPUT).open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            words, cwd=work, env=seen, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        limit = threading.Timer(LIMIT_S, os.killpg, (process.pid, signal.SIGKILL))
        limit.start()
        try:
            _, status, used = os.wait4(process.pid, 0)
        finally:
            limit.cancel()
        wall_s = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # what it left behind would disturb the next one
    return Usage(wall_s, used.ru_utime + used.ru_stime), process.returncode


def _end_of(path: Path) -> str:
    lines = path.read_text("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else "it printed nothing"


def busy_s() -> float | None:
    """Seconds that the machine's processors have worked since it started; None where nobody tells."""
    try:
        line = Path("/proc/stat").read_text().splitlines()[0]
    except OSError:
        return None
    user, nice, system, _idle, _waiting, *interrupts = (int(word) for word in line.split()[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def _own_cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
