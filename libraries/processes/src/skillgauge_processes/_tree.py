"""The files of a workspace: written, listed and read without following links, whatever an agent has made of them."""

from __future__ import annotations

import errno
import hashlib
import itertools
import math
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from skillgauge.api import FileSpec, SpoiledError

FILES_AT_ONCE = 64
BYTES_AT_ONCE = 1024 * 1024
"""What of a workspace's files is written or read at once; more is left to a thread, so that nobody else is held up.
To hand work to a thread and back costs more than a few small files do, and slows every other thread down."""
MOST_ENTRIES = 200_000
"""Files and folders that a snapshot lists. Whoever makes more does not do a task, but keeps us from grading it."""
LARGEST_READ = 64 * 1024 * 1024
"""Bytes of a file whose content is compared; of a larger one size and time of the last change are."""
_DENSE = 1024 * 1024
"""Bytes of a file that is read although most of it is not on disk."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_ESCAPED = re.compile(rb"\\x([89a-f][0-9a-f])")
_NOBODYS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO})
"""Errors of the machine."""

SetAside = Callable[[int, str], None]
"""Takes what is in the way out of a folder, given by its descriptor."""


def put_all(root: Path, files: Sequence[FileSpec], set_aside: SetAside | None = None) -> None:
    """Write files below a root, each at once or not at all.

    Args:
        root: a folder.
        files: see there.
        set_aside: called for a link or a file where a folder belongs, or a folder where a file does.

    Raises:
        ValueError: a path leaves the root, by itself or through a link; nothing of that file is written.
    """
    for file in files:
        _put(root, file, set_aside)


def write_all(root: Path, files: Iterable[tuple[str, bytes, bool]]) -> None:
    """Write files into a root that nobody else has seen yet.

    Args:
        root: a folder, empty.
        files: relative path, content, and whether it can be executed.
    """
    folders = {str(root)}
    for path, content, executable in files:
        place = f"{root}/{path}"
        if (folder := place.rpartition("/")[0]) not in folders:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - of each session
            folders.add(folder)
        with open(place, "wb", opener=_executable if executable else _not_executable) as sink:
            sink.write(content)


def is_little(files: Sequence[FileSpec]) -> bool:
    """Tell whether writing takes less time than handing it to a thread."""
    if len(files) > FILES_AT_ONCE:
        return False
    try:
        sizes = [len(file.text or "") if file.source is None else os.stat(file.source).st_size for file in files]  # noqa: PTH116 - of each session
    except OSError:
        return False
    return sum(sizes) <= BYTES_AT_ONCE


def lay_anew(root: Path, files: Sequence[FileSpec], graders_files: Collection[str], aside: Path) -> tuple[str, ...]:
    """Put the files of graders where an agent was at work, and what is in their way aside.

    Args:
        root: the agent's working directory.
        files: of graders. A folder that has nothing but such files is theirs alone, and emptied first.
        graders_files: paths of other files that were put there before.
        aside: where what is in the way is moved.

    Returns:
        What was moved, relative to the root.

    Raises:
        SpoiledError: it cannot be moved.
    """
    moved: list[str] = []
    numbers = itertools.count()

    def set_aside(folder: int, name: str) -> None:
        aside.mkdir(mode=0o700, exist_ok=True)
        with suppress(OSError):  # the parent of a folder cannot change without a right to write to it
            if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
                os.chmod(name, 0o700, dir_fd=folder)
        os.rename(name, f"{aside}/{next(numbers)}.{name[:100]}", src_dir_fd=folder)
        moved.append(name)

    try:
        _repair(root, aside)
        own = sorted(_own_folders(files, graders_files))
        for path in _links_into(root, [*own, *(file.path for file in files)]):
            _empty(root, path, set_aside)  # else an answer that leads to what is expected is right
        for folder in own:
            _empty(root, folder, set_aside)
        put_all(root, files, set_aside)
    except OSError as error:
        if error.errno in _NOBODYS:
            raise
        raise SpoiledError(f"files of graders find no place in what the agent left: {error.strerror}") from error
    return tuple(moved)


def _repair(root: Path, aside: Path) -> None:
    """Make the root a folder that we may enter, whatever the agent made of it."""
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(root.lstat().st_mode):
            aside.mkdir(mode=0o700, exist_ok=True)
            root.rename(aside / "root")
    root.mkdir(mode=0o700, exist_ok=True)
    mode = stat.S_IMODE(root.lstat().st_mode)
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        root.chmod(mode | stat.S_IRWXU)


def _own_folders(files: Sequence[FileSpec], graders_files: Collection[str]) -> set[str]:
    """The outermost folders in which nothing lies but these files, as far as it was put there."""
    shared = {folder for path in graders_files for folder in _folders_of(path)}
    own = ([one for one in _folders_of(file.path) if one not in shared] for file in files)
    return {folders[0] for folders in own if folders}


def _links_into(root: Path, places: Sequence[str]) -> list[str]:
    """Links anywhere below the root that lead to one of these places in it, relative to the root."""
    goals = [str(root / place) for place in places]
    links = []
    for path, status in Manifest(root).entries() if goals else ():
        if stat.S_ISLNK(status.st_mode):
            end = os.path.realpath(path)
            if any(end == goal or end.startswith(f"{goal}/") for goal in goals):
                links.append(path[len(str(root)) + 1 :])
    return links


def _folders_of(path: str) -> list[str]:
    """The folders of a path below the root, from the outermost on."""
    parts = [part for part in path.split("/") if part not in ("", ".")][:-1]
    return ["/".join(parts[:number]) for number in range(1, len(parts) + 1)]


def _empty(root: Path, folder: str, set_aside: SetAside) -> None:
    *around, name = folder.split("/")
    with suppress(FileNotFoundError):
        fd = _entered(root, around, set_aside, make=False)
        try:
            os.lstat(name, dir_fd=fd)
            set_aside(fd, name)
        finally:
            os.close(fd)


def _put(root: Path, file: FileSpec, set_aside: SetAside | None) -> None:
    """Write one file. Folders are opened one inside the other, so no link is followed, however late it appears."""
    *folders, name = [part for part in file.path.split("/") if part != "."] or [""]
    if file.path.startswith("/") or {"", ".."} & {*folders, name}:
        raise ValueError(f"path {file.path!r} does not stay inside the workspace")
    try:
        fd = _entered(root, folders, set_aside)
    except NotADirectoryError as error:
        raise ValueError(f"path {file.path!r} crosses a link or a file at {error.filename!r}") from error
    try:
        _replace(fd, name, file, set_aside)
    finally:
        os.close(fd)


def _entered(root: Path, folders: Sequence[str], set_aside: SetAside | None, *, make: bool = True) -> int:
    """A descriptor of a folder below the root.

    Raises:
        NotADirectoryError: there is a link or a file in its place, and nobody to set it aside.
    """
    fd = os.open(root, _FOLDER)
    try:
        for folder in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=fd)
            inner = _opened(fd, folder, set_aside)
            os.close(fd)
            fd = inner
    except BaseException:
        os.close(fd)
        raise
    return fd


def _opened(fd: int, folder: str, set_aside: SetAside | None) -> int:
    try:
        return os.open(folder, _FOLDER, dir_fd=fd)
    except PermissionError:
        if set_aside is None:
            raise
        os.chmod(folder, 0o700, dir_fd=fd)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        if set_aside is None:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from error
        set_aside(fd, folder)
        os.mkdir(folder, dir_fd=fd)
    return os.open(folder, _FOLDER, dir_fd=fd)


def _replace(folder: int, name: str, file: FileSpec, set_aside: SetAside | None) -> None:
    temporary = f".skillgauge-{secrets.token_hex(8)}"
    try:
        target = os.open(temporary, _CREATE, 0o755 if file.executable else 0o644, dir_fd=folder)
    except PermissionError:
        if set_aside is None:
            raise
        os.fchmod(folder, 0o700)
        target = os.open(temporary, _CREATE, 0o755 if file.executable else 0o644, dir_fd=folder)
    try:
        with os.fdopen(target, "wb") as sink:
            if file.source is None:
                sink.write((file.text or "").encode())
            else:
                with Path(file.source).open("rb") as source:
                    shutil.copyfileobj(source, sink)
        try:
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except IsADirectoryError:
            if set_aside is None:
                raise
            set_aside(folder, name)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise


class Manifest:
    """The digests of all files below a folder, read in one piece or in several."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._found = self.entries()
        self._digests: dict[str, str] = {}

    @property
    def digests(self) -> dict[str, str]:
        """Relative path to digest, of what was read, sorted."""
        return dict(sorted(self._digests.items()))

    def read(self, files: float = math.inf, size: float = math.inf) -> bool:
        """Read on; tells whether all was read, or else as many entries or bytes as are given here.

        Raises:
            SpoiledError: there is more than can be listed.
        """
        for path, status in self._found:
            with suppress(FileNotFoundError):  # removed meanwhile
                if entry := _content_digest(path, status):
                    self._digests[quoted(path[len(self._root) + 1 :])] = entry
            files, size = files - 1, size - min(status.st_size, LARGEST_READ)
            if files <= 0 or size <= 0:
                return False
        return True

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """Path and status of everything that is no folder.

        Raises:
            SpoiledError: there is more than can be listed.
        """
        if not os.path.isdir(self._root) or os.path.islink(self._root):  # noqa: PTH112, PTH114 - it is a string
            raise SpoiledError("the agent removed the folder that it works in")
        waiting, count = [self._root], 0
        while waiting:
            try:
                entries = os.scandir(waiting.pop())
            except OSError as error:
                _require_short(error)
                continue
            with entries:  # nothing is handed out meanwhile: who stops asking would leave the folder open
                here = list(itertools.islice(entries, MOST_ENTRIES - count + 1))
            count += len(here)
            if count > MOST_ENTRIES:
                raise SpoiledError(f"the agent left more than {MOST_ENTRIES} files and folders")
            for entry in here:
                if status := _status(entry):
                    if stat.S_ISDIR(status.st_mode):
                        waiting.append(entry.path)
                    else:
                        yield entry.path, status


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        _require_short(error)
        raise


