"""Mounts, as the launcher makes them in new namespaces: what `plans` asks for, step by step."""

from __future__ import annotations

import ctypes
import os
import stat

TYPE_CHECKING = False  # as `typing` has it, whose import would be copied, too
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SLAVE, DETACH = 0x80000, 2
RECURSIVE = 0x4000
_NO_SUID, _NO_DEVICES, _BIND, _PRIVATE = 2, 4, 0x1000, 0x40000
_AT_FDCWD, _ALL_BELOW, _MOUNT_SETATTR = -100, 0x8000, 442
_SHARED, _OWN = b"/proc/shared", b"/proc/own"

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace")]


def make_shared(plan: Iterable[bytes]) -> None:
    """Make what commands have in common, from where each is given it.

    It covers /proc with a place for that, of all places the one that no path is taken from; a new namespace needs it.
    """
    mount(b"tmpfs", b"/proc", b"tmpfs", _NO_SUID | _NO_DEVICES, b"mode=0755")
    for place in (_SHARED, _OWN):
        os.mkdir(place, 0o755)
    os.chdir(_SHARED)
    make(plan)
    mount(None, b"/proc", None, _PRIVATE | RECURSIVE)  # what is mounted outside from now on is not to appear here


def make_own(plan: Iterable[bytes]) -> None:
    """Make the root of a command, and make it the working directory. Calls for a copy of the namespace."""
    mount(b"tmpfs", _OWN, b"tmpfs", _NO_SUID | _NO_DEVICES, b"mode=0755")
    os.chdir(_OWN)
    make(plan)


def make(plan: Iterable[bytes]) -> None:
    """Do what a plan asks for, in the working directory."""
    fields = iter(plan)
    for name in fields:
        count, function = _STEPS[name]
        function(*[next(fields) for _ in range(count)])


def mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    """Mount something; see `mount(2)`."""
    check(libc.mount(source, target, kind, ctypes.c_ulong(flags), options), target)


def check(result: int, what: bytes) -> None:
    """Raise the error of a call that failed, with what it was about."""
    if result < 0:
        raise OSError(ctypes.get_errno(), "", what)


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


def _link(text: bytes, path: bytes) -> None:
    os.symlink(text, _beside(path))


def _mount(source: bytes, target: bytes, kind: bytes, flags: bytes, options: bytes) -> None:
    mount(source, target, kind or None, int(flags), options or None)


def _bind(source: bytes, target: bytes, flags: bytes) -> None:
    """Show a path, and all that is mounted below it, with these attributes; one that is not there is left out."""
    try:
        is_folder = stat.S_ISDIR(os.stat(source).st_mode)
    except OSError:
        return
    (_folder if is_folder else _file)(target)
    _bind_over(source, target, flags)


def _cover(path: bytes, flags: bytes) -> None:
    """Give a path other attributes, if it can be written to."""
    if os.access(path, os.W_OK):
        _bind_over(path, path, flags)


def _bind_over(source: bytes, target: bytes, flags: bytes) -> None:
    mount(source, target, None, _BIND | RECURSIVE)
    _set_attributes(target, flags, _ALL_BELOW)


def _set_attributes(path: bytes, flags: bytes, how: bytes | int) -> None:
    attributes = _Attributes(int(flags), 0, 0, 0)
    size = ctypes.sizeof(attributes)
    check(libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, int(how), ctypes.byref(attributes), size), path)


def _beside(path: bytes) -> bytes:
    """The path, with a folder around it."""
    if b"/" in path:
        _folder(os.path.dirname(path))
    return path


_STEPS: dict[bytes, tuple[int, Callable[..., None]]] = {
    b"folder": (1, _folder),
    b"file": (1, _file),
    b"link": (2, _link),
    b"mount": (5, _mount),
    b"bind": (3, _bind),
    b"attributes": (3, _set_attributes),
    b"cover": (2, _cover),
}
