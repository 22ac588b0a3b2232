"""The launcher as those see it who have it start commands; what it does is in `launcher`.

There are two forms of it, which do the same: a program compiled from `native`, where this distribution was built with
a compiler, and `launcher.py` elsewhere.
"""

from __future__ import annotations

import errno
import math
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from skillgauge_documents.immutables import immutable
from skillgauge_processes import SupervisorLostError

from .limits import OUTSIDE_ENV
from .plans import plan, plans_in_common
from .seccomp import numbers_of

PROGRAM = """import sys
sys.path.append(sys.argv.pop())
from skillgauge_sandbox_bubblewrap.launcher import main
main()
"""
COMPILED = Path(__file__).parent / "native/launcher"
"""The compiled form, if it is there."""
_ROOT = Path(__file__).resolve().parents[1]
_STARTED, _UNCONFINED, _SIGNALLED = 0, 1, 128  # as in `launcher`
_LONGEST = 4096
_NEARLY = 0.5
"""Share of its processor time at which a process can have been ended for it: limits are checked by ticks of a clock,
and on a busy machine a tick is charged to the process that runs, however short a time it ran."""
_END_S = 2.0
_ANSWER_S = 60.0
"""After which it has answered, however busy the machine is, unless somebody stopped it."""


class UnconfinedError(Exception):
    """The launcher could not confine a command, and did not start it."""


class UnansweredError(UnconfinedError):
    """Nobody was there to start a command."""


@immutable
class Channel:
    """The way to a relay outside, which serves sockets that are made in the namespaces before a command starts."""

    handle: int
    """A file descriptor that is open for as long as anything of the command runs."""
    ports: tuple[int, ...]
    """Of the sockets, in the order in which the relay expects them."""
    wrapped: Callable[[Sequence[str]], Sequence[str]]
    """Puts a program in front of a command that inherits the channel and makes the sockets by itself."""


