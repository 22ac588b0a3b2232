"""The repository of a suite, which its paths may not leave, and the `.vally.yaml` in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import host_environment

SETTINGS = ".vally.yaml"
_UP = 12
"""Folders above a file in which its repository is looked for."""


@dataclass(frozen=True)
class Repository:
    """The folders around a suite from which it may take files."""

    root: Path
    settings: Path | None
    """The `.vally.yaml` that is nearest to the suite."""


def repository_of(file: Path) -> Repository:
    """Return the repository of a file: up to the nearest `.git`, else to `.vally.yaml`, else its own folder."""
    folders = list(_around(file))
    root = next((folder for folder in folders if (folder / ".git").exists()), None)
    inside = folders if root is None else folders[: folders.index(root) + 1]
    settings = next((folder / SETTINGS for folder in inside if (folder / SETTINGS).is_file()), None)
    if root is None:
        root = settings.parent if settings is not None else file.parent.absolute()
    return Repository(root, settings)


def _around(file: Path) -> Iterator[Path]:
    """Yield the folders around a file, the nearest first.

    A home with dotfiles under version control is no repository of a suite that was put somewhere below it.
    """
    here = file.parent.absolute()
    home = Path(host_environment().get("HOME") or "/").absolute()
    yield from (folder for folder in (here, *here.parents[:_UP]) if not home.is_relative_to(folder))
