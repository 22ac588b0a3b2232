"""Problems that this format finds in files, collected until everything has been read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from skillgauge.api import Origin, Problem, Severity, SuiteError, did_you_mean
from skillgauge_validation import validate, with_near_keys

from .keys import Use, near_miss

M = TypeVar("M", bound=BaseModel)
OriginOf = Callable[..., Origin]
"""Makes the origin of a pointer, as `Document.origin` does."""


class Findings:
    """Errors and warnings about one file."""

    def __init__(self) -> None:
        self.errors: list[Problem] = []
        self._kept: dict[Use, dict[str, _Count]] = {}
        self._other_names: dict[tuple[str, str], _Count] = {}
        self._warnings: list[Problem] = []
        self._judged: dict[str, list[Origin]] = {}

    def error(self, code: str, message: str, origin: Origin, hint: str | None = None) -> None:
        """Note what must be put right."""
        self.errors.append(Problem(f"suite.{code}", message, origin=origin, hint=hint))

    def warning(self, code: str, message: str, origin: Origin, hint: str | None = None) -> None:
        """Note what the user should know."""
        self._warnings.append(Problem(f"suite.{code}", message, origin=origin, hint=hint, severity=Severity.WARNING))

    def add(self, warnings: Iterable[Problem]) -> None:
        """Note what somebody else found."""
        self._warnings.extend(warnings)

    def other_name(self, key: str, preferred: str, origin: Origin) -> None:
        """Note a key that is read under another name; each is told once per file, at its first place."""
        self._other_names.setdefault((key, preferred), _Count(origin)).add()

    def kept(self, key: str, use: Use, origin: Origin, near: str = "") -> None:
        """Note a key that is no check; all of a file are told at once, with their counts and what was done."""
        self._kept.setdefault(use, {}).setdefault(key, _Count(origin, near)).add()

    def unknown_keys(self, keys: Iterable[str], supported: Sequence[str], origin_of: OriginOf) -> None:
        """Note keys that are kept without effect."""
        for key in keys:
            self.kept(key, Use.NONE, origin_of(key), did_you_mean(key, supported))

    def is_misspelt(self, key: str, bearing: tuple[str, ...], origin: Origin) -> bool:
        """Tell whether an unknown key is nearly one that bears checks, which is an error."""
        nearest = near_miss(key, bearing)
        if nearest:
            message = f"unknown key {key!r} is nearly {nearest!r}: what it says would not be checked"
            hint = f"Write {nearest!r}, or a name that is not so near."
            if nearest == key:
                message = f"{key!r} stands beside no 'type' that takes it: what it says would not be checked"
                hint = 'Add the type, for example "type": "regex" or "type": "contains".'
            self.error("misspelt-key", message, origin, hint)
        return bool(nearest)

    def are_unread(self, number: int, origin: Origin) -> bool:
        """Note as an error that evals stand under a key that is not read; tells whether there are any."""
        if number:
            verb = "eval stands" if number == 1 else "evals stand"
            message = f"{number} {verb} under {origin.pointer[-1]!r}, which is not read"
            self.error("unread-evals", message, origin, "Move them to the list 'evals', or to a file of their own.")
        return number > 0

    def left_to_judge(self, kind: str, origin: Origin) -> None:
        """Note an assertion whose type is decided by no program here; all of a file are told at once."""
        self._judged.setdefault(kind, []).append(origin)

    def validated(self, model: type[M], value: object, origin_of: OriginOf) -> M | None:
        """The model made of a value, or `None` after noting all that is wrong with it."""
        try:
            return validate(model, value, origin_of)
        except SuiteError as error:
            self.errors.extend(with_near_keys(problem, value) for problem in error.problems)
            return None

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings; unknown keys as one, and types left to a judge, since a foreign file may have many."""
        judged = []
        if self._judged:
            kinds = ", ".join(f"{kind!r} ({len(origins)})" for kind, origins in self._judged.items())
            origin = next(iter(self._judged.values()))[0]
            message = f"a judge decides assertions of types for which there is no rule, or no fitting value: {kinds}"
            judged = [Problem("suite.judged-type", message, origin=origin, severity=Severity.WARNING)]
        return (*self._of_keys(), *self._of_names(), *judged, *self._warnings)

    def _of_keys(self) -> Iterator[Problem]:
        parts = [
            f"{use}: {', '.join(f'{key!r} ({count.times}){count.near}' for key, count in counts.items())}"
            for use, counts in sorted(self._kept.items(), key=lambda item: list(Use).index(item[0]))
        ]
        if parts:
            origin = next(iter(self._kept[max(self._kept, key=list(Use).index)].values())).origin
            code = "suite.unknown-key" if Use.NONE in self._kept else "suite.kept-key"
            message = f"keys beside those of Agent Skills: {'; '.join(parts)}"
            yield Problem(code, message, origin=origin, severity=Severity.WARNING)

    def _of_names(self) -> Iterator[Problem]:
        names = self._other_names
        if names:
            told = ", ".join(f"{key!r} ({count.times}) as {preferred!r}" for (key, preferred), count in names.items())
            message = f"keys are read under the names that other tools understand: {told}"
            origin = next(iter(names.values())).origin
            yield Problem("suite.other-name", message, origin=origin, severity=Severity.WARNING)


@dataclass
class _Count:
    """The number of times that a key was seen, and its first place."""

    origin: Origin
    near: str = ""
    times: int = 0

    def add(self) -> None:
        self.times += 1
