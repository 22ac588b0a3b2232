"""The repository of a suite, which its paths may not leave, and the `.vally.yaml` in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skillgauge_skill_folders import folders_around, repository_around

SETTINGS = ".vally.yaml"


@dataclass(frozen=True)
class Repository:
    """The folders around a suite from which it may take files."""

    root: Path
    settings: Path | None
    """The `.vally.yaml` that is nearest to the suite."""


def repository_of(file: Path) -> Repository:
    """Return the repository of a file: up to the nearest `.git`, else to `.vally.yaml`, else its own folder."""
    folders = list(folders_around(file))
    root = repository_around(file)
    inside = folders if root is None else folders[: folders.index(root) + 1]
    settings = next((folder / SETTINGS for folder in inside if (folder / SETTINGS).is_file()), None)
    if root is None:
        root = settings.parent if settings is not None else file.parent.absolute()
    return Repository(root, settings)
