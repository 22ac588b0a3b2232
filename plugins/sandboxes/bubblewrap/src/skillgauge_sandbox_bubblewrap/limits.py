"""Limits on processes: set by the launcher, or by a shell in front of bwrap, which is on every system."""

from __future__ import annotations

import resource
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from skillgauge.api import Command

from .mounts import MIB
from .options import BubblewrapOptions

SHELL = "/bin/sh"
OUTSIDE_ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
"""Environment of what runs before the sandbox is there. Nothing of the command's own may be in it."""
_CANNOT = 125
"""Exit code if a limit could not be set; nothing was run then."""

_ULIMIT = {
    resource.RLIMIT_CORE: ("c", 512),
    resource.RLIMIT_FSIZE: ("f", 512),
    resource.RLIMIT_CPU: ("t", 1),
    resource.RLIMIT_DATA: ("d", 1024),
}
"""Letter and unit of a shell's limits."""
LOADING = ("LD_", "BASH_FUNC_", "MALLOC_")
"""Beginnings of names of variables that change what a program in front does, the shell among them."""
_LOADING_WHOLE = frozenset({"BASH_ENV", "BASHOPTS", "ENV", "GCONV_PATH", "GLIBC_TUNABLES", "IFS", "PS4", "SHELLOPTS"})


def is_loading(name: str) -> bool:
    """Tell whether a variable must not reach a program that stands between the sandbox and the command."""
    return name.startswith(LOADING) or name in _LOADING_WHOLE


def bounds(options: BubblewrapOptions, command: Command, limited: frozenset[str]) -> dict[int, tuple[int, int]]:
    """Return the limits of each process of a command, by kind of resource: soft and hard limit.

    Args:
        options: the sandbox's.
        command: what was asked for; the lower limit holds.
        limited: controllers of control groups in force; what these limit needs nothing more.
    """
    file_bytes = min(options.file_mb * MIB, command.file_bytes or options.file_mb * MIB)
    limits = {resource.RLIMIT_CORE: (0, 0), resource.RLIMIT_FSIZE: (file_bytes, file_bytes)}
    limits_s = [seconds for seconds in (options.cpu_s, command.cpu_s) if seconds is not None]
    if limits_s:
        limits[resource.RLIMIT_CPU] = (min(limits_s), min(limits_s) + 1)  # a second to heed SIGXCPU
    if "memory" not in limited:
        limits[resource.RLIMIT_DATA] = (options.memory_mb * MIB, options.memory_mb * MIB)
    return limits


def limiting(bounds: Mapping[int, tuple[int, int]]) -> list[str]:
    """Lines of a shell that bound itself and what it becomes."""
    lines = []
    for kind, (soft, hard) in bounds.items():
        letter, unit = _ULIMIT[kind]
        # Both at once: who sets the soft one alone writes the hard one back as he read it, and it may be lower by now.
        lines.append(f"ulimit -{letter} {-(-hard // unit)}")
        if soft != hard:
            lines.append(f"ulimit -S -{letter} {-(-soft // unit)}")
    return lines


def counting(processes: int) -> str:
    """Line of a shell that bounds the number of processes of its user; shells differ in the letter."""
    return f"{{ ulimit -u {processes} 2>/dev/null || ulimit -p {processes}; }}"


def joining(files: Sequence[Path]) -> list[str]:
    """Lines of a shell that make it a member of control groups."""
    return [f"echo 0 >{shlex.quote(str(file))}" for file in files]


def in_front(lines: Sequence[str], argv: Sequence[str], carriers: Sequence[str] = ()) -> list[str]:
    """A shell that does what lines say and becomes a command, or ends before it if one of them fails.

    Args:
        lines: what comes first.
        argv: the command.
        carriers: names of variables that hold a further variable each, as `name=value`, which only the command gets.
            As arguments they could be read in the list of processes.
    """
    handed = " ".join([*(f"-u {name}" for name in carriers), *(f'"${name}"' for name in carriers)])
    command = f'exec /usr/bin/env {handed} "$@"' if carriers else 'exec "$@"'
    return [SHELL, "-c", " && ".join(lines) + f" || exit {_CANNOT}; {command}", "sandbox", *argv]
