"""The distributions of this workspace, read from the working tree; the scripts beside this file share it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent

BUNDLE = "skillgauge"
"""The distribution that people install; it has no code of its own."""
KINDS = {
    "adapters": "adapter",
    "commands": "command",
    "engines": "engine",
    "executors": "executor",
    "extensions": "extension",
    "formats": "format",
    "judges": "judge",
    "reporters": "reporter",
    "sandboxes": "sandbox",
    "scorers": "scorer",
    "stores": "store",
}
"""Folder below `plugins/`, which is also the entry-point group's last part -> the word in a distribution's name."""


@dataclass(frozen=True)
class Member:
    """One distribution: its folder and what its `pyproject.toml` says."""

    folder: Path
    pyproject: dict[str, Any]

    @property
    def name(self) -> str:
        """The distribution's name."""
        return str(self.pyproject["project"]["name"])

    @property
    def version(self) -> str:
        """The distribution's version."""
        return str(self.pyproject["project"]["version"])

    @property
    def module(self) -> str:
        """The import name as the build back end is told it; empty for the code-less bundle."""
        return str(self.pyproject["tool"]["uv"]["build-backend"]["module-name"] or "")

    @property
    def requirements(self) -> list[str]:
        """Every run-time requirement, those of extras included."""
        project = self.pyproject["project"]
        extras = project.get("optional-dependencies", {}).values()
        return [*project.get("dependencies", []), *(text for extra in extras for text in extra)]


@cache
def read(folder: Path) -> Member:
    """The member in `folder`, which no script changes."""
    return Member(folder, tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")))


def plugins() -> list[Member]:
    """Every plugin of the workspace, in the order of their folders."""
    return [read(path.parent) for path in sorted(ROOT.glob("plugins/*/*/pyproject.toml"))]


def foundations() -> list[Member]:
    """Libraries that the core stands on, and that know nothing of it."""
    needed = {Requirement(text).name for text in read(ROOT / "core").requirements}
    return [member for member in _libraries() if member.name in needed]


def libraries() -> list[Member]:
    """What several plugins have in common and the core must not know; to a plugin they are third-party code."""
    below = {member.name for member in foundations()}
    return [member for member in _libraries() if member.name not in below]


def _libraries() -> list[Member]:
    return [read(path.parent) for path in sorted(ROOT.glob("libraries/*/pyproject.toml"))]


def workspace() -> list[Member]:
    """Every distribution: the bundle, what the core stands on, the core, the libraries, the plugins."""
    return [read(ROOT), *foundations(), read(ROOT / "core"), *libraries(), *plugins()]
