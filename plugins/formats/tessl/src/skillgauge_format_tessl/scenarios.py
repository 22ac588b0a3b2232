"""Find scenarios: folders with a task and a checklist, in groups or not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import Origin, Problem

from .claiming import CAPABILITY, CRITERIA, EVALS, SCENARIO, TASK, evals_around, is_scenario
from .reading import TOP, warning

FILES = (TASK, CRITERIA, CAPABILITY, SCENARIO)
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "dist", "build"})
"""Folders that no search of skillgauge enters."""
_DEEPEST = 4
"""Levels of folders that are searched below a named one."""


@dataclass(frozen=True)
class Scenario:
    """A folder that is a scenario, or should be one."""

    root: Path
    """The folder of all scenarios of its suite."""
    folder: Path

    @property
    def id(self) -> str:
        """Its folder, relative to that of all scenarios."""
        return self.folder.relative_to(self.root).as_posix()

    def file(self, name: str) -> Path:
        """One of its files."""
        return self.folder / name


def scenarios_at(path: Path) -> tuple[Scenario, ...]:
    """The scenarios that a path stands for: the one that it is or belongs to, or all below a folder."""
    folder = Path(os.path.normpath(path))
    if folder.name in FILES and not folder.is_dir():
        folder = folder.parent
    if folder.name != EVALS and _has_part(folder):
        return (Scenario(evals_around(folder) or folder.parent, folder),)
    complete = (inner for inner in _folders(folder) if is_scenario(inner))
    return tuple(Scenario(evals_around(inner) or folder, inner) for inner in complete)


def incomplete(root: Path) -> Iterator[Problem]:
    """Yield a warning for each folder that has one of the two files, and so is no scenario to anybody."""
    for folder in _folders(root):
        if is_scenario(folder) or not _has_part(folder):
            continue
        present, missing = (TASK, CRITERIA) if (folder / TASK).is_file() else (CRITERIA, TASK)
        place = folder.relative_to(root).as_posix()
        message = f"{place!r} has {present} and no {missing}, so it is no scenario and is not run"
        origin = Origin(str(folder / present), place=TOP)
        yield warning("incomplete", message, origin, f"Write {missing} beside it, or remove the folder.")


def _has_part(folder: Path) -> bool:
    return (folder / TASK).is_file() or (folder / CRITERIA).is_file()


def _folders(folder: Path, depth: int = _DEEPEST) -> Iterator[Path]:
    """Yield the folders below one, without what lies in scenarios: that is theirs."""
    try:
        inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return
    for path in inner:
        if path.name.startswith(".") or path.name in SKIPPED_FOLDERS:
            continue
        yield path
        if depth > 1 and not is_scenario(path):
            yield from _folders(path, depth - 1)
