"""Mounts, as the launcher makes them in a new namespace: what bwrap's arguments for them say."""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False  # as `typing` has it, whose import would be copied, too
if TYPE_CHECKING:
    from collections.abc import Iterable

SLAVE, RECURSIVE, DETACH = 0x80000, 0x4000, 2
NO_SUID, NO_DEVICES = 2, 4
_READ_ONLY, _NO_EXEC, _BIND = 1, 8, 0x1000
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_SETATTR = -100, 0x8000, 442

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


class Mounts:
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
        mount(source, target, None, _BIND | RECURSIVE)
        _set_attributes(target, NO_SUID | NO_DEVICES | (0 if writable else _READ_ONLY), _AT_RECURSIVE)

    def _tmpfs(self, target: bytes) -> None:
        _folder(target)
        mount(b"tmpfs", target, b"tmpfs", NO_SUID | NO_DEVICES, b"mode=" + self._mode + self._size)
        self._mode, self._size = b"0755", b""


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
    options = b"newinstance,ptmxmode=0666,mode=620"
    mount(b"devpts", target + b"/pts", b"devpts", NO_SUID | _NO_EXEC, options)


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