def _require_short(error: OSError) -> None:
    if error.errno == errno.ENAMETOOLONG:
        raise SpoiledError("the agent left folders so deep that their paths are too long") from error


def quoted(path: str) -> str:
    """A name that is not UTF-8 must not spoil the JSON that this ends up in."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _content_digest(path: str, status: os.stat_result) -> str | None:
    """Digest of a file's content or a link's text; `None` for what is neither."""
    if stat.S_ISLNK(status.st_mode):
        return hashlib.sha256(b"link:" + os.fsencode(os.readlink(path))).hexdigest()  # noqa: PTH115 - of each file
    if not stat.S_ISREG(status.st_mode):
        return None
    size = status.st_size
    if size > LARGEST_READ or (size > _DENSE and status.st_blocks * 512 < size // 2):
        return f"{size} bytes, changed at {status.st_ctime_ns}"
    try:
        with open(path, "rb", opener=_open_plain) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        return "unreadable"
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link by now
            return None
        raise


def _executable(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_LINK, 0o755)


def _not_executable(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_LINK, 0o644)


def _open_plain(path: str, _flags: int) -> int:
    return os.open(path, _READ)


def read_below(root: Path, path: str, limit: int) -> bytes:
    """Read a regular file below a root, given as a snapshot names it.

    Raises:
        ValueError: the path leaves the root, by itself or through a link.
        OSError: it cannot be read, or is not a regular file.
    """
    resolved = os.path.realpath(root / path)
    if not os.path.lexists(resolved) and "\\x" in path:
        resolved = os.path.realpath(root / os.fsdecode(_ESCAPED.sub(_byte, path.encode())))
    if not Path(resolved).is_relative_to(root):
        raise ValueError(f"path {path!r} does not stay inside the workspace")
    with open(resolved, "rb", opener=_open_plain) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path!r} is not a regular file")
        return file.read(limit)


def _byte(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 16)])
