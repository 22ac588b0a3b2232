"""A file of agentv and its repository: paths may leave the folder of the file, and not the repository."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import Problem, host_environment
from skillgauge_assertions import FILE, Node, Reading
from skillgauge_skill_folders import contained

_UP = 8
"""Folders above a file in which its repository is looked for."""


@dataclass
class AgentvReading(Reading):
    """One file with what is wrong with it."""

    def __post_init__(self) -> None:
        here = self.root.absolute()
        # A home with dotfiles under version control is no repository of a suite that was put somewhere below it.
        home = Path(host_environment().get("HOME") or "/").absolute()
        around = (one for one in (here, *here.parents[:_UP]) if not home.is_relative_to(one))
        self.repository = next((one for one in around if (one / ".git").exists()), here)

    def place(self, written: str) -> Path | None:
        """Return the file that a path means: below the repository, from its root on with a `/` before it."""
        plain = written.removeprefix(FILE)
        if plain.startswith("/"):
            return contained(self.repository, plain.lstrip("/"))
        start = os.path.relpath(self.root.absolute(), self.repository)
        return contained(self.repository, os.path.normpath(os.path.join(start, plain)))  # noqa: PTH118 - no link yet

    def path(self, node: Node, written: str) -> Path | None:
        """The file that is named, which has to be in the repository."""
        place = self.place(written)
        if place is not None and place.is_file():
            return place
        hint = "Paths start at the file, with a / at the root of its repository, and do not leave that."
        self.problems.append(Problem("suite.missing-file", f"there is no file {written!r}", node.origin, hint=hint))
        return None

    def folder(self, node: Node, written: str) -> Path | None:
        """The folder that is named, likewise."""
        place = self.place(written)
        if place is not None and place.is_dir():
            return place
        hint = "Paths start at the file, and do not leave its repository."
        self.problems.append(Problem("suite.missing-file", f"there is no folder {written!r}", node.origin, hint=hint))
        return None

    def name_of(self, path: Path) -> str:
        """Return the place of a repository's file in a workspace: beside the suite, or in the repository."""
        path = path.resolve()
        beside = self.root.resolve()
        return path.relative_to(beside if path.is_relative_to(beside) else self.repository.resolve()).as_posix()

    def first(self, node: Node, *names: str) -> Node:
        """The member of an object that has the first of several names; null where none is there."""
        return next((node.at(name) for name in names if node.has(name)), node.at(names[0]))

    def positive(self, node: Node) -> float | None:
        """A number above 0; `None` where there is none."""
        value = node.value
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf"):
            return float(value)
        self.refuse(node, f"{node.origin.pointer[-1]} has to be a number above 0", code="suite.value")
        return None
