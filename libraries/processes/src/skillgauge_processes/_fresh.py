"""Homes of commands that share nothing with others."""

from __future__ import annotations

import itertools
import os
import stat
import weakref
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType

from skillgauge_documents.immutables import immutable

from ._environment import absolute
from .running import Process

_PREFIX = "fresh-"
"""Begins the names of folders with a home of a command that shares nothing with others."""


@immutable
class FreshHome:
    """A home and a place for temporary files in which no command has left anything."""

    folder: Path
    path: str
    env: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        env = {"PATH": absolute(self.path), "HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "tmp")}
        object.__setattr__(self, "env", MappingProxyType(env))


class FreshHomes:
    """The fresh homes of one workspace.

    A command that has ended gives its home to the next one if it never changed anything there; otherwise the home is
    removed. Most graders read files and write none, and folders cost more than they do.

    Args:
        remove: removes a folder with all that is in it.
    """

    def __init__(self, remove: Callable[[Path], Awaitable[object]]) -> None:
        self._remove = remove
        self._numbers = itertools.count(1)
        self._lent: list[tuple[FreshHome, weakref.ref[Process]]] = []
        self._marks: dict[Path, tuple[int, ...]] = {}
        self._free: list[FreshHome] = []

    async def take(self, parent: Path, path: str) -> FreshHome:
        """Return a home below `parent`, which no process uses.

        Args:
            parent: a folder of the workspace.
            path: search path of its command.

        Raises:
            OSError: it cannot be made.
        """
        await self._take_back()
        if self._free:
            free = self._free.pop()
            return free if free.path == path else FreshHome(free.folder, path)
        home = FreshHome(parent / f"{_PREFIX}{next(self._numbers)}", path)
        for folder in (home.folder, home.env["HOME"], home.env["TMPDIR"]):
            os.mkdir(folder, 0o700)  # noqa: PTH102 - of each session
        self._marks[home.folder] = _marks(home.folder)
        return home

    def lend(self, home: FreshHome, process: Process) -> None:
        """Leave a home to a process until that has ended."""
        self._lent.append((home, weakref.ref(process)))

    async def _take_back(self) -> None:
        over = [home for home, process in self._lent if (ran := process()) is None or ran.has_ended]
        self._lent = [(home, process) for home, process in self._lent if home not in over]
        for home in over:
            marks = self._marks[home.folder]
            if marks and _marks(home.folder) == marks:
                self._free.append(home)
            else:
                del self._marks[home.folder]
                await self._remove(home.folder)


def _marks(folder: Path) -> tuple[int, ...]:
    """Return what changes with whatever is changed in a home; empty if that cannot be said, or if it is not empty.

    The time of a change has the grain of the kernel's clock, so what it may miss is looked at: entries and modes.
    """
    marks: list[int] = []
    try:
        for path, entries in ((f"{folder}", ["home", "tmp"]), (f"{folder}/home", []), (f"{folder}/tmp", [])):
            about = os.lstat(path)
            if stat.S_IMODE(about.st_mode) != 0o700 or sorted(os.listdir(path)) != entries:  # noqa: PTH208
                return ()
            marks += [about.st_ino, about.st_mode, about.st_ctime_ns]
    except OSError:
        return ()
    return tuple(marks)
