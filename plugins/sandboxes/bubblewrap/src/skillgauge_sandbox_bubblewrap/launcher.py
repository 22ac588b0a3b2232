"""Runs as a program of its own and starts commands in namespaces of their own, as bwrap would.

Arguments: the file descriptor of a socket on which calls come, `network` or `alone`, and mounts that all commands have
in common, as bwrap takes them. When the socket is closed, it ends. A call is a byte and file descriptors: the request,
where the answer goes, stdin, stdout, stderr, and the channel of a relay if the command has one. The answer is a row of
numbers: the process id, how far it got, what was wrong (and where), and at the end how the command ended. `launching`
is the other side.

A call is read by a copy of this program, made by `clone` a little ahead: process 1 of new namespaces, and a child of
who calls. It makes the mounts, gives up all rights, starts the command, reaps orphans, and ends with the command, with
which the kernel ends whatever that left behind. Nothing of a call is ever in the memory that the next copy is made of,
and nothing in the namespaces may look into the copy.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # these two without the enumerations of `signal` and `socket`: all that is imported is copied
import _socket
import ctypes
import fcntl
import gc
import marshal
import os
import resource
import select
import struct
import sys

TYPE_CHECKING = False  # as `typing` has it, whose import would be copied, too
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn

_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
_NEWUSER, _NEWPID, _NEWNET, _PARENT = 0x10000000, 0x20000000, 0x40000000, 0x00008000
_NAMESPACES = _NEWUSER | _NEWPID | _NEWNS | _NEWIPC | _NEWUTS | _PARENT | _signal.SIGCHLD
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_BIND, _RECURSIVE, _SLAVE, _DETACH = 0x1000, 0x4000, 0x80000, 2
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_SETATTR = -100, 0x8000, 442
_SET_DUMPABLE, _SET_SECCOMP, _DROP_CAPABILITY, _SET_NO_NEW_PRIVS = 4, 22, 24, 38
_FILTER = 2
_CAPABILITY_VERSION = 0x20080522
_SET_FLAGS_OF_INTERFACE, _UP = 0x8914, 0x1
_CLONE, _PIVOT_ROOT, _CAPSET = {"x86_64": (56, 155, 126), "aarch64": (220, 41, 91)}.get(os.uname().machine, (-1,) * 3)

_DEVICES = (b"null", b"zero", b"full", b"random", b"urandom", b"tty")
_DEVICE_LINKS = (
    (b"/proc/self/fd/0", b"stdin"),
    (b"/proc/self/fd/1", b"stdout"),
    (b"/proc/self/fd/2", b"stderr"),
    (b"/proc/self/fd", b"fd"),
    (b"/proc/kcore", b"core"),
    (b"pts/ptmx", b"ptmx"),
)
_KERNEL_SETTINGS = (b"sys", b"sysrq-trigger", b"irq", b"bus")

_STARTED, _UNCONFINED, _NOT_STARTED = range(3)
_SIGNALLED = 128
_NOT_CONNECTED = 107
_MOST_HANDLES = 250
_NEWS, _NEWS_BYTES = (_signal.SIGCHLD, _signal.SIGTERM), 128

_OUTSIDE = os.geteuid(), os.getegid()
_MASK = os.umask(0)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace")]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


class _Launcher:
    """Has a copy ready for the next call."""

    def __init__(self, control: _socket.socket, common: Sequence[bytes], *, alone: bool) -> None:
        self._control = control
        self._common = common
        self._alone = alone
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
            elif not self._make():
                self._refuse(ctypes.get_errno())
            if not is_closed:
                self._poll.register(self._control, select.POLLIN if self._waiting < 0 else 0)
        return self._lost

    def _make(self) -> bool:
        """Make a copy that waits for a call; tells whether that was possible."""
        copy = _libc.syscall(_CLONE, _NAMESPACES | (_NEWNET if self._alone else 0), 0, 0, 0, 0)
        if copy == 0:
            _be_first(self._control, self._taking, self._common, alone=self._alone)
        if copy > 0:
            self._copy, self._waiting = copy, os.pidfd_open(copy)
            self._poll.register(self._waiting, select.POLLIN)
        return bool(copy > 0)

    def _refuse(self, number: int) -> None:
        handles = _receive(self._control)
        os.write(handles[1], struct.pack("=iii", 0, _UNCONFINED, number) + b"clone")
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


def _be_first(control: _socket.socket, taking: int, common: Sequence[bytes], *, alone: bool) -> NoReturn:
    """Run as a copy: prepare, wait for a call, confine itself, run the command, report it."""
    os.dup2(2, 1)  # only the launcher itself reports there
    number = int(os.readlink("/proc/self"))
    failed = None
    try:
        _prepare(common, alone=alone)
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
        asked = marshal.loads(os.pread(request, os.fstat(request).st_size, 0))
        _confine(asked)
        stage = _NOT_STARTED
        for channel in streams[3:]:
            _hand_out(channel, asked["ports"])
        command = _spawn(asked, streams[:3])
        os.write(answer, struct.pack("=ii", _STARTED, 0))
    except OSError as error:
        os.write(answer, struct.pack("=ii", stage, error.errno or 0) + os.fsencode(error.filename or b""))
        os._exit(1)
    for handle in streams[:3]:
        os.close(handle)
    os.write(answer, struct.pack("=i", _end_of(command, answer)))
    os._exit(0)


def _prepare(common: Sequence[bytes], *, alone: bool) -> None:
    """Prepare the parts that are the same for all commands."""
    os.setsid()
    _write("/proc/self/setgroups", b"deny")
    _map_ids((0, 0), _OUTSIDE)
    _check(_libc.sethostname(b"sandbox", 7), b"sethostname")
    if alone:
        some = _socket.socket()
        fcntl.ioctl(some, _SET_FLAGS_OF_INTERFACE, struct.pack("16sh14x", b"lo", _UP))
        some.close()
    _mount(None, b"/", None, _SLAVE | _RECURSIVE)
    _mount(b"tmpfs", b"/proc", b"tmpfs", _NO_SUID | _NO_DEVICES, b"mode=0755")
    os.chdir("/proc")  # of all places the one that no path is taken from
    _Mounts().make(common)


def _confine(request: dict[str, Any]) -> None:
    for file in request["groups"]:
        _write(file, b"0")
    _check(_libc.unshare(_NEWCGROUP), b"unshare")
    _Mounts().make(request["mounts"])
    _check(_libc.syscall(_PIVOT_ROOT, b".", b"."), b"pivot_root")
    _check(_libc.umount2(b".", _DETACH), b"umount")
    os.umask(_MASK)
    os.chdir(request["cwd"])
    _check(_libc.unshare(_NEWUSER), b"unshare")  # another one, so that it owns none of the namespaces
    _map_ids((request["uid"], request["uid"]), (0, 0))
    for kind, bounds in request["limits"]:
        soft, hard = (_lower(bound, now) for bound, now in zip(bounds, resource.getrlimit(kind), strict=True))
        resource.setrlimit(kind, (min(soft, hard), hard))
    capability = 0
    while _libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0) == 0:
        capability += 1
    _check(_libc.syscall(_CAPSET, struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)), b"capset")
    for option, value in ((_SET_NO_NEW_PRIVS, 1), (_SET_DUMPABLE, 0)):
        _check(_libc.prctl(option, value, 0, 0, 0), b"prctl")
    if request["filter"]:
        program = _Program(len(request["filter"]) // 8, request["filter"])
        _check(_libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0), b"seccomp")


class _Mounts:
    """Does what bwrap's arguments for mounts say, in the working directory, which becomes the root."""

    def __init__(self) -> None:
        self._mode, self._size = b"0755", b""

    def make(self, words: Iterable[bytes]) -> None:
        """Do them one after the other."""
        words = iter(words)
        for word in words:
            if word in (b"--bind-try", b"--ro-bind-try", b"--ro-bind"):
                self._bind(next(words), next(words)[1:], writable=word == b"--bind-try")
            elif word == b"--symlink":
                os.symlink(next(words), _beside(next(words)[1:]))
            elif word == b"--perms":
                self._mode = next(words)
            elif word == b"--size":
                self._size = b",size=" + next(words)
            elif word == b"--remount-ro":
                _set_attributes(next(words)[1:] or b".", _READ_ONLY, 0)
            else:
                {b"--dir": _folder, b"--proc": _proc, b"--dev": _devices, b"--tmpfs": self._tmpfs}[word](
                    next(words)[1:]
                )

    def _bind(self, source: bytes, target: bytes, *, writable: bool) -> None:
        if source.startswith(b"/proc/"):
            source = source[1:]
        if os.path.isdir(source):
            _folder(target)
        elif os.path.exists(source):
            _file(target)
        else:
            return
        _mount(source, target, None, _BIND | _RECURSIVE)
        _set_attributes(target, _NO_SUID | _NO_DEVICES | (0 if writable else _READ_ONLY), _AT_RECURSIVE)

    def _tmpfs(self, target: bytes) -> None:
        _folder(target)
        _mount(b"tmpfs", target, b"tmpfs", _NO_SUID | _NO_DEVICES, b"mode=" + self._mode + self._size)
        self._mode, self._size = b"0755", b""


