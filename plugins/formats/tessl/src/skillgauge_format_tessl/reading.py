"""One file, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from skillgauge.api import Document, Origin, Problem, Severity, SuiteError, read_document
from skillgauge_skill_folders import bytes_of
from skillgauge_validation import validate

from .files import Part

P = TypeVar("P", bound=Part)
TOP = (1, 1)
"""Line and column of what concerns a whole file."""
_MAX_BYTES = 4 * 1024 * 1024
"""Of a file that holds a text of a scenario."""


@dataclass
class Notices:
    """The messages that are given once for each file they concern, whatever the number of places."""

    places: dict[tuple[str, str], tuple[Problem, int]] = field(default_factory=dict)

    def add(self, problem: Problem) -> None:
        """One more place of it."""
        key = (problem.message, problem.origin.file if problem.origin else "")
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
    """A JSON file and what is wrong with it."""

    document: Document
    problems: list[Problem]
    notices: Notices

    def refuse(self, message: str, *pointer: str | int, hint: str | None = None) -> None:
        """Something that cannot be honoured."""
        self.problems.append(Problem("suite.unsupported", message, origin=self.document.origin(*pointer), hint=hint))

    def tell(self, message: str, *pointer: str | int, hint: str | None = None) -> None:
        """Something that is honoured in another way, has no effect, or says less than its author may think."""
        self.notices.add(warning("ignored", message, self.document.origin(*pointer), hint))

    def part(self, model: type[P], value: object, *pointer: str | int) -> P | None:
        """A part of the file; `None` with problems if it is wrong."""
        try:
            return validate(model, value, self.document, *pointer)
        except SuiteError as error:
            self.problems += error.problems
            return None


def opened(path: Path, problems: list[Problem], notices: Notices) -> Reading | None:
    """A JSON file; `None` after noting that it cannot be read."""
    try:
        return Reading(read_document(path, kind="json"), problems, notices)
    except SuiteError as error:
        problems += error.problems
        return None


def text_of(path: Path, problems: list[Problem]) -> str | None:
    """The text of a file, without a byte order mark; `None` after noting that it cannot be read."""
    data = bytes_of(path, _MAX_BYTES)
    if data is None:
        problems.append(refusal(f"{path.name!r} cannot be read, or is larger than {_MAX_BYTES:,} bytes", path))
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02x} of {path.name!r} is not UTF-8"
        problems.append(refusal(message, path, place=(line, 1), hint="Save the file as UTF-8."))
        return None


def refusal(message: str, path: Path, *, place: tuple[int, int] = TOP, hint: str | None = None) -> Problem:
    """A problem of a file that is no JSON, or of all of it."""
    return Problem("suite.unsupported", message, origin=Origin(str(path), place=place), hint=hint)


def warning(code: str, message: str, origin: Origin | None, hint: str | None = None) -> Problem:
    """A problem that stops nothing."""
    return Problem(f"suite.{code}", message, origin=origin, hint=hint, severity=Severity.WARNING)
