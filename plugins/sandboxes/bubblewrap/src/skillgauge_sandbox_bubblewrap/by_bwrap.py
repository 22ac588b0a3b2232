"""Commands that bwrap starts, one process of it for each: the way where the launcher cannot confine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from signal import Signals
from typing import Self

from skillgauge_processes import SupervisorLostError

from .launching import Request
from .limits import OUTSIDE_ENV, counting, in_front, is_loading, joining, limiting

_NAMESPACES = ("user", "pid", "ipc", "uts")
_CARRIER = "SKILLGAUGE_CHILD_HELD_"
"""How the names of variables begin that carry another one past the shell in front of a command."""
_LONGEST = 4096
_FIRST = re.compile(rb'"child-pid": (\d+)')
_NEVER_IMITATED = frozenset(
    128 + number
    for number in (
        Signals.SIGILL,
        Signals.SIGTRAP,
        Signals.SIGABRT,
        Signals.SIGBUS,
        Signals.SIGFPE,
        Signals.SIGKILL,
        Signals.SIGSEGV,
        Signals.SIGXCPU,
        Signals.SIGXFSZ,
        Signals.SIGSYS,
    )
)


class Contained:
    """A bwrap that runs a command, with a limiting shell around or inside it.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, bwrap: str, request: Request, streams: tuple[int, int, int], marks: Mapping[str, str]) -> None:
        stdin, stdout, stderr = streams
        lines = limiting(request.limits)
        outside = [*joining(request.groups), *lines] if request.groups else []
        # Inside, the kernel counts none but the processes of this sandbox. Root's it does not count at all.
        inside = [] if outside else [*lines, counting(request.processes)]
        held_back = [name for name in request.env if inside and is_loading(name)]
        carriers = {f"{_CARRIER}{number}": f"{name}={request.env[name]}" for number, name in enumerate(held_back)}
        arguments = [*_namespaces(request), *request.common, *request.mounts, "--chdir", request.cwd, "--clearenv"]
        for name, value in {**request.env, **carriers}.items():
            if name not in held_back:
                arguments += ["--setenv", name, value]
        # No pipe: a bwrap that we no longer read from would die of it, and its process 1 would wait for it for ever.
        self._told = os.memfd_create("skillgauge")
        with ExitStack() as failing, _Handed() as handed:
            failing.callback(os.close, self._told)
            arguments += ["--info-fd", str(handed.take(os.dup(self._told)))]
            if request.filter is not None:
                arguments += ["--seccomp", str(handed.content(request.filter))]
            for handle in request.handles:
                arguments += ["--sync-fd", str(handed.take(os.dup(handle)))]  # which the command does not get
            words = request.channel.wrapped(request.argv) if request.channel else request.argv
            if inside:
                words = in_front(inside, words, tuple(carriers))
            argv = [bwrap, "--args", str(handed.content(_joined(arguments))), "--", *words]
            self._popen = subprocess.Popen(
                in_front(outside, argv) if outside else argv,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd="/",
                env={**OUTSIDE_ENV, **marks},
                pass_fds=(*handed.fds, *request.handles),
                start_new_session=True,
            )
            failing.pop_all()
        self.pid = self._popen.pid

    def wait(self) -> int:
        """Reap it, and end process 1 of its namespaces, which bwrap leaves to us; return how the command ended.

        Programs that are asked to end like to choose 129, 130, 141 or 143 by themselves: these are left as they are.

        Raises:
            SupervisorLostError: bwrap itself was ended by a signal, which nothing within can send.
        """
        code = self._popen.wait()
        try:
            if match := _FIRST.search(os.pread(self._told, _LONGEST, 0)):
                _end(int(match[1]))
        finally:
            os.close(self._told)
        if code < 0:
            raise SupervisorLostError(code)
        return 128 - code if code in _NEVER_IMITATED else code


def _end(first: int) -> None:
    """End process 1. It does not end with a bwrap that was killed before it could ask the kernel for that."""
    with suppress(ChildProcessError, PermissionError):
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT | os.WNOHANG)  # bwrap may have reaped it
        os.kill(first, signal.SIGKILL)
        os.waitpid(first, 0)


def _namespaces(request: Request) -> list[str]:
    arguments = [f"--unshare-{name}" for name in _NAMESPACES]
    arguments += ["--unshare-cgroup-try", "--uid", str(request.uid), "--gid", str(request.uid)]
    arguments += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    return arguments if request.network else [*arguments, "--unshare-net"]


def _joined(arguments: Sequence[str]) -> bytes:
    """Arguments as bwrap reads them from a file."""
    return b"".join(os.fsencode(argument) + b"\0" for argument in arguments)


class _Handed:
    """File descriptors that bwrap inherits, closed here afterwards."""

    def __init__(self) -> None:
        self._fds: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for fd in self._fds:
            os.close(fd)

    def take(self, fd: int) -> int:
        """Hand this one down."""
        self._fds.append(fd)
        return fd

    def content(self, content: bytes) -> int:
        """Hand down one to read something from that no argument list should show."""
        fd = self.take(os.memfd_create("skillgauge"))
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    @property
    def fds(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(self._fds)
