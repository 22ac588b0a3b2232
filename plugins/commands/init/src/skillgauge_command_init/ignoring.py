"""Results that git would take along: reports and the store, which belong in no repository."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

RESULTS = ("reports/", "skillgauge.db")
"""Made by `eval` with its default settings."""
_GITIGNORE = ".gitignore"


def unignored(folder: Path) -> tuple[str, ...]:
    """Return the results that no `.gitignore` between a folder and the top of its repository names.

    Args:
        folder: where skillgauge will be run.

    Returns:
        Names for a `.gitignore` in that folder; none outside of a git repository.
    """
    root = _repository(folder.absolute())
    if root is None:
        return ()
    patterns = [pattern for place in _up_to(folder.absolute(), root) for pattern in _patterns(place / _GITIGNORE)]
    return tuple(name for name in RESULTS if not any(_names(pattern, name) for pattern in patterns))


def _repository(folder: Path) -> Path | None:
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def _up_to(folder: Path, root: Path) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        yield place
        if place == root:
            return


def _patterns(file: Path) -> list[str]:
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip() and not line.startswith(("#", "!"))]


def _names(pattern: str, name: str) -> bool:
    return fnmatchcase(name.rstrip("/"), pattern.strip("/").removeprefix("**/"))
