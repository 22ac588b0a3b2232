"""Runs as a program of its own and starts commands in namespaces of their own, as bwrap would.

Arguments: the file descriptor of a socket on which calls come, `network` or `alone`, how many fields follow of the
first of two plans of mounts (see `plans`): what all commands have in common, and what each is given of it. When the
socket is closed, it ends. A call is a byte and file descriptors: the request, where the answer goes, stdin, stdout,
stderr, and the channel of a relay if the command has one. The answer is a row of numbers: the process id, how far it
got, what was wrong (and where), and at the end how the command ended. `launching` is the other side. The program in
`native` does the same, where it was compiled.

It has a user namespace of its own, in which it may mount, and makes there what all commands have in common. A call is
read by a copy of it, made by `clone` a little ahead: process 1 of new namespaces, and a child of who calls. That makes
the other mounts, gives up all rights, starts the command, reaps orphans, and ends with the command, with which the
kernel ends whatever the command left behind. Nothing of a call is ever in the memory that the next copy is made of, and
nothing in the namespaces may look into the copy.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # these two without the enumerations of `signal` and `socket`: all that is imported is copied
import _socket
import ctypes
import fcntl
import gc
import os
import resource
import select
import struct
import sys

from .mounting import DETACH, RECURSIVE, SLAVE, check, libc, make, make_own, make_shared, mount

TYPE_CHECKING = False  # as `typing` has it, whose import would be copied, too
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

    Request = dict[str, list[bytes]]

_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
_NEWUSER, _NEWPID, _NEWNET, _PARENT = 0x10000000, 0x20000000, 0x40000000, 0x00008000
_NAMESPACES = _NEWPID | _NEWNS | _NEWIPC | _NEWUTS | _PARENT | _signal.SIGCHLD
_SET_DUMPABLE, _SET_SECCOMP, _DROP_CAPABILITY, _SET_NO_NEW_PRIVS = 4, 22, 24, 38
_FILTER = 2
_CAPABILITY_VERSION = 0x20080522
_SET_FLAGS_OF_INTERFACE, _UP = 0x8914, 0x1
_CLONE, _PIVOT_ROOT, _CAPSET = {"x86_64": (56, 155, 126), "aarch64": (220, 41, 91)}.get(os.uname().machine, (-1,) * 3)

_STARTED, _UNCONFINED, _NOT_STARTED = range(3)
PARTS = ("place", "groups", "limits", "ports", "filter", "mounts", "argv", "env")
"""Of a request, in this order: each a number of fields, and the fields. All of them end with a zero."""
_SIGNALLED = 128
_NOT_CONNECTED = 107
_MOST_HANDLES = 250
_NEWS, _NEWS_BYTES = (_signal.SIGCHLD, _signal.SIGTERM), 128

_OUTSIDE = os.geteuid(), os.getegid()
_MASK = os.umask(0)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


class _Launcher:
    """Has a copy ready for the next call."""

    def __init__(self, control: _socket.socket, shared: Sequence[bytes], own: Sequence[bytes], *, alone: bool) -> None:
        self._control = control
        self._own = own
        self._alone = alone
        self._processes = os.open("/proc", os.O_PATH | os.O_DIRECTORY)  # which is covered from now on
        self._failed = None
        try:
            _prepare_all(shared)
        except OSError as error:
            self._failed = error
        self._taken, self._taking = os.pipe()
        self._copy = self._waiting = -1
        self._lost: list[int] = []
        self._poll = select.poll()

    def serve(self) -> list[int]:
        """Make copies until nobody can call any more; the ids of those that nobody called, for our parent to reap."""
        self._poll.register(self._taken, select.POLLIN)
        self._poll.register(self._control, select.POLLIN)
        is_closed = False
        while not is_closed or self._waiting >= 0:
            handle, events = self._poll.poll()[0]  # one at a time: it may close what the next one is about
            if handle == self._taken:
                os.read(self._taken, 1)
                self._forget()
                self._make()
            elif handle == self._waiting:
                self._lost.append(self._copy)
                self._forget()
            elif events & select.POLLHUP:
                is_closed = True
                self._poll.unregister(self._control)
            elif problem := self._make():
                self._refuse(problem)
            if not is_closed:
                self._poll.register(self._control, select.POLLIN if self._waiting < 0 else 0)
        return self._lost

    def _make(self) -> OSError | None:
        """Make a copy that waits for a call; returns what prevents it."""
        if self._failed:
            return self._failed
        copy = libc.syscall(_CLONE, _NAMESPACES | (_NEWNET if self._alone else 0), 0, 0, 0, 0)
        if copy == 0:
            _be_first(self._control, self._taking, self._processes, self._own, alone=self._alone)
        if copy < 0:
            return OSError(ctypes.get_errno(), "", b"clone")
        self._copy, self._waiting = copy, os.pidfd_open(copy)
        self._poll.register(self._waiting, select.POLLIN)
        return None

    def _refuse(self, problem: OSError) -> None:
        handles = _receive(self._control)
        os.write(handles[1], struct.pack("=i", 0) + _told(_UNCONFINED, problem))
        for handle in handles:
            os.close(handle)

    def _forget(self) -> None:
        self._poll.unregister(self._waiting)
        os.close(self._waiting)
        self._waiting = -1


def _receive(control: _socket.socket) -> list[int]:
    """File descriptors of the next call. `socket.recv_fds` would have every command inherit them all."""
    _, parts, _, _ = control.recvmsg(1, _socket.CMSG_LEN(4 * _MOST_HANDLES), _socket.MSG_CMSG_CLOEXEC)
    return [handle for _, _, part in parts for (handle,) in struct.iter_unpack("=i", part)]


def _be_first(control: _socket.socket, taking: int, processes: int, own: Sequence[bytes], *, alone: bool) -> NoReturn:
    """Run as a copy: prepare, wait for a call, confine itself, run the command, report it."""
    os.dup2(2, 1)  # only the launcher itself reports there
    number = int(os.readlink("self", dir_fd=processes))
    os.close(processes)
    failed = None
    try:
        _prepare(own, alone=alone)
    except OSError as error:
        failed = error
    handles = _receive(control)
    if not handles:
        os._exit(0)
    os.write(taking, b"!")
    control.close()
    os.close(taking)
    request, answer, *streams = handles
    stage = _UNCONFINED
    try:
        os.write(answer, struct.pack("=i", number))
        if failed:
            raise failed
        asked = _read(request)
        _confine(asked)
        stage = _NOT_STARTED
        for channel in streams[3:]:
            _hand_out(channel, map(int, asked["ports"]))
        command = _spawn(asked, streams[:3])
        os.write(answer, struct.pack("=ii", _STARTED, 0))
    except OSError as error:
        os.write(answer, _told(stage, error))
        os._exit(1)
    for handle in streams[:3]:
        os.close(handle)
    os.write(answer, struct.pack("=i", _end_of(command, answer)))
    os._exit(0)


def _told(stage: int, problem: OSError) -> bytes:
    """The part of an answer that says how far a call got, and what was wrong."""
    return struct.pack("=ii", stage, problem.errno or 0) + os.fsencode(problem.filename or b"")


def _read(request: int) -> Request:
    fields = iter(os.pread(request, os.fstat(request).st_size, 0).split(b"\0"))
    return {name: [next(fields) for _ in range(int(next(fields)))] for name in PARTS}


def _prepare_all(shared: Iterable[bytes]) -> None:
    """Prepare the parts that commands may share, in a user namespace that is the same for all."""
    check(libc.unshare(_NEWUSER | _NEWNS), b"unshare")
    _write("/proc/self/setgroups", b"deny")
    _map_ids((0, 0), _OUTSIDE)
    mount(None, b"/", None, SLAVE | RECURSIVE)
    make_shared(shared)


def _prepare(own: Iterable[bytes], *, alone: bool) -> None:
    """Prepare the parts that are the same for all commands, and no two may share."""
    os.setsid()
    check(libc.sethostname(b"sandbox", 7), b"sethostname")
    if alone:
        some = _socket.socket()
        fcntl.ioctl(some, _SET_FLAGS_OF_INTERFACE, struct.pack("16sh14x", b"lo", _UP))
        some.close()
    make_own(own)


def _confine(request: Request) -> None:
    for file in request["groups"]:
        _write(file, b"0")
    check(libc.unshare(_NEWCGROUP), b"unshare")
    make(request["mounts"])
    check(libc.syscall(_PIVOT_ROOT, b".", b"."), b"pivot_root")
    check(libc.umount2(b".", DETACH), b"umount")
    os.umask(_MASK)
    user, folder = request["place"]
    os.chdir(folder)
    check(libc.unshare(_NEWUSER), b"unshare")  # another one, so that it owns none of the namespaces
    _map_ids((int(user), int(user)), (0, 0))
    limits = map(int, request["limits"])
    for kind, *bounds in zip(limits, limits, limits, strict=True):
        soft, hard = (_lower(bound, now) for bound, now in zip(bounds, resource.getrlimit(kind), strict=True))
        resource.setrlimit(kind, (min(soft, hard), hard))
    capability = 0
    while libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0) == 0:
        capability += 1
    check(libc.syscall(_CAPSET, struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)), b"capset")
    for option, value in ((_SET_NO_NEW_PRIVS, 1), (_SET_DUMPABLE, 0)):
        check(libc.prctl(option, value, 0, 0, 0), b"prctl")
    if request["filter"]:
        numbers = map(int, request["filter"])
        steps = [struct.pack("=HBBI", *step) for step in zip(numbers, numbers, numbers, numbers, strict=True)]
        program = _Program(len(steps), b"".join(steps))
        check(libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0), b"seccomp")


def _hand_out(channel: int, ports: Iterable[int]) -> None:
    """Hand listening sockets to the relay outside, and wait until it has them.

    The channel stays open here, which tells the relay that somebody within may still connect.
    """
    listeners = []
    for port in ports:
        listener = _socket.socket()
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
        listeners.append(listener)
    handles = struct.pack(f"={len(listeners)}i", *(listener.fileno() for listener in listeners))
    connection = _socket.socket(fileno=channel)
    connection.sendmsg([b"?"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
    answered = connection.recv(1)
    connection.detach()
    for listener in listeners:
        listener.close()
    if not answered:
        raise OSError(_NOT_CONNECTED, b"relay")


def _spawn(request: Request, streams: Sequence[int]) -> int:
    """Start the command; its id."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _NEWS)
    environment = dict(variable.split(b"=", 1) for variable in request["env"])
    os.environb.pop(b"PATH", None)
    if b"PATH" in environment:
        os.environb[b"PATH"] = environment[b"PATH"]
    actions, copies = [], []
    for number, handle in enumerate(streams):
        copies.append(fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, len(streams)))  # beyond what is overwritten
        actions.append((os.POSIX_SPAWN_DUP2, copies[-1], number))
    command = os.posix_spawnp(
        request["argv"][0],
        request["argv"],
        environment,
        file_actions=actions,
        setsid=True,
        setsigmask=(),
        setsigdef=(_signal.SIGPIPE, _signal.SIGXFSZ),
    )
    for copy in copies:
        os.close(copy)
    return command


