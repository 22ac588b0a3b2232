"""Plans of mounts: what bwrap's arguments for them say, in the few steps that launchers know.

A plan is a list of fields: the name of a step, what it needs, the next name, and so on. `mounting` says what each step
does, and `native/mounting.c` does the same. Targets are below the working directory, which becomes the root.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

SHARED = "/proc/shared"
"""Where launchers mount what commands have in common."""

_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC, _BIND, _RECURSIVE = 1, 2, 4, 8, 0x1000, 0x4000
_PLACE_ALONE, _ALL_BELOW = 0, 0x8000
_MODE = "0755"

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = (
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("/proc/self/fd", "fd"),
    ("/proc/kcore", "core"),
    ("pts/ptmx", "ptmx"),
)
_KERNEL_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus")


def plan(words: Iterable[str]) -> list[str]:
    """Return the plan of mounts that a single command has.

    Args:
        words: arguments of bwrap.
    """
    return [field for _, _, fields in _steps(words) for field in fields]


def plans_in_common(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return two plans of mounts that several commands have: what is made once, below `SHARED`, and then for each.

    Args:
        words: arguments of bwrap.
    """
    shared: list[str] = []
    own: list[str] = []
    shown: list[str] = []
    for target, source, fields in _steps(words):
        if not source:
            own += fields
        elif os.path.lexists(source):
            shared += fields
            if not any(target.startswith(one + "/") for one in shown):
                shown.append(target)
                own += _place(target, source) + _mount(f"{SHARED}/{target}", target, flags=_BIND | _RECURSIVE)
    return shared, own


def _steps(words: Iterable[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what arguments of bwrap say, in their order.

    Each is a path below the root, what is shown there if that can serve several commands, and the fields of its steps.
    """
    words = iter(words)
    mode, size = _MODE, ""
    for word in words:
        if word in ("--bind-try", "--ro-bind-try", "--ro-bind"):
            source, target = next(words), next(words)[1:]
            is_own = source.startswith("/proc/")  # that of the command, which has been mounted by then
            flags = _NO_SUID | _NO_DEVICES | (0 if word == "--bind-try" else _READ_ONLY)
            yield target, "" if is_own else source, ["bind", source[is_own:], target, str(flags)]
        elif word == "--symlink":
            text, target = next(words), next(words)[1:]
            yield target, "", ["link", text, target]
        elif word == "--perms":
            mode = next(words)
        elif word == "--size":
            size = ",size=" + next(words)
        elif word == "--tmpfs":
            target = next(words)[1:]
            yield target, "", _tmpfs(target, f"mode={mode}{size}")
            mode, size = _MODE, ""
        elif word == "--remount-ro":
            target = next(words)[1:] or "."
            yield target, "", ["attributes", target, str(_READ_ONLY), str(_PLACE_ALONE)]
        elif word == "--dev":
            target = next(words)[1:]
            yield target, "/dev", _devices(target)
            options = "newinstance,ptmxmode=0666,mode=620"
            yield target, "", _mount("devpts", f"{target}/pts", "devpts", _NO_SUID | _NO_EXEC, options)
        elif word == "--dir":
            target = next(words)[1:]
            yield target, "", ["folder", target]
        elif word == "--proc":
            target = next(words)[1:]
            yield target, "", _proc(target)
        else:
            raise ValueError(word)


def _place(target: str, source: str) -> list[str]:
    return ["folder" if Path(source).is_dir() else "file", target]


def _mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> list[str]:
    return ["mount", source, target, kind, str(flags), options]


def _tmpfs(target: str, options: str) -> list[str]:
    return ["folder", target, *_mount("tmpfs", target, "tmpfs", _NO_SUID | _NO_DEVICES, options)]


def _proc(target: str) -> list[str]:
    fields = ["folder", target, *_mount("proc", target, "proc", _NO_SUID | _NO_DEVICES | _NO_EXEC)]
    for name in _KERNEL_SETTINGS:
        fields += ["cover", f"{target}/{name}", str(_READ_ONLY | _NO_SUID | _NO_DEVICES)]
    return fields


def _devices(target: str) -> list[str]:
    fields = _tmpfs(target, "mode=0755")
    for name in _DEVICES:
        path = f"{target}/{name}"
        fields += ["file", path, *_mount(f"/dev/{name}", path, flags=_BIND)]
        fields += ["attributes", path, str(_NO_SUID), str(_PLACE_ALONE)]
    for text, name in _DEVICE_LINKS:
        fields += ["link", text, f"{target}/{name}"]
    return [*fields, "folder", f"{target}/shm", "folder", f"{target}/pts"]
