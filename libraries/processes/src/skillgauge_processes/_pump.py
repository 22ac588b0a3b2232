"""The thread that attends to a process: spawns it, moves bytes, and leaves nothing of it behind.

The one place where output caps, deadlines, limits and the killing of process groups live. A thread sits in one
`poll` over the pipes and the exit of its process; it knows no asyncio.

When a process ends, so does its group; on Linux also every descendant that left the group. Two kinds get away:
one that runs with an environment scrubbed of our marker, and one that runs as another user. The complete answer
to those is a PID namespace, which is a sandbox's business. A descendant that left the group and died before its
parent stays a zombie until we end, because the dead carry no marker.
"""

from __future__ import annotations

import atexit
import itertools
import math
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache

from skillgauge.api import Command, Finished

from ._posix import adopt_orphans, adopted_groups, close, kill_group, launch_error, limit
from .starting import Started, Starter, SupervisorLostError

MARKER = "SKILLGAUGE_CHILD_PROCESS"
"""Variable that marks a process and whatever descends from it; a nested skillgauge appends to its value."""
TERM_GRACE_S = 0.3
"""Between SIGTERM and SIGKILL."""
CHUNK = 65536

_LINGER_S = 0.1
"""How long what outlives the main process may take to end by itself."""
_TICK_S = 0.005
"""Between looks at what does not announce itself."""
_LITTLE = 4096
"""Bytes of output, less than which are not worth being woken for."""
_REST_S = 0.05
"""After a little output, before the next look. Nobody sees it before the end, so a process that writes line by line, as
a worker does at each call, wakes its thread twenty times a second and not at each line."""
_FLOW_S = 1.0
"""After much output there is no rest for so long: a process with more of it would wait for us."""
_LONGEST_POLL_S = 3600.0
_IDLE_S = 5.0
"""An idle thread ends after that."""


Report = Callable[[Finished | BaseException | None], None]
"""Called in the thread: with `None` when the process runs, and once with how it ended or why it does not run."""


