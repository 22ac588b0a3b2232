"""Control groups, where this account may make some: limits that hold for all processes of a workspace together.

They are the only limit on the number of processes that holds for root. Each group has a group inside, in which the
processes are: whoever mounts a view of the groups from within finds himself at the top of the inner one, and may
change the limits of that one only.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from skillgauge_documents.immutables import immutable

_PREFIX = "skillgauge-"
_INNER = "processes"
_REMOVE_S = 2.0
_numbers = itertools.count()


@immutable
class Place:
    """A folder in which groups can be made, and which controllers these have."""

    folder: Path
    limits: Mapping[str, str]
    """Controller to the file that takes its limit."""


_V1 = {"pids": "pids.max", "memory": "memory.limit_in_bytes"}
_KILLS = ("memory.oom_control", "memory.events")
"""Files that count the processes killed for want of memory, in the first and in the second version."""
_V2 = {"pids": "pids.max", "memory": "memory.max"}


@immutable
class Group:
    """The control groups of one workspace, one in each hierarchy that limits something."""

    folders: tuple[Path, ...]
    limited: frozenset[str]
    """Controllers in force: `pids`, `memory`."""

    @cached_property  # each command asks, and the files stay
    def joined_by(self) -> tuple[Path, ...]:
        """Files to which a process of one thread writes 0 to become a member."""
        return tuple(_joined_by(folder / _INNER) for folder in self.folders)

    @property
    def has_run_out_of_memory(self) -> bool:
        """True if the kernel has killed one of its processes for want of memory, the sandbox's own included."""
        files = [folder / name / file for folder in self.folders for name in ("", _INNER) for file in _KILLS]
        return any(_kills(file) for file in files)

    def remove(self) -> bool:
        """Remove it, once its processes have ended; tells whether it is gone."""
        until = time.monotonic() + _REMOVE_S
        remaining = [path for folder in self.folders for path in (folder / _INNER, folder)]
        while remaining and time.monotonic() < until:
            remaining = [path for path in remaining if not _removed(path)]
            if remaining:
                time.sleep(0.01)
        return not remaining


def make_group(places: Sequence[Place], limits: Mapping[str, int]) -> Group:
    """Make a group with limits, as far as that is possible here.

    Args:
        places: as `find_places` tells.
        limits: controller to number of processes, or bytes.
    """
    name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
    folders: list[Path] = []
    limited: set[str] = set()
    for place in places:
        folder = place.folder / name
        try:
            folder.mkdir(exist_ok=True)  # two controllers may share a hierarchy
            with suppress(OSError):
                _write(folder, "memory.use_hierarchy", "1")
            for controller, file in place.limits.items():
                _write(folder, file, str(limits[controller]))
            if "memory" in place.limits:
                for swap, value in (("memory.swap.max", "0"), ("memory.memsw.limit_in_bytes", str(limits["memory"]))):
                    with suppress(OSError):  # the kernel counts no swap, or has the other version's file
                        _write(folder, swap, value)
            (folder / _INNER).mkdir(exist_ok=True)
        except OSError:
            _removed(folder)
            continue
        if folder not in folders:
            folders.append(folder)
        limited |= set(place.limits)
    return Group(tuple(folders), frozenset(limited))


def _write(folder: Path, file: str, value: str) -> None:
    """Write to a file of a group. One that the kernel does not have is not asked for, which `Path.write_text` does."""
    handle = os.open(f"{folder}/{file}", os.O_WRONLY)
    try:
        os.write(handle, value.encode())
    finally:
        os.close(handle)


def find_places() -> tuple[Place, ...]:
    """Find the places where groups may be made. Writing there shows whether they can; see `make_group`."""
    try:
        member_of = Path("/proc/self/cgroup").read_text()
        mounts = Path("/proc/self/mountinfo").read_text()
    except OSError:
        return ()
    places = list(places_in(member_of, mounts))
    for place in places:
        _sweep(place.folder)
    return tuple(places)


def places_in(member_of: str, mounts: str) -> Iterator[Place]:
    """Places that the kernel's own words name.

    Args:
        member_of: content of /proc/self/cgroup.
        mounts: content of /proc/self/mountinfo.
    """
    paths = _paths_by_controller(member_of)
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        root, mount_point = before.split()[3:5]
        kind, _, options = after.split(maxsplit=2)
        if kind == "cgroup":
            for controller in sorted(_V1.keys() & set(options.split(","))):
                if controller in paths and (folder := _below(mount_point, root, paths[controller])):
                    yield Place(folder, {controller: _V1[controller]})
        elif kind == "cgroup2" and "" in paths and (folder := _below(mount_point, root, paths[""])):
            yield from _beside(folder, Path(mount_point))


def _paths_by_controller(member_of: str) -> dict[str, str]:
    """Return the group of this process by controller; that of version 2 by an empty name."""
    paths = {}
    for line in member_of.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    return paths


def _beside(folder: Path, mount_point: Path) -> Iterator[Place]:
    """Yield the place beside our own group: one with processes in it hands no controllers down."""
    place = folder.parent if folder != mount_point else folder
    with suppress(OSError):
        controllers = set((place / "cgroup.subtree_control").read_text().split())
        limits = {name: file for name, file in _V2.items() if name in controllers}
        if limits:
            yield Place(place, limits)


def _joined_by(folder: Path) -> Path:
    """The first version has a file that moves a thread: for what moves a process, the kernel stops all forks first.

    That takes 10 ms if nobody did so just before.
    """
    threads = folder / "tasks"
    return threads if threads.exists() else folder / "cgroup.procs"


def _below(mount_point: str, root: str, path: str) -> Path | None:
    """The folder of a group, if the mount shows it."""
    if root == "/":
        return Path(mount_point, path.lstrip("/"))
    inner = Path(path)
    return Path(mount_point, inner.relative_to(root)) if inner.is_relative_to(root) else None


def _sweep(folder: Path) -> None:
    """Remove what an earlier process of ours left behind when it was killed."""
    for path in folder.glob(f"{_PREFIX}*"):
        pid = path.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not Path("/proc", pid).exists():
            _removed(path / _INNER)
            _removed(path)


def _kills(file: Path) -> int:
    """Return the number of processes that the kernel killed by what a file of a group tells; 0 if it is not there."""
    with suppress(OSError, ValueError):
        for line in file.read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return 0


def _removed(folder: Path) -> bool:
    """Remove a folder; tells whether it is gone."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
