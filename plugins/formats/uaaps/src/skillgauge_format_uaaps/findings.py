"""Problems of a package, collected until everything has been read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from skillgauge.api import Document, JsonValue, Origin, Problem, Severity, SuiteError, did_you_mean, read_document
from skillgauge_validation import validate

M = TypeVar("M", bound=BaseModel)


@dataclass
class Findings:
    """Errors and warnings of one package."""

    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def error(self, code: str, message: str, origin: Origin, hint: str | None = None) -> None:
        """Note what must be put right."""
        self.errors.append(Problem(f"suite.{code}", message, origin=origin, hint=hint))

    def warning(self, code: str, message: str, origin: Origin, hint: str | None = None) -> None:
        """Note what the user should know."""
        self.warnings.append(Problem(f"suite.{code}", message, origin=origin, hint=hint, severity=Severity.WARNING))

    def read(self, path: Path) -> Document | None:
        """A document; `None` after noting why it cannot be read."""
        try:
            return read_document(path)
        except SuiteError as error:
            self.errors += error.problems
            return None

    def validated(self, model: type[M], document: Document, value: JsonValue, *pointer: str | int) -> M | None:
        """The model made of part of a document; `None` after noting all that is wrong with it."""
        try:
            return validate(model, value, document, *pointer)
        except SuiteError as error:
            self.errors += error.problems
            return None

    def file(self, model: type[M], path: Path) -> tuple[M, Document] | None:
        """The model made of a whole file."""
        document = self.read(path)
        model_read = self.validated(model, document, document.value) if document else None
        return (model_read, document) if model_read is not None and document else None

    def unknown_keys(self, model: BaseModel, document: Document) -> None:
        """Note keys without effect; one that is nearly a known key is an error, since it asserts nothing."""
        supported = [info.alias or name for name, info in type(model).model_fields.items()]
        for key in model.model_extra or {}:
            near = did_you_mean(key, supported)
            note = self.error if near else self.warning
            note("unknown-key", f"unknown key {key!r}{near or ' has no effect'}", document.origin(key))

    def doubled(self, named: Iterable[tuple[str, Origin]], label: str) -> None:
        """Note names that are used more than once."""
        first: dict[str, Origin] = {}
        for name, origin in named:
            if name in first:
                message = f"{label} {name!r} is there twice, first in {Path(first[name].file).name}"
                self.error("duplicate-id", message, origin, f"Give every {label} a name of its own.")
            first.setdefault(name, origin)
