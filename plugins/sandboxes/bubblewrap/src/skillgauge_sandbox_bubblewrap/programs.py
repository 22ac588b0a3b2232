"""Finding out beforehand why a command would not start, since bwrap tells it like a failure of the command."""

# ruff: noqa: PTH110, PTH112, PTH113, PTH118, PTH123 - each process is checked: text takes a third of the time

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from os.path import exists, isdir, isfile, join

from skillgauge.api import LaunchError

_HEAD = 256


def require_startable(
    argv: tuple[str, ...], cwd: str, env: Mapping[str, str], is_visible: Callable[[str], bool]
) -> None:
    """See that a command can be started in the sandbox.

    Args:
        argv: the command.
        cwd: its working directory.
        env: its environment.
        is_visible: whether a path can be seen in the sandbox.

    Raises:
        LaunchError: it cannot; the message says what to do.
    """
    if not argv or not argv[0] or any("\0" in word for word in argv):
        raise LaunchError(f"{argv!r} is no command")
    if not isdir(cwd):
        raise LaunchError(f"working directory {cwd} is not there; was it removed, or is it misspelt?")
    if not is_visible(cwd):
        raise _hidden("working directory", cwd)
    program = _find(argv[0], cwd, env)
    if not is_visible(program):
        raise _hidden("program", program)
    interpreter = _interpreter(program)
    if interpreter is not None and not (exists(interpreter) and is_visible(interpreter)):
        raise LaunchError(f"{argv[0]!r} names {interpreter!r} in its first line, which is not there; install it")


def require_passable(env: Mapping[str, str]) -> None:
    """See that an environment can be handed to a process as it is.

    Raises:
        LaunchError: it cannot; a value could even say what to bind, where it is handed over in a list of words.
    """
    for name, value in env.items():
        if not name or "=" in name:
            raise LaunchError(f"{name!r} is no name of an environment variable")
        if "\0" in name + value:
            raise LaunchError(f"{name + value!r} holds a null character, which no path and no variable may")


def _find(name: str, cwd: str, env: Mapping[str, str]) -> str:
    if os.sep in name:
        path = join(cwd, name)
        if not exists(path):
            raise LaunchError(f"{name!r} is not there; install it, or check its path")
    else:
        found = shutil.which(name, path=env.get("PATH", os.defpath))
        if found is None:
            raise LaunchError(f"{name!r} is not there; install it, or check the PATH")
        path = join(cwd, found)
    if not isfile(path) or not os.access(path, os.X_OK):
        raise LaunchError(f"{name!r} may not be executed; try `chmod +x`, or put its interpreter in front")
    return path


def _interpreter(program: str) -> str | None:
    """Return the program in the first line of a script; `None` for a program of the machine."""
    try:
        with open(program, "rb", buffering=0) as file:
            head = file.read(_HEAD)
    except OSError:
        return None  # may be executed although it may not be read
    if not head.startswith(b"#!"):
        if not head.startswith(b"\x7fELF"):
            advice = "put its interpreter in front, or add a `#!` line"
            raise LaunchError(f"{program!r} is no program for this machine; {advice}")
        return None
    words = head[2:].split(b"\n", 1)[0].split()
    return os.fsdecode(words[0]) if words and words[0].startswith(b"/") else None


def _hidden(what: str, path: str) -> LaunchError:
    advice = "add it, or a folder around it, to plugins.sandboxes.bubblewrap.readable"
    return LaunchError(f"{what} {path!r} is outside of what the sandbox shows; {advice}")
