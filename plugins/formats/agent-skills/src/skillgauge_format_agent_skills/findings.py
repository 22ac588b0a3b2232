"""Problems that this format finds in files, collected until everything has been read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pydantic import BaseModel

from skillgauge.api import Origin, Problem, Severity, SuiteError, did_you_mean
from skillgauge_validation import validate

M = TypeVar("M", bound=BaseModel)
OriginOf = Callable[..., Origin]
"""Makes the origin of a pointer, as `Document.origin` does."""


class Findings:
    """Errors and warnings about one file."""

    def __init__(self) -> None:
        self.errors: list[Problem] = []
        self._unknown: dict[str, tuple[Origin, str]] = {}
        self._other_names: dict[str, Problem] = {}
        self._warnings: list[Problem] = []
        self._judged: dict[str, list[Origin]] = {}

    def error(self, code: str, message: str, origin: Origin, hint: str | None = None) -> None:
        """Note what must be put right."""
        self.errors.append(Problem(f"suite.{code}", message, origin=origin, hint=hint))

    def warning(self, code: str, message: str, origin: Origin, hint: str | None = None) -> None:
        """Note what the user should know."""
        self._warnings.append(Problem(f"suite.{code}", message, origin=origin, hint=hint, severity=Severity.WARNING))

    def other_name(self, key: str, preferred: str, origin: Origin) -> None:
        """Note a key that is read under another name; each is told once per file, at its first place."""
        message = f"key {key!r} is read as {preferred!r}, which other tools understand"
        told = Problem("suite.other-name", message, origin=origin, severity=Severity.WARNING)
        self._other_names.setdefault(key, told)

    def unknown_keys(self, keys: Iterable[str], known: Sequence[str], origin_of: OriginOf) -> None:
        """Note keys that are kept without effect; each name is told once per file, at its first place."""
        for key in keys:
            if key not in self._unknown:
                self._unknown[key] = (origin_of(key), did_you_mean(key, known))

    def left_to_judge(self, kind: str, origin: Origin) -> None:
        """Note an assertion whose type is decided by no program here; all of a file are told at once."""
        self._judged.setdefault(kind, []).append(origin)

    def validated(self, model: type[M], value: object, origin_of: OriginOf) -> M | None:
        """The model made of a value, or `None` after noting all that is wrong with it."""
        try:
            return validate(model, value, origin_of)
        except SuiteError as error:
            self.errors.extend(error.problems)
            return None

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings; unknown keys as one, and types left to a judge, since a foreign file may have many."""
        unknown = []
        judged = []
        if self._judged:
            kinds = ", ".join(f"{kind!r} ({len(origins)})" for kind, origins in self._judged.items())
            origin = next(iter(self._judged.values()))[0]
            message = f"a judge decides assertions of types for which there is no rule, or no fitting value: {kinds}"
            judged = [Problem("suite.judged-type", message, origin=origin, severity=Severity.WARNING)]
        if self._unknown:
            names = ", ".join(f"{key!r}{near}" for key, (_, near) in self._unknown.items())
            origin = next(iter(self._unknown.values()))[0]
            message = f"keys that evals of Agent Skills do not define are kept without effect: {names}"
            unknown = [Problem("suite.unknown-key", message, origin=origin, severity=Severity.WARNING)]
        return (*unknown, *self._other_names.values(), *judged, *self._warnings)
