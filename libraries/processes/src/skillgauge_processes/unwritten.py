"""The files of a workspace that no process and no reader has needed on disk yet.

Most sessions without processes read the files that were put there, if at all, and change none. Their content is kept in
memory then, and shared by all workspaces that were given the same file. Memory is never shared with a process: what
runs in a workspace finds files of its own there, written when the folders are made.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from time import time_ns

from skillgauge.api import FileSpec
from skillgauge_documents.immutables import immutable

from ._tree import BYTES_AT_ONCE, FILES_AT_ONCE

_LARGEST = 64 * 1024
"""Bytes of a file that is kept in memory."""
_PLAIN = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}|\.[A-Za-z0-9_-][A-Za-z0-9._-]{0,98})")
"""A name that means the same on every file system."""
_LONGEST_PATH = 500
_SETTLED_NS = 2_000_000_000
"""Age of a file from which on its times tell whether it has changed: a file system counts in steps."""


@immutable
class Content:
    """The content of a file, read once."""

    data: bytes

    @cached_property
    def digest(self) -> str:
        """Its SHA-256."""
        return hashlib.sha256(self.data).hexdigest()


class Unwritten:
    """Files that were put into a workspace whose folders are not made."""

    def __init__(self) -> None:
        self._contents: dict[str, tuple[Content, bool]] = {}
        self._folded: dict[str, str] = {}
        self._size = 0
        self._digests: dict[str, str] | None = None

    def take(self, files: Sequence[FileSpec]) -> bool:
        """Take files; tells whether it did, and takes none where they are many or only a disk knows what they become.

        Args:
            files: see there. A file that is here already is replaced.
        """
        if len(self._contents) + len(files) > FILES_AT_ONCE:
            return False
        folded, contents, size = dict(self._folded), [], self._size
        for file in files:
            if not _fits(file.path, folded) or (content := _content(file)) is None:
                return False
            size += len(content.data)
            contents.append((file.path, (content, file.executable)))
        if size > BYTES_AT_ONCE:
            return False
        self._folded, self._size, self._digests = folded, size, None
        self._contents.update(contents)
        return True

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, and nothing for any other path."""
        held = self._contents.get(path)
        return held[0].data if held else None

    def digests(self) -> Mapping[str, str]:
        """Relative path to SHA-256, sorted."""
        if self._digests is None:
            self._digests = {path: content.digest for path, (content, _) in sorted(self._contents.items())}
        return self._digests

    def files(self) -> Iterable[tuple[str, bytes, bool]]:
        """Path, content, and whether it can be executed, of each file."""
        return ((path, content.data, executable) for path, (content, executable) in self._contents.items())


def _fits(path: str, folded: dict[str, str]) -> bool:
    """Tell whether a path is plain and no other one is in its way; `folded` learns its folders and itself.

    Args:
        path: relative to the root.
        folded: by the path in lower case, the path as it was written, with a slash at the end of a folder.
    """
    names = path.split("/")
    if len(path) > _LONGEST_PATH or not all(map(_PLAIN.fullmatch, names)):
        return False
    for number in range(1, len(names)):
        folder = "/".join(names[:number])
        if folded.setdefault(folder.lower(), f"{folder}/") != f"{folder}/":
            return False
    return folded.setdefault(path.lower(), path) == path


def _content(file: FileSpec) -> Content | None:
    """Return the content of a file as it is now; nothing if that is large or cannot be read."""
    if file.source is None:
        return _of_text(file.text or "") if len(file.text or "") <= _LARGEST else None
    try:
        now = os.stat(file.source)  # noqa: PTH116 - of each session
        if not stat.S_ISREG(now.st_mode) or now.st_size > _LARGEST:
            return None
        if time_ns() - max(now.st_mtime_ns, now.st_ctime_ns) < _SETTLED_NS:
            return Content(Path(file.source).read_bytes())
        return _of_source(file.source, (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns))
    except OSError:
        return None


@lru_cache(maxsize=256)
def _of_text(text: str) -> Content | None:
    try:
        return Content(text.encode())
    except UnicodeEncodeError:
        return None


@lru_cache(maxsize=256)
def _of_source(source: str, _state: tuple[int, ...]) -> Content:
    return Content(Path(source).read_bytes())
