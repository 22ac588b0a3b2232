"""The process from which `plugins doctor` forks one child a plugin: it has imported what nearly all of them import.

It reads a line from standard input, a `Request`, and prints one for each plugin as it ends, an `Answer`. When
standard input is closed, whoever asked is gone: it ends every child and itself.

A child ends as any program does, so it leaves the functions here by `SystemExit`: nothing here may be cleaned up in a
`finally`, which a child would pass, too.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import IO, NamedTuple

from ..evaluation import evaluation  # noqa: F401 - with it comes nearly all that plugins take from `skillgauge.api`
from .doctor import ANSWER, REPORT, REQUEST, Answer, Request, answer_of
from .examination import reported

_TAIL_BYTES = 64 * 1024
"""Of what a child wrote to standard error, the end in which its last line is looked for."""


class _Child(NamedTuple):
    number: int
    pid: int
    alive: int
    """Can be read from when it has ended: it alone could write."""
    told: IO[bytes]
    """How the plugin is."""
    wrote: IO[bytes]
    """What it wrote to standard error."""
    deadline: float


def serve(request: Request) -> None:
    """Fork a child for each plugin, so many at once, until all have ended."""
    waiting = deque(enumerate(request.plugins))
    running: list[_Child] = []
    while waiting or running:
        while waiting and len(running) < request.at_once:
            number, plugin = waiting.popleft()
            running.append(_start(number, plugin, request))
        child = _next_to_end(running)
        if child is None:
            for one in running:
                _kill(one)
            return
        running.remove(child)
        answer = _answer(child)
        with contextlib.suppress(BrokenPipeError):  # nobody reads it: the next round ends all
            sys.stdout.buffer.write(ANSWER.dump_json(answer) + b"\n")
            sys.stdout.buffer.flush()


def _start(number: int, plugin: tuple[str, str], request: Request) -> _Child:
    deadline = time.monotonic() + request.limit_s
    alive, writes = os.pipe()
    told_file, wrote = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed by `_answer`
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        with Path(os.devnull).open("r+b") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(nothing.fileno(), 1)
        os.dup2(wrote.fileno(), 2)
        code, report = reported(*plugin, request.options)
        told_file.write(REPORT.dump_json(report))
        told_file.flush()
        sys.exit(code)
    with contextlib.suppress(OSError):  # the child does so, too, and may have ended; whoever is first
        os.setpgid(pid, pid)
    os.close(writes)
    return _Child(number, pid, alive, told_file, wrote, deadline)


def _next_to_end(running: list[_Child]) -> _Child | None:
    """The next child that has ended or is overdue; None if nobody waits for it any more."""
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin, selectors.EVENT_READ)
        for child in running:
            selector.register(child.alive, selectors.EVENT_READ, child)
        first = min(running, key=lambda child: child.deadline)
        ready = [key.data for key, _ in selector.select(max(0.0, first.deadline - time.monotonic()))]
    if None in ready:
        return None
    return next(iter(ready), first)


def _kill(child: _Child) -> None:
    """End it and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _answer(child: _Child) -> Answer:
    overdue = time.monotonic() >= child.deadline
    if overdue:
        _kill(child)
    os.close(child.alive)
    _, status = os.waitpid(child.pid, 0)
    with child.told, child.wrote:
        child.told.seek(0)
        code = None
        if not overdue:
            code = os.waitstatus_to_exitcode(status)
        return answer_of(child.number, code, child.told.read(), _tail(child.wrote))


def _tail(file: IO[bytes]) -> bytes:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL_BYTES))
    return file.read()


if __name__ == "__main__":
    gc.freeze()  # no child looks through what it shares with the others, which would copy it
    serve(REQUEST.validate_json(sys.stdin.buffer.readline()))
