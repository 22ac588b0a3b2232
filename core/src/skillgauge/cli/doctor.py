"""`plugins doctor`: import every plugin in a process of its own; what is broken is told from what lacks something.

A plugin is broken if it cannot be imported, announces nothing or makes nothing; nobody can use it anywhere. It lacks
something if its own check says so: a key, a program, a service. Who does not use it need not care.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from enum import StrEnum
from typing import NamedTuple

from ..errors import ExitCode, Problem, UsageError, did_you_mean
from ..plugins.index import IndexEntry
from ..plugins.kinds import KINDS
from ..report.wording import counted
from .kind_names import COMMANDS
from .output import Output

CHECK_TIMEOUT_S = 60
LACKS = 3
"""Exit code of the process that examines a plugin, where that works and its check finds something missing."""
_LEAST_AT_ONCE = 4
"""Plugins that are examined at once on a machine with few processors; some of them wait for a service."""
_TELL_S = 5.0
"""Seconds between two lines that say how far it is, the first sooner."""
_FIRST_S = 1.0


class State(StrEnum):
    """How a plugin is."""

    BROKEN = "broken"
    LACKING = "lacks something"
    WORKING = "works"


class Finding(NamedTuple):
    """What the examination of a plugin says."""

    state: State
    reason: str | None = None


def chosen(entries: Sequence[IndexEntry], names: Sequence[str]) -> list[IndexEntry]:
    """The plugins that are named, each by its name, distribution or `kind/name`; all if none is.

    Raises:
        UsageError: a name is nobody's; all such ones.
    """
    known = {entry: {entry.name, entry.distribution, f"{entry.kind}/{entry.name}"} for entry in entries}
    every = {name for mine in known.values() for name in mine}
    problems = [
        Problem(
            "plugin.not-installed",
            f"no plugin or distribution is called {name!r}{did_you_mean(name, sorted(every))}",
            hint="See `skillgauge plugins list`.",
        )
        for name in names
        if name not in every
    ]
    if problems:
        raise UsageError(problems)
    return [entry for entry in entries if not names or known[entry] & {*names}]


def examined(entries: Sequence[IndexEntry], output: Output) -> list[Finding]:
    """Examine plugins, several at once, and say now and then how far it is."""
    found: dict[int, Finding] = {}
    due = time.monotonic() + _FIRST_S
    children = _Children()
    with ThreadPoolExecutor(max_workers=max(_LEAST_AT_ONCE, os.cpu_count() or 1)) as pool:
        under_way = {pool.submit(examine, entry, children): index for index, entry in enumerate(entries)}
        try:
            for done in as_completed(under_way):
                found[under_way[done]] = done.result()
                if time.monotonic() >= due:
                    due = time.monotonic() + _TELL_S
                    output.notice(f"{len(found)} of {counted(len(entries), 'plugin')} checked")
        except BaseException:  # Ctrl-C, too: the pool would wait for every plugin that has not had its turn
            pool.shutdown(wait=False, cancel_futures=True)
            children.end()
            raise
    return [found[index] for index in range(len(entries))]


class _Children:
    """The processes that examine plugins; several threads start them, and one ends them all."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False
        self._lock = threading.Lock()

    def run(self, words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        """Run one to its end; one that is still to start after the end of all does not.

        Raises:
            subprocess.TimeoutExpired: it took too long, and is dead.
        """
        with self._lock:
            if self._ended:
                return subprocess.CompletedProcess(words, 1, b"", b"")
            child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self._running.add(child)
        try:
            stdout, stderr = child.communicate(timeout=CHECK_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            raise
        finally:
            with self._lock:
                self._running.discard(child)
        return subprocess.CompletedProcess(words, child.returncode, stdout, stderr)

    def end(self) -> None:
        """End those that run, and start no other."""
        with self._lock:
            self._ended = True
            for child in self._running:
                child.kill()


def examine(entry: IndexEntry, children: _Children | None = None) -> Finding:
    """How a plugin is, found by a process that may die of it."""
    if entry.problem:
        return Finding(State.BROKEN, entry.problem)
    if entry.kind not in (*KINDS, COMMANDS):
        return Finding(State.WORKING)  # a mere name, of which nothing is imported
    asked = (entry.kind, f"{entry.distribution}:{entry.name}")
    words = [sys.executable, "-P", "-m", "skillgauge.cli.examination", *asked]  # -P: nothing of the current folder
    try:
        done = (children or _Children()).run(words)
    except subprocess.TimeoutExpired:
        return Finding(State.BROKEN, f"importing and checking it takes longer than {CHECK_TIMEOUT_S} s")
    lines = (done.stdout or done.stderr).decode("utf-8", "replace").strip().splitlines()
    if done.returncode == 0:
        return Finding(State.WORKING)
    if done.returncode == LACKS:
        return Finding(State.LACKING, "; ".join(lines))
    return Finding(State.BROKEN, lines[-1] if lines else f"its process ended with code {done.returncode}")


def verdict_of(findings: Sequence[Finding], *, named: bool) -> tuple[ExitCode, str]:
    """Exit code and last line; a plugin that was asked for by its name has to lack nothing."""
    counts = {state: sum(finding.state is state for finding in findings) for state in State}
    bad = counts[State.BROKEN] + (counts[State.LACKING] if named else 0)
    told = [f"{counts[State.WORKING]} of {counted(len(findings), 'plugin')} work"]
    told += [f"{counts[State.LACKING]} lack a key, a program or a setting"] if counts[State.LACKING] else []
    told += [f"{counts[State.BROKEN]} are broken"] if counts[State.BROKEN] else []
    return (ExitCode.USAGE if bad else ExitCode.OK), f"{'unhealthy' if bad else 'healthy'}: {', '.join(told)}"
