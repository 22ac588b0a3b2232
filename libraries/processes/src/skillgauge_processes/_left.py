"""Pack the files that an agent left in its folder, and find what in it would keep a program busy for ever."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from skillgauge.api import SpoiledError

from ._tree import LARGEST_READ, Manifest, quoted

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_Member = tuple[tarfile.TarInfo, bytes]


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


def packed(root: Path, limit: int) -> bytes | None:
    """Return an archive of all below a folder, read without following a link; `None` if it is longer than a limit.

    Raises:
        OSError: something cannot be read.
    """
    return _archive(_members(str(root), limit), limit)


def packed_in_memory(files: Iterable[tuple[str, bytes, bool]], limit: int) -> bytes | None:
    """The same of files that are not on disk yet, as they would be there.

    Args:
        files: relative path, content, and whether it can be executed.
        limit: bytes of the archive.
    """
    now = time.time()
    members = {".": (_member(".", stat.S_IFDIR | 0o700, now), b"")}
    for path, content, executable in files:
        for folder in Path(path).parents:
            members.setdefault(str(folder), (_member(str(folder), stat.S_IFDIR | 0o755, now), b""))
        members[path] = _member(path, stat.S_IFREG | (0o755 if executable else 0o644), now), content
    return _archive((members[path] for path in sorted(members)), limit)


def _archive(members: Iterable[_Member], limit: int) -> bytes | None:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
            if written.tell() > limit:
                return None
    return written.getvalue()


def _members(root: str, limit: int) -> Iterator[_Member]:
    """Yield everything below a folder and itself, each read in the folder that was entered, whatever replaces it."""
    for path, folders, names, here in os.fwalk(root, onerror=_raise):
        place = f".{path[len(root) :]}"
        own = os.fstat(here)
        yield _member(place, own.st_mode, own.st_mtime), b""
        for name in (*folders, *names):
            with suppress(FileNotFoundError):  # removed meanwhile
                status = os.stat(name, dir_fd=here, follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode) or stat.S_ISSOCK(status.st_mode):  # `tar` leaves sockets out, too
                    continue
                member = _member(f"{place}/{name}", status.st_mode, status.st_mtime)
                if member.issym():
                    member.linkname = os.readlink(name, dir_fd=here)
                yield member, _content(name, here, limit) if member.isreg() else b""


def _member(path: str, mode: int, mtime: float) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    kinds = {stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFLNK: tarfile.SYMTYPE, stat.S_IFREG: tarfile.REGTYPE}
    member.type = kinds.get(stat.S_IFMT(mode), tarfile.FIFOTYPE)  # a pipe, or a device, of which nobody takes more
    member.mode, member.mtime = stat.S_IMODE(mode), int(mtime)
    return member


def _content(name: str, folder: int, limit: int) -> bytes:
    """The content of a file up to one byte more than a limit."""
    with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
        return file.read(limit + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""


def _raise(error: OSError) -> None:
    raise error