def _proc(target: bytes) -> None:
    _folder(target)
    _mount(b"proc", target, b"proc", _NO_SUID | _NO_DEVICES | _NO_EXEC)
    for name in _KERNEL_SETTINGS:
        path = target + b"/" + name
        if os.access(path, os.W_OK):
            _mount(path, path, None, _BIND | _RECURSIVE)
            _set_attributes(path, _READ_ONLY | _NO_SUID | _NO_DEVICES, _AT_RECURSIVE)


def _devices(target: bytes) -> None:
    _folder(target)
    _mount(b"tmpfs", target, b"tmpfs", _NO_SUID | _NO_DEVICES, b"mode=0755")
    for name in _DEVICES:
        path = target + b"/" + name
        _file(path)
        _mount(b"/dev/" + name, path, None, _BIND)
        _set_attributes(path, _NO_SUID, 0)
    for text, name in _DEVICE_LINKS:
        os.symlink(text, target + b"/" + name)
    os.mkdir(target + b"/shm", 0o755)
    os.mkdir(target + b"/pts", 0o755)
    options = b"newinstance,ptmxmode=0666,mode=620"
    _mount(b"devpts", target + b"/pts", b"devpts", _NO_SUID | _NO_EXEC, options)


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


def _spawn(request: dict[str, Any], streams: Sequence[int]) -> int:
    """Start the command; its id."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _NEWS)
    os.environb.pop(b"PATH", None)
    if b"PATH" in request["env"]:
        os.environb[b"PATH"] = request["env"][b"PATH"]
    actions, copies = [], []
    for number, handle in enumerate(streams):
        copies.append(fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, len(streams)))  # beyond what is overwritten
        actions.append((os.POSIX_SPAWN_DUP2, copies[-1], number))
    command = os.posix_spawnp(
        request["argv"][0],
        request["argv"],
        request["env"],
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
    news = _libc.signalfd(-1, struct.pack("=Q", sum(1 << number - 1 for number in _NEWS)), os.O_CLOEXEC)
    _check(news, b"signalfd")
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


def _folder(path: bytes) -> None:
    try:
        os.mkdir(path, 0o755)
    except FileExistsError:
        pass
    except FileNotFoundError:
        _folder(os.path.dirname(path))
        os.mkdir(path, 0o755)


def _file(path: bytes) -> None:
    if not os.path.lexists(path):
        os.close(os.open(_beside(path), os.O_CREAT | os.O_WRONLY, 0o444))


def _beside(path: bytes) -> bytes:
    """The path, with a folder around it."""
    if b"/" in path:
        _folder(os.path.dirname(path))
    return path


def _mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    _check(_libc.mount(source, target, kind, ctypes.c_ulong(flags), options), target)


def _set_attributes(path: bytes, flags: int, how: int) -> None:
    attributes = _Attributes(flags, 0, 0, 0)
    size = ctypes.sizeof(attributes)
    _check(_libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, how, ctypes.byref(attributes), size), path)


def _write(path: str | bytes, text: bytes) -> None:
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text)
    finally:
        os.close(handle)


def _check(result: int, what: bytes) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "", what)


def main() -> None:
    """Serve, and print which copies were not needed."""
    gc.disable()
    gc.freeze()
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # which the first process of a namespace does not get from within
    control, network, *common = sys.argv[1:]
    words = [os.fsencode(word) for word in common]
    lost = _Launcher(_socket.socket(fileno=int(control)), words, alone=network == "alone").serve()
    os.write(1, b" ".join(b"%d" % copy for copy in lost))


if __name__ == "__main__":
    main()
