"""The command line as a user runs it, in this process or in one of its own.

A process spends half a second on its start before the command does anything, so tests about what a command says and
writes call it here. What a test here cannot prove, and a process can: that the program starts and ends at all, what it
imports, what it does with signals from outside, closed pipes and terminals, and what becomes of it when it is killed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from pathlib import Path
from types import FrameType, ModuleType
from typing import IO, Any
from weakref import WeakKeyDictionary

from skillgauge import log
from skillgauge.__main__ import main

PROGRAM = Path(sys.executable).parent / "skillgauge"
"""The installed command, beside the interpreter that runs the tests."""
TIME_LIMIT_S = 300.0
"""How long a command may take: much longer than any does, so that only one that hangs is ended."""


@dataclass(frozen=True)
class Done:
    """The end of a command."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.stdout)

    @property
    def verdict(self) -> str:
        """The last line on stderr; empty if there is none."""
        lines = self.stderr.strip().splitlines()
        return lines[-1] if lines else ""


@dataclass(frozen=True)
class Program:
    """The command line; calling it runs it in this process, with nothing on stdin unless told otherwise.

    Nothing of a command is left in this process, apart from imported modules: not its working directory, environment,
    streams, signal handlers, log settings, single-file plugins or caches.
    """

    work: Path
    """The folder to run in."""
    environment: Mapping[str, str]
    """All the variables there are."""

    def __call__(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str = "",
        timeout_s: float = TIME_LIMIT_S,
    ) -> Done:
        """Run a command here.

        Args:
            *arguments: the command line after `skillgauge`.
            cwd: another folder to run in.
            env: further variables.
            stdin: what it can read.
            timeout_s: after this time it is stopped.

        Raises:
            TimeoutError: it took too long.
            ValueError: a variable is for the start of an interpreter, so only `process` can do with it.
            RuntimeError: an event loop runs in this thread, so a command cannot run its own.
        """
        variables = {**self.environment, **(env or {})}
        early = sorted(name for name in variables if name.startswith("PYTHON"))
        if early:
            raise ValueError(f"{', '.join(early)}: read when an interpreter starts, so use `process`")
        if asyncio._get_running_loop():  # its public sibling raises where there is none
            raise RuntimeError("an event loop runs in this thread, so use `process`")
        words = ["skillgauge", *map(str, arguments)]
        with ExitStack() as stack:
            stack.enter_context(_place(cwd or self.work, variables))
            stack.enter_context(_interpreter(words))
            stdout, stderr = stack.enter_context(_streams(stdin))
            stack.enter_context(_log_settings())
            stack.enter_context(_signals(timeout_s, words))
            code = Context().run(exit_code, main)
            return Done(code, stdout(), stderr())

    def process(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float = TIME_LIMIT_S,
    ) -> Done:
        """Run the installed program; for tests about what only a process shows.

        Args:
            *arguments: the command line after `skillgauge`.
            cwd: another folder to run in.
            env: further variables.
            timeout_s: after this time it is killed.

        Raises:
            subprocess.TimeoutExpired: it took too long.
        """
        done = subprocess.run(
            [PROGRAM, *arguments],
            cwd=cwd or self.work,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def exit_code(call: Callable[[], object]) -> int:
    """The code that a process would end with after this call; what an interpreter would say is on stderr."""
    try:
        call()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return int(end.code or 0)
        sys.stderr.write(f"{end.code}\n")
        return 1
    except Exception:  # noqa: BLE001 - what an interpreter does with one that nobody caught
        traceback.print_exc()
        return 1
    return 0


@contextmanager
def _place(cwd: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """A working directory and an environment, and no folder for temporary files remembered from another one."""
    folder, kept, temporary = Path.cwd(), dict(os.environ), tempfile.tempdir
    os.chdir(cwd)
    _replace(os.environ, variables)
    tempfile.tempdir = None
    try:
        yield
    finally:
        tempfile.tempdir = temporary
        _replace(os.environ, kept)
        os.chdir(folder)


def _replace(old: Any, new: Mapping[str, str]) -> None:
    """Give a mapping other items, without a moment in which it has none."""
    for name in old.keys() - new.keys():
        del old[name]
    old.update(new)


@contextmanager
def _interpreter(words: list[str]) -> Iterator[None]:
    """Arguments of its own, and an end of what a command adds to the interpreter."""
    argv, path, modules = sys.argv, list(sys.path), set(sys.modules)
    sys.argv = words
    _forget()
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
        for name in sys.modules.keys() - modules:
            if name.startswith("skillgauge_file_"):  # a single-file plugin, which the next command reads anew
                del sys.modules[name]
        _forget()


_caches: WeakKeyDictionary[ModuleType, tuple[Any, ...]] = WeakKeyDictionary()
"""Of each module that was looked through. A look takes long, and nobody adds caches to a module once it is imported."""


def _forget() -> None:
    """Empty the caches of functions and methods, which a process would begin without."""
    for name, module in list(sys.modules.items()):
        if name.startswith("skillgauge") and not name.startswith(__package__):
            if module not in _caches:
                _caches[module] = tuple(_caches_of(module))
            for function in _caches[module]:
                function.cache_clear()


def _caches_of(module: ModuleType) -> Iterator[Any]:
    """The functions and methods of a module that remember what they returned."""
    for owner in [module, *(value for value in vars(module).values() if isinstance(value, type))]:
        for value in vars(owner).values():
            function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            if isinstance(function, _lru_cache_wrapper):
                yield function


@contextmanager
def _streams(stdin: str) -> Iterator[tuple[Any, Any]]:
    """Files instead of the standard streams, for child processes too; gives what reads stdout and stderr."""
    with tempfile.TemporaryFile() as stdin_file, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin_file.write(stdin.encode())
        stdin_file.seek(0)
        ours = sys.stdin, sys.stdout, sys.stderr
        for stream in ours[1:]:
            stream.flush()
        kept = [os.dup(number) for number in range(3)]
        for number, file in enumerate((stdin_file, out, err)):
            os.dup2(file.fileno(), number)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a number has no path
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        theirs = sys.stdout, sys.stderr
        try:
            yield lambda: _written(theirs[0], out), lambda: _written(theirs[1], err)
        finally:
            for stream in theirs:
                _flush(stream)
            sys.stdin.close()
            sys.stdin, sys.stdout, sys.stderr = ours
            for number, copy in enumerate(kept):
                os.dup2(copy, number)
                os.close(copy)


def _written(stream: IO[str], file: IO[bytes]) -> str:
    _flush(stream)
    file.seek(0)
    return file.read().decode()


def _flush(stream: IO[str]) -> None:
    if not stream.closed:
        stream.flush()


@contextmanager
def _log_settings() -> Iterator[None]:
    """The log as it is when a process starts; whoever logs next writes to the streams that there are then."""
    settings = log._Settings
    kept = settings.threshold, settings.as_json, settings.clean
    settings.threshold, settings.as_json, settings.clean = logging.ERROR, None, None
    try:
        yield
    finally:
        settings.threshold, settings.as_json, settings.clean = kept


@contextmanager
def _signals(timeout_s: float, words: list[str]) -> Iterator[None]:
    """Signal handlers as they were, and an alarm that ends a command that hangs."""
    kept = {number: signal.getsignal(number) for number in signal.valid_signals()}
    late = False

    def alarm(_number: int, _frame: FrameType | None) -> None:
        nonlocal late
        late = True
        raise _TooLongError

    signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, timeout_s, 1.0)  # again, for who takes the first one for a plugin's error
    try:
        with suppress(_TooLongError):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in kept.items():
            if handler is not None and signal.getsignal(number) != handler:
                signal.signal(number, handler)
    if late:
        raise TimeoutError(f"{' '.join(words)} took longer than {timeout_s:g} s")


class _TooLongError(BaseException):
    """Raised wherever a command is when its time is up, so no handler of `Exception` may take it for its own."""