@immutable
class Request:
    """A command and what confines it."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    network: bool
    uid: int
    """Its user within."""
    common: tuple[str, ...]
    """Mounts that other commands have, too, as bwrap takes them."""
    mounts: Sequence[str]
    """Mounts that follow them."""
    groups: Sequence[Path]
    """Files by which it becomes a member of control groups."""
    limits: Mapping[int, tuple[int, int]]
    """Kind of resource to soft and hard limit."""
    processes: int
    """Most processes of its user within; control groups count better, where there are any."""
    filter: bytes | None
    """Of system calls."""
    channel: Channel | None = None

    @property
    def handles(self) -> tuple[int, ...]:
        """File descriptors that are handed down beside the streams."""
        return (self.channel.handle,) if self.channel else ()

    @property
    def cpu_s(self) -> float:
        """Processor seconds after which the kernel ends one of its processes."""
        soft, _ = self.limits.get(resource.RLIMIT_CPU, (math.inf, math.inf))
        return soft

    def encoded(self) -> bytes:
        """Return the request as the launcher reads it."""
        limits = dict(self.limits)
        if not self.groups:
            limits[resource.RLIMIT_NPROC] = (self.processes, self.processes)
        parts: tuple[Sequence[object], ...] = (
            (self.uid, self.cwd),
            self.groups,
            [number for kind, bounds in limits.items() for number in (kind, *bounds)],
            self.channel.ports if self.channel else (),
            numbers_of(self.filter or b""),
            plan(self.mounts),
            self.argv,
            [f"{name}={value}" for name, value in self.env.items()],
        )
        fields = [str(field) for part in parts for field in (len(part), *part)]
        return os.fsencode("\0".join([*fields, ""]))


class Launchers:
    """Start commands in namespaces of their own: one process for each kind, which is started with the first of them.

    Args:
        are_usable: whether it is worth trying. They tell so themselves when they could not confine a command.
    """

    def __init__(self, *, are_usable: bool = sys.platform == "linux") -> None:
        self.are_usable = are_usable
        self._lock = threading.Lock()
        self._running: dict[tuple[bool, tuple[str, ...]], _Launcher] = {}
        self._owner = 0

    def start(self, request: Request, stdin: int, stdout: int, stderr: int) -> Confined:
        """Start a command.

        Raises:
            UnconfinedError: that is not possible here, in this way.
            OSError: its program cannot be executed.
        """
        try:
            with suppress(UnansweredError):  # somebody ended the launcher, or its copy
                return self._call(request, stdin, stdout, stderr)
            return self._call(request, stdin, stdout, stderr)
        except UnconfinedError:
            self.are_usable = False
            raise

    def _call(self, request: Request, *streams: int) -> Confined:
        reading, writing = os.pipe()
        try:
            asking = os.memfd_create("skillgauge")
            try:
                os.write(asking, request.encoded())
                launcher = self._send(request, [asking, writing, *streams, *request.handles])
            finally:
                os.close(asking)
                os.close(writing)
            try:
                return Confined(reading, cpu_s=request.cpu_s)
            except (UnansweredError, TimeoutError):
                self._forget(launcher)
                raise
        except BaseException:
            os.close(reading)
            raise

    def _send(self, request: Request, handles: Sequence[int]) -> _Launcher:
        kind = request.network, request.common
        with self._lock:
            if self._owner != os.getpid():  # those of a process that was forked are not its own
                self._running, self._owner = {}, os.getpid()
            launcher = self._running.get(kind)
            if launcher is None or not launcher.send(handles):
                launcher = self._running[kind] = _Launcher(*kind)
                launcher.send(handles)
            return launcher

    def _forget(self, launcher: _Launcher) -> None:
        with self._lock:  # another thread may have replaced it already
            self._running = {kind: one for kind, one in self._running.items() if one is not launcher}


class _Launcher:
    """One of them. It is ended with this object, or with the program."""

    def __init__(self, network: bool, common: Sequence[str]) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(_ANSWER_S)  # many calls at a time do not fit
        with theirs:
            shared, own = plans_in_common(common)
            words = (str(theirs.fileno()), "network" if network else "alone", str(len(shared)), *shared, *own)
            self.process = _started(words, theirs.fileno())
        weakref.finalize(self, _end, self._control, self.process, os.getpid())

    def send(self, handles: Sequence[int]) -> bool:
        """Call; tells whether anybody is there."""
        try:
            socket.send_fds(self._control, [b"!"], handles)
        except BrokenPipeError:
            return False
        return True


def _started(words: Sequence[str], control: int) -> subprocess.Popen[bytes]:
    """Start the compiled form, or the other one where it is not there or cannot be executed."""
    with suppress(OSError):
        return _start([str(COMPILED), *words], control)
    return _start([os.path.realpath(sys.executable), "-I", "-S", "-c", PROGRAM, *words, str(_ROOT)], control)


def _start(argv: Sequence[str], control: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=OUTSIDE_ENV,
        pass_fds=(control,),
        start_new_session=True,
    )


def _end(control: socket.socket, process: subprocess.Popen[bytes], owner: int) -> None:
    if owner != os.getpid():  # we were forked, and it is no child of ours
        control.close()
        process.returncode = 0
        return
    with suppress(OSError):
        control.shutdown(socket.SHUT_RDWR)  # who was forked from us may still have it
    control.close()
    unneeded = b""
    with process:
        try:
            unneeded, _ = process.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:  # a copy was being made when somebody ended the launcher
            process.kill()
    for copy in unneeded.split():
        with suppress(ChildProcessError):
            os.waitpid(int(copy), 0)


class Confined:
    """Process 1 of a command's namespaces, which ends with it and with all that it left behind.

    Args:
        answers: where it answers.
        cpu_s: processor seconds that each process may use.

    Raises:
        UnconfinedError: it could not confine the command.
        OSError: the command cannot be executed.
    """

    def __init__(self, answers: int, *, cpu_s: float = math.inf) -> None:
        self._answers = answers
        self._cpu_s = cpu_s
        self.pid = 0
        try:
            (self.pid,) = self._early(1) or (0,)
            numbers = self._early(2)
        except TimeoutError:
            if self.pid:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            raise
        if numbers and numbers[0] == _STARTED:
            return
        if self.pid:
            os.waitpid(self.pid, 0)
        if not numbers:
            raise UnansweredError
        stage, number = numbers
        if stage == _UNCONFINED:
            raise UnconfinedError(f"{os.strerror(number)}: {os.fsdecode(os.read(answers, _LONGEST))}")
        raise OSError(number, os.strerror(number))

    def wait(self) -> int:
        """Reap it and return how the command ended.

        Nothing within can end it but by using up the time of the processor, which reaping takes as well.

        Raises:
            SupervisorLostError: it was ended from outside.
        """
        try:
            _, status, used = os.wait4(self.pid, 0)
            numbers = self._numbers(1)
        finally:
            os.close(self._answers)
        if numbers:
            return numbers[0]
        code = os.waitstatus_to_exitcode(status)
        code = _SIGNALLED - code if code > _SIGNALLED else code
        if used.ru_utime + used.ru_stime >= _NEARLY * self._cpu_s:
            return code
        raise SupervisorLostError(code)

    def _early(self, count: int) -> tuple[int, ...]:
        """The same before the command runs, while nobody else knows whom to kill if it takes too long."""
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        if not poll.poll(_ANSWER_S * 1000):
            raise TimeoutError(errno.ETIMEDOUT, "the launcher does not answer")
        return self._numbers(count)

    def _numbers(self, count: int) -> tuple[int, ...]:
        """The next of the answer's numbers, none if it ended."""
        answer = os.read(self._answers, 4 * count)
        return struct.unpack(f"={count}i", answer) if answer else ()