def _end_of(command: int, answer: int) -> int:
    """Reap whatever ends, until the command has, or nobody waits for it any more; how it ended."""
    news = libc.signalfd(-1, struct.pack("=Q", sum(1 << number - 1 for number in _NEWS)), os.O_CLOEXEC)
    check(news, b"signalfd")
    poll = select.poll()
    poll.register(news, select.POLLIN)
    poll.register(answer, 0)  # tells of an error once its reader is gone
    while True:
        if any(handle == answer for handle, _ in poll.poll()):
            os._exit(1)
        number, _, _, sender = struct.unpack_from("=IiiI", os.read(news, _NEWS_BYTES))
        if number == _signal.SIGTERM and sender == 0:  # from outside: who is within has an id
            os._exit(_SIGNALLED + number)  # without telling how the command ended
        reaped = -1
        while reaped:
            reaped, status = os.waitpid(-1, os.WNOHANG)
            if reaped == command:
                return os.waitstatus_to_exitcode(status)


def _map_ids(inner: tuple[int, int], outer: tuple[int, int]) -> None:
    for file, within, outside in zip(("uid_map", "gid_map"), inner, outer, strict=True):
        _write("/proc/self/" + file, b"%d %d 1" % (within, outside))


def _lower(bound: int, now: int) -> int:
    return bound if now == resource.RLIM_INFINITY else min(bound, now)


def _write(path: str | bytes, text: bytes) -> None:
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text)
    finally:
        os.close(handle)


def main() -> None:
    """Serve, and print which copies were not needed."""
    gc.disable()
    gc.freeze()
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # which the first process of a namespace does not get from within
    control, network, count, *rest = sys.argv[1:]
    fields = [os.fsencode(field) for field in rest]
    shared, own = fields[: int(count)], fields[int(count) :]
    lost = _Launcher(_socket.socket(fileno=int(control)), shared, own, alone=network == "alone").serve()
    os.write(1, b" ".join(b"%d" % copy for copy in lost))
