"""Limits on processes, set by a shell in front of them, because it costs little and is on every system."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from skillgauge.api import Command

from .mounts import MIB
from .options import BubblewrapOptions

SHELL = "/bin/sh"
_CANNOT = 125
"""Exit code if a limit could not be set; nothing was run then."""

LOADING = ("LD_", "BASH_FUNC_", "MALLOC_")
"""Beginnings of names of variables that change what a program in front does, the shell among them."""
_LOADING_WHOLE = frozenset({"BASH_ENV", "BASHOPTS", "ENV", "GCONV_PATH", "GLIBC_TUNABLES", "IFS", "PS4", "SHELLOPTS"})


def is_loading(name: str) -> bool:
    """Whether a variable must not reach a program that stands between the sandbox and the command."""
    return name.startswith(LOADING) or name in _LOADING_WHOLE


def limiting(options: BubblewrapOptions, command: Command, limited: frozenset[str]) -> list[str]:
    """Lines of a shell that bound itself and what it becomes, except in number.

    Args:
        options: the sandbox's.
        command: what was asked for; the lower limit holds.
        limited: controllers of control groups in force; what these limit needs nothing more.
    """
    file_bytes = min(options.file_mb * MIB, command.file_bytes or options.file_mb * MIB)
    lines = ["ulimit -c 0", f"ulimit -f {max(1, -(-file_bytes // 512))}"]
    given = [seconds for seconds in (options.cpu_s, command.cpu_s) if seconds is not None]
    if given:
        lines += [f"ulimit -S -t {min(given)}", f"ulimit -H -t {min(given) + 1}"]  # a second to heed SIGXCPU
    if "memory" not in limited:
        lines.append(f"ulimit -d {options.memory_mb * 1024}")
    return lines


def counting(processes: int) -> str:
    """Line of a shell that bounds the number of processes of its user; shells differ in the letter."""
    return f"{{ ulimit -u {processes} 2>/dev/null || ulimit -p {processes}; }}"


def joining(files: Sequence[Path]) -> list[str]:
    """Lines of a shell that make it a member of control groups."""
    return [f"echo 0 >{shlex.quote(str(file))}" for file in files]


def in_front(lines: Sequence[str], argv: Sequence[str], env: Mapping[str, str] | None = None) -> list[str]:
    """A shell that does what lines say and becomes a command, or ends before it if one of them fails.

    Args:
        lines: what comes first.
        argv: the command.
        env: variables that only the command gets.
    """
    variables = [f"{name}={value}" for name, value in (env or {}).items()]
    words = ["/usr/bin/env", *variables, *argv] if variables else list(argv)
    return [SHELL, "-c", " && ".join(lines) + f' || exit {_CANNOT}; exec "$@"', "sandbox", *words]
