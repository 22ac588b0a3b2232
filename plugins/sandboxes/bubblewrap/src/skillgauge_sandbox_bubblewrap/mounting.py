"""Mounts, as the launcher makes them in a new namespace: what bwrap's arguments for them say."""

from __future__ import annotations

import ctypes
import os
import stat

TYPE_CHECKING = False  # as `typing` has it, whose import would be copied, too
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Step = tuple[bytes, bool, Callable[..., None], tuple[Any, ...]]

SLAVE, PRIVATE, RECURSIVE, DETACH = 0x80000, 0x40000, 0x4000, 2
NO_SUID, NO_DEVICES = 2, 4
_READ_ONLY, _NO_EXEC, _BIND = 1, 8, 0x1000
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_SETATTR = -100, 0x8000, 442
_SHARED, _OWN = b"/proc/shared", b"/proc/own"
_MODE = b"0755"

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

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace")]


class Common:
    """Mounts that all commands have in common, as far as possible made once, from where each command is given them.

    Covers /proc with a place for them, of all places the one that no path is taken from; a new namespace needs it.

    Args:
        words: arguments of bwrap.
    """

    def __init__(self, words: Iterable[bytes]) -> None:
        mount(b"tmpfs", b"/proc", b"tmpfs", NO_SUID | NO_DEVICES, b"mode=0755")
        for place in (_SHARED, _OWN):
            os.mkdir(place, 0o755)
        os.chdir(_SHARED)
        self._steps: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        shown: list[bytes] = []
        for target, is_shared, function, arguments in steps(words):
            if not is_shared:
                self._steps.append((function, arguments))
                continue
            function(*arguments)
            is_within = any(target.startswith(one + b"/") for one in shown)
            if not is_within and os.path.lexists(target):
                shown.append(target)
                self._steps.append((_show, (target, os.path.isdir(target))))
        mount(None, b"/proc", None, PRIVATE | RECURSIVE)  # what is mounted outside from now on is not to appear here

    def lay_out(self) -> None:
        """Make the root of a command, and make it the working directory. Calls for a copy of the namespace."""
        mount(b"tmpfs", _OWN, b"tmpfs", NO_SUID | NO_DEVICES, b"mode=0755")
        os.chdir(_OWN)
        for function, arguments in self._steps:
            function(*arguments)


def make(words: Iterable[bytes]) -> None:
    """Do what bwrap's arguments for mounts say, in the working directory, which becomes the root."""
    for _, _, function, arguments in steps(words):
        function(*arguments)


def steps(words: Iterable[bytes]) -> Iterator[Step]:
    """Yield what bwrap's arguments for mounts say, in their order.

    Each is a path below the working directory, whether what is mounted there can serve several commands, and a function
    with its arguments.
    """
    words = iter(words)
    mode, size = _MODE, b""
    for word in words:
        if word in (b"--bind-try", b"--ro-bind-try", b"--ro-bind"):
            source, target = next(words), next(words)[1:]
            is_own = source.startswith(b"/proc/")  # that of the command, which has been mounted by then
            yield target, not is_own, _bind, (source[1:] if is_own else source, target, word == b"--bind-try")
        elif word == b"--symlink":
            text, target = next(words), next(words)[1:]
            yield target, False, _link, (text, target)
        elif word == b"--perms":
            mode = next(words)
        elif word == b"--size":
            size = b",size=" + next(words)
        elif word == b"--tmpfs":
            target = next(words)[1:]
            yield target, False, _tmpfs, (target, b"mode=" + mode + size)
            mode, size = _MODE, b""
        elif word == b"--remount-ro":
            target = next(words)[1:] or b"."
            yield target, False, _set_attributes, (target, _READ_ONLY, 0)
        elif word == b"--dev":
            target = next(words)[1:]
            yield target, True, _devices, (target,)
            yield target, False, _terminals, (target,)
        else:
            target = next(words)[1:]
            yield target, False, {b"--dir": _folder, b"--proc": _proc}[word], (target,)


def _show(target: bytes, is_folder: bool) -> None:
    """Show what is mounted at a shared place, with the attributes that it has there."""
    (_folder if is_folder else _file)(target)
    mount(_SHARED + b"/" + target, target, None, _BIND | RECURSIVE)


def _bind(source: bytes, target: bytes, writable: bool) -> None:
    try:
        is_folder = stat.S_ISDIR(os.stat(source).st_mode)
    except OSError:
        return
    (_folder if is_folder else _file)(target)
    mount(source, target, None, _BIND | RECURSIVE)
    _set_attributes(target, NO_SUID | NO_DEVICES | (0 if writable else _READ_ONLY), _AT_RECURSIVE)


def _link(text: bytes, target: bytes) -> None:
    os.symlink(text, _beside(target))


def _tmpfs(target: bytes, options: bytes) -> None:
    _folder(target)
    mount(b"tmpfs", target, b"tmpfs", NO_SUID | NO_DEVICES, options)


def _proc(target: bytes) -> None:
    _folder(target)
    mount(b"proc", target, b"proc", NO_SUID | NO_DEVICES | _NO_EXEC)
    for name in _KERNEL_SETTINGS:
        path = target + b"/" + name
        if os.access(path, os.W_OK):
            mount(path, path, None, _BIND | RECURSIVE)
            _set_attributes(path, _READ_ONLY | NO_SUID | NO_DEVICES, _AT_RECURSIVE)


def _devices(target: bytes) -> None:
    _folder(target)
    mount(b"tmpfs", target, b"tmpfs", NO_SUID | NO_DEVICES, b"mode=0755")
    for name in _DEVICES:
        path = target + b"/" + name
        _file(path)
        mount(b"/dev/" + name, path, None, _BIND)
        _set_attributes(path, NO_SUID, 0)
    for text, name in _DEVICE_LINKS:
        os.symlink(text, target + b"/" + name)
    os.mkdir(target + b"/shm", 0o755)
    os.mkdir(target + b"/pts", 0o755)


def _terminals(devices: bytes) -> None:
    options = b"newinstance,ptmxmode=0666,mode=620"
    mount(b"devpts", devices + b"/pts", b"devpts", NO_SUID | _NO_EXEC, options)


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


def mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    """Mount something; see `mount(2)`."""
    check(libc.mount(source, target, kind, ctypes.c_ulong(flags), options), target)


def _set_attributes(path: bytes, flags: int, how: int) -> None:
    attributes = _Attributes(flags, 0, 0, 0)
    size = ctypes.sizeof(attributes)
    check(libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, how, ctypes.byref(attributes), size), path)


def check(result: int, what: bytes) -> None:
    """Raise the error of a call that failed, with what it was about."""
    if result < 0:
        raise OSError(ctypes.get_errno(), "", what)
