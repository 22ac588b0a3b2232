"""From files that changed to the suites that they belong to, as a hook before a commit has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..contract.formats import SuiteFormat


def around(files: Iterable[Path], formats: Mapping[str, SuiteFormat], cwd: Path) -> tuple[Path, ...]:
    """The nearest folder around each file that a format claims, else the file itself if one does; each once.

    Args:
        files: absolute; one that was removed counts as well.
        formats: formats to ask, by name.
        cwd: no folder above it is looked at.

    Returns:
        None within another, in order. A file that belongs to no suite adds nothing.
    """
    known: dict[Path, bool] = {}

    def claimed(path: Path) -> bool:
        if path not in known:
            known[path] = path.exists() and any(one.claim(path) is not None for one in formats.values())
        return known[path]

    found: set[Path] = set()
    for file in (Path(os.path.normpath(one)) for one in files):
        places = (*_folders(file, cwd), file)
        found.update(next(([place] for place in places if claimed(place)), []))
    return tuple(sorted(one for one in found if found.isdisjoint(one.parents)))


def _folders(file: Path, cwd: Path) -> Iterator[Path]:
    """From the nearest to the working directory, or to the root if the file is not below it."""
    for folder in (file, *file.parents) if file.is_dir() else file.parents:
        yield folder
        if folder == cwd:
            return
