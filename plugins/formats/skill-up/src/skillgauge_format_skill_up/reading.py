"""One file, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from skillgauge.api import Document, Origin, Problem, Severity, SuiteError
from skillgauge_skill_folders import bytes_of, contained
from skillgauge_validation import validate

from .files import Part

P = TypeVar("P", bound=Part)
Pointer = tuple[str | int, ...]
_MAX_BYTES = 4 * 1024 * 1024
"""Of a file that holds a text of the suite."""
_ANY_OF = "One of several texts is a rule of a judge: type: rule_based, success: [{output_contains: {any: [...]}}]."


@dataclass
class Notices:
    """The messages that are given once for each file they concern, whatever the number of places."""

    places: dict[tuple[str, str], tuple[Problem, set[Origin]]] = field(default_factory=dict)

    def add(self, message: str, origin: Origin) -> None:
        """Add a place; what holds for all cases comes from the same one each time."""
        problem = Problem("suite.ignored", message, origin=origin, severity=Severity.WARNING)
        _, origins = self.places.setdefault((message, origin.file), (problem, set()))
        origins.add(origin)

    def warnings(self) -> tuple[Problem, ...]:
        """Each once, with its number of places."""
        return tuple(
            first if len(origins) == 1 else replace(first, message=f"{first.message} ({len(origins)} places)")
            for first, origins in self.places.values()
        )


@dataclass
class Reading:
    """One file and what is wrong with it."""

    document: Document
    root: Path
    """Folder of the skill, where paths start."""
    folder: Path
    """That of eval.yaml, for paths that are not found from there."""
    problems: list[Problem] = field(default_factory=list)
    notices: Notices = field(default_factory=Notices)

    def of(self, document: Document) -> Reading:
        """Another file of the same suite."""
        return replace(self, document=document)

    def refuse(self, message: str, *pointer: str | int, hint: str | None = None) -> None:
        """Something that cannot be honoured; what holds for all cases is a problem once."""
        problem = Problem("suite.unsupported", message, origin=self.document.origin(*pointer), hint=hint)
        if problem not in self.problems:
            self.problems.append(problem)

    def tell(self, message: str, *pointer: str | int) -> None:
        """Something that is honoured in another way, or has no effect."""
        self.notices.add(message, self.document.origin(*pointer))

    def part(self, model: type[P], value: object) -> P | None:
        """The whole file; `None` with problems if it is wrong."""
        try:
            return validate(model, value, self.document)
        except SuiteError as error:
            self.problems += [_with_hint(one) for one in error.problems]
            return None

    def place(self, written: str, *pointer: str | int, is_folder: bool = False) -> Path | None:
        """A file or folder that has to be there, below the skill's folder or that of the suite."""
        for base in (self.root, self.folder):
            path = contained(base, written)
            if path is not None and (path.is_dir() if is_folder else path.is_file()):
                return path
        kind = "folder" if is_folder else "file"
        hint = f"Give the path from the skill's folder, {self.root.name!r}; it stays inside."
        self.refuse(f"there is no {kind} {written!r}", *pointer, hint=hint)
        return None

    def text(self, path: Path, *pointer: str | int) -> str:
        """The text of a file; empty, with a problem, if there is none."""
        data = bytes_of(path, _MAX_BYTES)
        if data is None:
            hint = "Make it a smaller file."
            self.refuse(f"{path.name!r} cannot be read, or is larger than {_MAX_BYTES:,} bytes", *pointer, hint=hint)
            return ""
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            self.refuse(f"{path.name!r} cannot be read: {error}", *pointer, hint="Save it as UTF-8.")
            return ""

    def relative(self, path: Path) -> str:
        """Return the path of a file of the suite from the skill's folder, or from that of the suite."""
        base = self.root if path.is_relative_to(self.root) else self.folder
        return path.relative_to(base).as_posix()


def _with_hint(problem: Problem) -> Problem:
    """Return a problem with where a key belongs that is written where skill-up has none of that name."""
    is_any = problem.code == "suite.unknown-key" and "'must_contain_any'" in problem.message
    return replace(problem, hint=_ANY_OF) if is_any else problem
