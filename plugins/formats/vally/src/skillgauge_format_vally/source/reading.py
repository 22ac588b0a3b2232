"""One file, and what is wrong with it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from skillgauge.api import Document, Problem, Severity, SuiteError, did_you_mean
from skillgauge_skill_folders import contained
from skillgauge_validation import validate

from .durations import has_unit, seconds_of
from .files import ConstraintsFile, EnvironmentFile, Part, ScoringFile, StimulusFile

P = TypeVar("P", bound=BaseModel)
Pointer = tuple[str | int, ...]
_FOR_PEOPLE = ("name", "description", "tags", "type", "src", "dest")
_PLACES: dict[type[Part], str] = {
    StimulusFile: "a stimulus",
    EnvironmentFile: "an environment",
    ConstraintsFile: "`constraints` of a stimulus",
    ScoringFile: "`scoring`",
}
CANNOT_RUN, MISSING_FILE = "suite.cannot-run", "suite.missing-file"
"""Codes of what keeps one case from being run here and says nothing against the others of its file."""
DECISIVE = sorted({key for part in _PLACES for key in part.model_fields if key not in _FOR_PEOPLE} | {"stimuli"})
"""Keys that change a verdict: at another place, or misspelt, they would be lost."""
_NEAR = 0.9
_ANCHORS = ("_", ".", "x-", "x_")
"""Beginnings of keys that hold nothing but what is repeated elsewhere."""


@dataclass
class Notices:
    """The messages that are given once for each file they concern, whatever the number of places."""

    places: dict[tuple[str, str], tuple[Problem, int]] = field(default_factory=dict)

    def add(self, problem: Problem) -> None:
        """Count one more place of a message."""
        key = (problem.message, problem.origin.file if problem.origin else "")
        first, count = self.places.get(key, (problem, 0))
        self.places[key] = (first, count + 1)

    def warnings(self) -> tuple[Problem, ...]:
        """Return each message once, with its number of places."""
        return tuple(
            first if count == 1 else replace(first, message=f"{first.message} ({count} places)")
            for first, count in self.places.values()
        )


@dataclass
class Reading:
    """One file and what is wrong with it."""

    document: Document
    repository: Path
    """The folder that paths may not leave."""
    problems: list[Problem] = field(default_factory=list)
    notices: Notices = field(default_factory=Notices)

    def of(self, document: Document) -> Reading:
        """Return the reading of another file for the same suite."""
        return Reading(document, self.repository, self.problems, self.notices)

    @property
    def folder(self) -> Path:
        """The folder of the file, at which paths start."""
        return Path(self.document.file).parent.absolute()

    @property
    def error(self) -> SuiteError:
        """All that is wrong, each thing once: surroundings with a name are read for each who names them."""
        return SuiteError(dict.fromkeys(self.problems))

    def refuse(
        self, message: str, *pointer: str | int, hint: str | None = None, code: str = "suite.unsupported"
    ) -> None:
        """Note something that cannot be honoured."""
        self.problems.append(Problem(code, message, origin=self.document.origin(*pointer), hint=hint))

    def cannot(self, message: str, *pointer: str | int, hint: str) -> None:
        """Note something that is well written and cannot be run here."""
        self.refuse(message, *pointer, hint=hint, code=CANNOT_RUN)

    def taken_back(self, start: int) -> tuple[Problem, ...]:
        """Take back the problems from a number on, if they only keep one case from being run; else none of them."""
        later = self.problems[start:]
        if any(problem.code not in (CANNOT_RUN, MISSING_FILE) for problem in later):
            return ()
        del self.problems[start:]
        return tuple(dict.fromkeys(later))

    def tell(self, message: str, *pointer: str | int) -> None:
        """Note something that is honoured in another way, or has no effect."""
        origin = self.document.origin(*pointer)
        self.notices.add(Problem("suite.ignored", message, origin=origin, severity=Severity.WARNING))

    def part(self, model: type[P], value: object, *pointer: str | int) -> P | None:
        """Return a part of the file; `None` with problems if it is wrong."""
        try:
            read = validate(model, value, self.document, *pointer)
        except SuiteError as error:
            self.problems += error.problems
            return None
        if isinstance(read, Part):
            self._unknown(read, *pointer)
        return read

    def _unknown(self, read: Part, *pointer: str | int) -> None:
        """Look at the keys of a part that it does not have: those that would change a verdict are refused."""
        own_keys = {name: info.alias or name for name, info in type(read).model_fields.items()}
        for key in read.model_extra or {}:
            if key.startswith(_ANCHORS):
                continue
            near = get_close_matches(_snake_case(key), DECISIVE, n=1, cutoff=_NEAR)
            if near and near[0] in own_keys:
                self.refuse(f"unknown key {key!r}", *pointer, key, hint=f"Write {own_keys[near[0]]}, or take it out.")
            elif near:
                hint = f"Vally has it in {_where(near[0])}: move it there, or take it out."
                self.refuse(f"key {key!r} means nothing here", *pointer, key, hint=hint)
            else:
                self.tell(
                    f"unknown key {key!r} has no effect{did_you_mean(key, tuple(own_keys.values()))}", *pointer, key
                )

    def places(self, written: str) -> Iterator[Path]:
        """Yield what a path means from the folder of the file, and then from each folder above in the repository."""
        folder = self.folder
        while True:
            if (place := self.place(written, folder)) is not None:
                yield place
            if folder in (self.repository, folder.parent):
                return
            folder = folder.parent

    def place(self, written: str, folder: Path | None = None) -> Path | None:
        """Return the file or folder that a path means from a folder on; `None` if it leaves the repository.

        Args:
            written: the path.
            folder: where it starts; default: the folder of the file.
        """
        start = os.path.relpath(folder or self.folder, self.repository)
        inside = os.path.normpath(os.path.join(start, written.replace("\\", "/")))  # noqa: PTH118 - no link yet
        return self.repository if inside == "." else contained(self.repository, inside)

    def seconds(self, written: str | float, *pointer: str | int) -> float | None:
        """Return the seconds of a duration; `None` with a problem if it is none."""
        try:
            seconds = seconds_of(written)
        except ValueError as error:
            self.refuse(str(error), *pointer, hint="Write a number with its unit, as in 90s or 2m.")
            return None
        if not has_unit(written):
            self.tell("a duration without a unit is taken for seconds", *pointer)
        return seconds


def _where(key: str) -> str:
    return next((place for part, place in _PLACES.items() if key in part.model_fields), "the file itself")


def _snake_case(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower()