class Pump:
    """A process as its thread sees it."""

    def __init__(
        self,
        command: Command,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        fds: Sequence[int] = (),
        starter: Starter | None = None,
        on_output: Callable[[], object] = lambda: None,
    ) -> None:
        self.command = command
        self.on_output = on_output
        self._starter = starter or self._start
        self.pid = self.stdin = self.stdout = -1
        self._argv = argv
        self._cwd = cwd
        self._fds = fds
        self._marker = f"{prefix()}-{next(_numbers)}."
        self._env = {**env, MARKER: env.get(MARKER, "") + self._marker}
        self._adopts = adopt_orphans()
        self._out = _Capture(command.output_bytes)
        self._err = _Capture(command.output_bytes)
        self._open: dict[int, _Capture] = {}
        self._unsent = memoryview(command.stdin)
        self._exit = -1
        self._has_little = False
        self._flows_until = 0.0
        self._kill_at = 0.0
        self._timed_out = False
        self._sandbox_failure = ""
        self._lock = threading.Lock()
        self._signalable = False

    def terminate(self) -> None:
        """Ask the group to end, and kill it a little later; callable from any thread at any time."""
        self._kill_at = self._kill_at or time.monotonic() + TERM_GRACE_S
        self.send(signal.SIGTERM)

    def send(self, number: int) -> None:
        """Send a signal to the group, unless the main process is gone already: its id may be another's then."""
        with self._lock:
            if self._signalable:
                kill_group(self.pid, number)

    def close_stdin(self) -> None:
        self.stdin = close(self.stdin)

    def close_stdout(self) -> None:
        self.stdout = close(self.stdout)

    def run(self, report: Report) -> Finished:
        """Start the process and return when nothing of it is left."""
        timeout_s = self.command.timeout_s
        _live.add(self)
        try:
            started_at = time.monotonic()
            self._spawn()
            report(None)
            self._watch()
            code = self._until_exit(started_at + (math.inf if timeout_s is None else timeout_s))
            duration_s = time.monotonic() - started_at
            self._linger()
            left_behind = self._kill_rest()
            self._linger()  # now only for what is still in the pipes
        finally:
            self._release()
            _live.discard(self)
        return Finished(
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            stdout=b"".join(self._out.chunks),
            stderr=b"".join(self._err.chunks),
            duration_s=duration_s,
            timed_out=self._timed_out,
            stdout_dropped=self._out.dropped,
            stderr_dropped=self._err.dropped,
            left_behind=left_behind,
            sandbox_failure=self._sandbox_failure,
        )

    def _spawn(self) -> None:
        theirs: list[int] = []
        try:
            for capture in (self._out, self._err):
                ours, their = os.pipe()
                self._open[ours] = capture
                theirs.append(their)
            if self.command.interactive or self.command.stdin:
                source, self.stdin = os.pipe()
                os.set_blocking(self.stdin, False)
            else:
                source = os.open(os.devnull, os.O_RDWR)
            theirs.append(source)
            stdout, stderr, stdin = theirs
            self._started = self._starter(stdin, stdout, stderr, {MARKER: self._env[MARKER]})
        except (OSError, ValueError, IndexError) as error:
            raise launch_error(error, self._argv, self._cwd) from error
        finally:
            for fd in theirs:
                os.close(fd)
        self.pid = self._started.pid
        self._signalable = True
        limit(self.pid, self.command)
        if self.command.interactive or self.command.streamed:
            self.stdout = next(iter(self._open))
            del self._open[self.stdout]
            os.set_blocking(self.stdout, False)

    def _start(self, stdin: int, stdout: int, stderr: int, _marks: Mapping[str, str]) -> Started:
        # No preexec_fn: only without it Python uses vfork, whose cost does not grow with our memory.
        return subprocess.Popen(
            self._argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=self._cwd,
            env=self._env,
            pass_fds=self._fds,
            start_new_session=True,
        )

    def _watch(self) -> None:
        self._poll = select.poll()
        for fd in self._open:
            self._poll.register(fd, select.POLLIN)
        self._resting = select.poll()
        with suppress(AttributeError, OSError):  # not Linux, or no file descriptor left
            self._exit = os.pidfd_open(self.pid)
            for poll in (self._poll, self._resting):
                poll.register(self._exit, select.POLLIN)
        if not self.command.interactive and self._unsent and not self._write():
            self._poll.register(self.stdin, select.POLLOUT)

    def _until_exit(self, deadline: float) -> int:
        """Pump until the main process has ended, and reap it."""
        exited = False
        while not exited:
            now = time.monotonic()
            if not self._kill_at and now >= deadline:
                self._timed_out = True
                self.terminate()
            wait_s = (self._kill_at or deadline) - now
            if wait_s <= 0:
                self.send(signal.SIGKILL)
                wait_s = 1.0
            if self._exit >= 0:
                exited = self._turn(wait_s)
                if self._has_little and not exited and not self._unsent and now >= self._flows_until:
                    self._resting.poll(min(wait_s, _REST_S) * 1000)
            else:
                self._turn(min(wait_s, _TICK_S))
                exited = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        return self._reap()

    def _reap(self) -> int:
        with self._lock:
            self._signalable = False
        try:
            return self._started.wait()  # may take a moment, in which nobody who wants to signal has to wait
        except SupervisorLostError as lost:
            if not self._kill_at:  # else it was ended by us
                self._sandbox_failure = str(lost)
            return lost.code

    def _turn(self, timeout_s: float) -> bool:
        """Wait for something to move and move it; tells whether the main process has ended."""
        exited = False
        self._has_little = False
        for fd, _ in self._poll.poll(min(timeout_s, _LONGEST_POLL_S) * 1000):
            if fd in self._open:
                if chunk := os.read(fd, CHUNK):
                    self.on_output()
                    self._open[fd].feed(chunk)
                    if len(chunk) < _LITTLE:
                        self._has_little = True
                    else:
                        self._flows_until = time.monotonic() + _FLOW_S
                else:
                    del self._open[fd]
                    self._forget(fd)
            elif fd == self._exit:
                exited = True
                self._exit = self._forget(fd)
            elif self._write():
                self._poll.unregister(fd)
        return exited

    def _forget(self, fd: int) -> int:
        self._poll.unregister(fd)
        return close(fd)

    def _write(self) -> bool:
        """Write input as far as it is taken; tells whether that is all, be it because nobody reads any more."""
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self.stdin, self._unsent) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            pass
        self.close_stdin()
        return True

    def _linger(self) -> None:
        """Give what outlives the main process a moment to end by itself."""
        until = max(time.monotonic() + _LINGER_S, self._kill_at)
        while self._open or not self._is_gone(self.pid):
            left_s = until - time.monotonic()
            if left_s <= 0:
                return
            self._turn(left_s if self._open else min(left_s, _TICK_S))

    def _kill_rest(self) -> bool:
        """Kill and reap what is left of the group and what has left it; tells whether there was anything."""
        killed_any = False
        groups = {self.pid}
        give_up_at = time.monotonic() + TERM_GRACE_S
        while True:
            groups = {group for group in groups if not self._is_gone(group)}
            if self._adopts:  # after the look at the groups: who loses his parent in between is adopted by now
                groups |= adopted_groups(self._marker.encode())
            if not groups or time.monotonic() > give_up_at:
                return killed_any
            killed_any = True
            for group in groups:
                kill_group(group, signal.SIGKILL)
            time.sleep(_TICK_S / 10)

    def _is_gone(self, group: int) -> bool:
        """Tell whether no member is alive. Reaps the dead ones, until which the group's number is no other's."""
        if not self._adopts:
            return not kill_group(group, 0)
        try:
            while os.waitpid(-group, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        return False

    def _release(self) -> None:
        if self._signalable:  # only after an exception
            self.send(signal.SIGKILL)
            self._reap()
        for fd in (*self._open, self._exit):
            close(fd)
        if not self.command.interactive or self.pid < 0:
            self.close_stdin()


class _Capture:
    """The part of a stream that is kept."""

    __slots__ = ("_room", "chunks", "dropped")

    def __init__(self, limit: int) -> None:
        self._room = limit
        self.chunks: list[bytes] = []
        self.dropped = 0

    def feed(self, chunk: bytes) -> None:
        if self._room:
            self.chunks.append(chunk[: self._room])
        self.dropped += max(0, len(chunk) - self._room)
        self._room = max(0, self._room - len(chunk))


class _Threads:
    """Threads for one process after another, as many as there are processes at a time."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Pump, Report]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def attend(self, pump: Pump, report: Report) -> None:
        """Give a process to a thread. Raises `RuntimeError` if the system allows no further one."""
        with self._lock:
            fresh = self._idle == 0
            self._idle -= not fresh
        if fresh:
            threading.Thread(target=self._work, name="skillgauge-process", daemon=True).start()
        self._jobs.put((pump, report))

    def _work(self) -> None:
        while True:
            try:
                self._do(*self._jobs.get(timeout=_IDLE_S))
            except queue.Empty:
                with self._lock:
                    if self._idle:
                        self._idle -= 1
                        return

    def _do(self, pump: Pump, report: Report) -> None:
        outcome: Finished | BaseException
        try:
            outcome = pump.run(report)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the process is awaited
            outcome = error
        with self._lock:
            self._idle += 1  # before the news, so that the next process finds this thread
        report(outcome)


@cache
def prefix() -> str:
    """Return the beginning of the marks of this process's children, and of no other's."""
    return uuid.uuid4().hex[:16]


_numbers = itertools.count()
_live: set[Pump] = set()
_threads = _Threads()
attend = _threads.attend


@atexit.register
def _kill_all() -> None:
    for pump in tuple(_live):
        pump.send(signal.SIGKILL)


def _start_afresh() -> None:
    """In a forked child neither threads nor processes are its own."""
    _threads.__init__()  # type: ignore[misc]  # the bound `attend` must stay valid
    _live.clear()
    adopt_orphans.cache_clear()
    prefix.cache_clear()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_start_afresh)
