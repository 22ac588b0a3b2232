"""Pack the files that an agent left in its folder, and find what in it would keep a program busy for ever."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from skillgauge.api import PackedFile, PackedKind, SpoiledError

from ._tree import LARGEST_READ, Manifest, quoted

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_KINDS: dict[int, PackedKind] = {stat.S_IFREG: "file", stat.S_IFLNK: "link", stat.S_IFDIR: "folder"}


def obstacles(root: Path) -> str:
    """Return the things in an agent's folder that keep a program from its end that reads it, in plain words.

    Pipes that nobody writes to, devices, links that leave the folder, files of which there is no end.
    """
    obstacles_: list[str] = []
    try:
        for path, status in Manifest(root).entries():
            if obstacle := _obstacle(path, status, root):
                obstacles_.append(f"{quoted(path[len(str(root)) + 1 :])} is {obstacle}")
            if len(obstacles_) >= 3:
                break
    except SpoiledError as error:
        obstacles_.append(str(error))
    return "; ".join(obstacles_)


def _obstacle(path: str, status: os.stat_result, root: Path) -> str | None:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return None if Path(os.path.realpath(path)).is_relative_to(root) else "a link to elsewhere"
    if not stat.S_ISREG(mode):
        return "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return f"a file of {status.st_size} bytes" if status.st_size > LARGEST_READ else None


def packed(root: Path, limit: int) -> tuple[PackedFile, ...]:
    """Return a folder and all below it, read without following a link; not all if contents exceed a limit.

    Raises:
        OSError: something cannot be read.
    """
    files, size = list[PackedFile](), 0
    for file in _files(str(root), limit):
        files.append(file)
        size += len(file.content)
        if size > limit:
            break
    return tuple(files)


def packed_in_memory(files: Iterable[tuple[str, bytes, bool]]) -> tuple[PackedFile, ...]:
    """The same of files that are not on disk yet, as they would be there.

    Args:
        files: relative path, content, and whether it can be executed.
    """
    now = int(time.time())
    by_path = {".": PackedFile(".", "folder", 0o700, now)}
    for path, content, executable in files:
        for folder in map(str, Path(path).parents):
            by_path.setdefault(folder, PackedFile(folder, "folder", 0o755, now))
        by_path[path] = PackedFile(path, "file", 0o755 if executable else 0o644, now, content)
    return tuple(by_path[path] for path in sorted(by_path))


def _files(root: str, limit: int) -> Iterator[PackedFile]:
    """Yield everything below a folder and itself, each read in the folder that was entered, whatever replaces it."""
    for path, folders, names, here in os.fwalk(root, onerror=_raise):
        place = path[len(root) + 1 :]
        yield PackedFile(place or ".", *_facts(os.fstat(here)))
        for name in (*folders, *names):
            with suppress(FileNotFoundError):  # removed meanwhile
                status = os.stat(name, dir_fd=here, follow_symlinks=False)
                kind, mode, mtime = _facts(status)
                if kind == "folder" or stat.S_ISSOCK(status.st_mode):  # `tar` leaves sockets out, too
                    continue
                content = _content(name, here, limit) if kind == "file" else b""
                target = os.readlink(name, dir_fd=here) if kind == "link" else ""
                yield PackedFile(f"{place}/{name}" if place else name, kind, mode, mtime, content, target)


def _facts(status: os.stat_result) -> tuple[PackedKind, int, int]:
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "other")
    return kind, stat.S_IMODE(status.st_mode), int(status.st_mtime)


def _content(name: str, folder: int, limit: int) -> bytes:
    """The content of a file up to one byte more than a limit."""
    with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
        return file.read(limit + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""


def _raise(error: OSError) -> None:
    raise error
