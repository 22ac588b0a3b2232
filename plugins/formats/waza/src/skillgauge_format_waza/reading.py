"""One file, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from skillgauge.api import Document, Problem, Severity, SuiteError
from skillgauge_skill_folders import bytes_of, contained
from skillgauge_validation import validate

from .files import Part

P = TypeVar("P", bound=Part)
Pointer = tuple[str | int, ...]
_MAX_BYTES = 4 * 1024 * 1024
"""Of a file that holds a text of the suite."""


@dataclass
class Told:
    """The messages that are given once for each file they concern, whatever the number of places."""

    places: dict[tuple[str, str], tuple[Problem, int]] = field(default_factory=dict)

    def add(self, what: str, problem: Problem) -> None:
        """One more place of it."""
        key = (what, problem.origin.file if problem.origin else "")
        first, count = self.places.get(key, (problem, 0))
        self.places[key] = (first, count + 1)

    def warnings(self) -> tuple[Problem, ...]:
        """Each once, with its number of places."""
        return tuple(
            first if count == 1 else replace(first, message=f"{first.message} ({count} places)")
            for first, count in self.places.values()
        )


@dataclass
class Reading:
    """One file and what is wrong with it."""

    document: Document
    folder: Path
    """Where paths start: that of eval.yaml."""
    problems: list[Problem] = field(default_factory=list)
    told: Told = field(default_factory=Told)

    def of(self, document: Document) -> Reading:
        """Another file of the same suite."""
        return Reading(document, self.folder, self.problems, self.told)

    def refuse(self, message: str, *pointer: str | int, hint: str | None = None) -> None:
        """Something that cannot be honoured."""
        self.problems.append(Problem("suite.unsupported", message, origin=self.document.origin(*pointer), hint=hint))

    def tell(self, message: str, *pointer: str | int) -> None:
        """Something that is honoured in another way, or has no effect."""
        origin = self.document.origin(*pointer)
        self.told.add(message, Problem("suite.ignored", message, origin=origin, severity=Severity.WARNING))

    def part(self, model: type[P], value: object, *pointer: str | int) -> P | None:
        """A part of the file; `None` with problems if it is wrong."""
        try:
            return validate(model, value, self.document, *pointer)
        except SuiteError as error:
            self.problems += error.problems
            return None

    def file(self, folder: Path, written: str, *pointer: str | int) -> Path | None:
        """A file that has to be there, below a folder."""
        path = contained(folder, written)
        if path is not None and path.is_file():
            return path
        self.refuse(f"there is no file {written!r} in {folder.name!r}", *pointer, hint="Paths stay below that folder.")
        return None

    def text(self, path: Path, *pointer: str | int) -> str | None:
        """The text of a file."""
        data = bytes_of(path, _MAX_BYTES)
        if data is None:
            self.refuse(f"{path.name!r} cannot be read, or is larger than {_MAX_BYTES:,} bytes", *pointer)
            return None
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            self.refuse(f"{path.name!r} cannot be read: {error}", *pointer)
            return None
