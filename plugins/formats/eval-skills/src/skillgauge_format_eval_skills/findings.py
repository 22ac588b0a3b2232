"""Problems that this format finds in files, collected until everything has been read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from skillgauge.api import Origin, Problem, Severity, SuiteError, did_you_mean
from skillgauge_validation import validate, with_near_keys

M = TypeVar("M", bound=BaseModel)
OriginOf = Callable[..., Origin]
"""Makes the origin of a pointer, as `Document.origin` does."""


class Findings:
    """Errors and warnings about one file."""

    def __init__(self) -> None:
        self.errors: list[Problem] = []
        self._unknown: dict[str, tuple[Origin, str]] = {}
        self._warnings: list[Problem] = []

    def error(self, code: str, message: str, origin: Origin, hint: str | None = None) -> None:
        """Note what must be put right."""
        self.errors.append(Problem(f"suite.{code}", message, origin=origin, hint=hint))

    def warning(self, code: str, message: str, origin: Origin, hint: str | None = None) -> None:
        """Note what the user should know."""
        self._warnings.append(Problem(f"suite.{code}", message, origin=origin, hint=hint, severity=Severity.WARNING))

    def unknown_keys(self, keys: Mapping[str, object] | None, supported: Sequence[str], origin_of: OriginOf) -> None:
        """Note keys that are kept without effect; each name is told once per file, at its first place."""
        for key in keys or ():
            if key not in self._unknown:
                self._unknown[key] = (origin_of(key), did_you_mean(key, supported))

    def validated(self, model: type[M], value: object, origin_of: OriginOf) -> M | None:
        """The model made of a value, or `None` after noting all that is wrong with it."""
        try:
            return validate(model, value, origin_of)
        except SuiteError as error:
            self.errors.extend(with_near_keys(problem, value) for problem in error.problems)
            return None

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings; unknown keys as one, since a foreign file may have many."""
        if not self._unknown:
            return tuple(self._warnings)
        names = ", ".join(f"{key!r}{near}" for key, (_, near) in self._unknown.items())
        origin = next(iter(self._unknown.values()))[0]
        message = f"keys that eval-skills does not define have no effect here: {names}"
        unknown = Problem("suite.unknown-key", message, origin=origin, severity=Severity.WARNING)
        return (unknown, *self._warnings)
