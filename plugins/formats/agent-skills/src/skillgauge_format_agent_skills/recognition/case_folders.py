"""Recognise cases of other tools that are folders, so that none is passed over in silence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .packages import MANIFESTS
from .shapes import CASE_FOLDER, PACKAGE, SCENARIO, Foreign
from .sources import EVALS_FOLDER

_LEVELS = 4
"""Levels of folders below `evals` that are looked at."""


def foreign_file(path: Path) -> Foreign | None:
    """Return what a file belongs to that is recognised by its place; `None` for any other file."""
    if path.name in MANIFESTS:
        return PACKAGE
    folder = path.parent
    if EVALS_FOLDER not in folder.parent.parts:
        return None
    if path.name in ("prompt.md", "case.yaml") and (folder / "graders").is_dir():
        return CASE_FOLDER
    if path.name == "task.md" and (folder / "criteria.json").is_file():
        return SCENARIO
    return None


def case_folders(skill: Path) -> tuple[Path, ...]:
    """Return the folders below the evals of a skill that are cases of another tool."""
    return tuple(_cases_in(skill / EVALS_FOLDER, _LEVELS))


def _cases_in(folder: Path, levels: int) -> Iterator[Path]:
    try:
        inner = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    except OSError:
        return
    for place in (one for one in inner if one.is_dir()):
        if any(foreign_file(file) for file in place.iterdir() if file.is_file()):
            yield place
        elif levels > 1:
            yield from _cases_in(place, levels - 1)
