"""The files of a run where they are: walked once, and read by digest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import file_digest, sha256
from pathlib import Path

from .manifest import Entry, Manifest, WrongContentError

LEFT_OUT = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__"})
"""Names of folders that do not travel."""
MOST_FILES = 20_000
MOST_BYTES = 1 << 30
MOST_OF_A_FILE = 100 << 20


class TooMuchError(ValueError):
    """The files of a run are more than should travel; the message names what is too much."""


class Files:
    """The files of a run.

    Args:
        roots: files and folders, by the place where a manifest shows them. Folders are taken with all below them; what
            is not there is left out.
        folders: places of folders that have to be there, whatever travels in them.
    """

    def __init__(self, roots: Mapping[str, Path], folders: Iterable[str] = ()) -> None:
        self._roots = dict(roots)
        self._folders = tuple(folders)
        self._by_digest: dict[str, Path] = {}

    @cached_property
    def manifest(self) -> Manifest:
        """The list of the files, as they are when it is first asked for.

        Raises:
            TooMuchError: they are more than 20,000, or 1 GiB, or one is larger than 100 MiB.
            OSError: one cannot be read.
        """
        entries: dict[str, Entry] = {}
        folders = {*self._folders}
        total = 0
        for place, root in sorted(self._roots.items()):
            if root.is_dir():
                folders.add(place)
            for found, path in _below(place, root):
                if found in entries:
                    continue
                entry = entries[found] = _entry(path, found)
                self._by_digest[entry.digest] = path
                total += entry.size
                if len(entries) > MOST_FILES or total > MOST_BYTES:
                    raise TooMuchError(f"{place} and what else belongs to the run is more than {_MOST}")
        return Manifest(files=entries, folders=tuple(sorted(folders)))

    def read(self, digest: str) -> bytes:
        """Return the content of a file of the manifest.

        Raises:
            KeyError: the manifest names no such digest.
            WrongContentError: the file has changed since.
            OSError: it cannot be read.
        """
        _ = self.manifest
        path = self._by_digest[digest]
        content = path.read_bytes()
        if sha256(content).hexdigest() != digest:
            raise WrongContentError(f"{path} has changed since the run began")
        return content


_MOST = f"{MOST_FILES:,} files or {MOST_BYTES >> 20:,} MiB"


def _below(place: str, root: Path) -> Iterator[tuple[str, Path]]:
    """Return the regular files of a root with their places; links are not followed below it."""
    if root.is_file():
        yield place, root
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield os.path.normpath(f"{place}/{path.relative_to(root).as_posix()}"), path


def _entry(path: Path, place: str) -> Entry:
    with path.open("rb") as stream:
        state = os.fstat(stream.fileno())
        if state.st_size > MOST_OF_A_FILE:
            raise TooMuchError(f"{place} has more than {MOST_OF_A_FILE >> 20} MiB")
        found = file_digest(stream, "sha256").hexdigest()
    return Entry(digest=found, size=state.st_size, executable=bool(state.st_mode & 0o100))
