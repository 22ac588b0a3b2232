"""The traces of a program in its private home, read as carefully as anything that an agent could have written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import JsonValue

from .json_lines import parse_line
from .sessions import LINE_BYTES

FILE_BYTES = 256 * 1024 * 1024


def files_in(home: Path, pattern: str) -> tuple[Path, ...]:
    """Files of a home by a glob pattern, sorted, none of them by way of a link."""
    try:
        root = home.resolve()
        paths = sorted(path for path in root.glob(pattern) if path.resolve() == path)
    except OSError:
        return ()
    return tuple(path for path in paths if path.is_file())


class SessionFile:
    """A file of JSON lines into which a program writes down its session.

    Args:
        path: where it lies.
        start: bytes that an earlier turn of the session wrote, which are passed over.
        most: bytes that are read at most.
    """

    def __init__(self, path: Path, start: int = 0, most: int = FILE_BYTES) -> None:
        self._path = path
        self._start = start
        self._most = most
        self.is_cut = False
        """Whether its last line is not finished, as on a full disk; known once all records are read."""

    def records(self) -> Iterator[Mapping[str, JsonValue]]:
        """Objects in its lines; what is none is passed over."""
        for line in lines_of(self._path, self._most, self._start):
            record = parse_line(line)
            self.is_cut = record is None or not line.endswith(b"\n")
            if record is not None:
                yield record


def sizes_in(home: Path, pattern: str) -> dict[Path, int]:
    """Sizes of the files of a home by a glob pattern, in bytes."""
    return {path: path.lstat().st_size for path in files_in(home, pattern)}


def lines_of(path: Path, limit: int = FILE_BYTES, start: int = 0) -> Iterator[bytes]:
    """Lines of a file from a byte on, up to a number of bytes; none if it cannot be read."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with open(path, "rb", opener=lambda name, _mode: os.open(name, flags)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return
            file.seek(start)
            while limit > 0 and (line := file.readline(LINE_BYTES)):
                limit -= len(line)
                yield line
    except OSError:
        return
