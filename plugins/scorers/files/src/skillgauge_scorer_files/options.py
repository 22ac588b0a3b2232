"""The options of a check."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from skillgauge.api import HARMLESS, Frozen, Json


class State(StrEnum):
    """The condition on the files that a path stands for."""

    PRESENT = "present"
    """There is one at the end."""
    ABSENT = "absent"
    """There is none at the end."""
    CREATED = "created"
    """The session made one that was not there before."""
    NOT_CREATED = "not-created"
    """The session made none that was not there before."""
    CHANGED = "changed"
    """The session made one, or changed one."""
    DELETED = "deleted"
    """The session removed one."""
    UNTOUCHED = "untouched"
    """The session made, changed and removed none."""


class Syntax(StrEnum):
    """The language in which patterns are written."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"


HAVE_CONTENT = frozenset({State.PRESENT, State.CREATED, State.CHANGED})
"""States after which there is a file to look into."""


def _inside(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/") or "\\" in path:
        raise ValueError(f"path {path!r} does not stay inside the workspace")
    return path


def _valid(pattern: str, info: ValidationInfo) -> str:
    from skillgauge_patterns import compiled, from_javascript  # noqa: PLC0415 - announcing stays cheap

    compiled(from_javascript(pattern) if info.data.get("syntax") is Syntax.JAVASCRIPT else pattern)
    return pattern


class FilesOptions(Frozen):
    """Options of `files`."""

    path: Annotated[str, AfterValidator(_inside)] = Field(
        min_length=1,
        description="Path below the workspace; `*` and `?` stand for characters of a name, `**/` for folders.",
        json_schema_extra=HARMLESS,
    )
    state: State = Field(
        default=State.PRESENT, description="What has to be true of such files.", json_schema_extra=HARMLESS
    )
    contains: tuple[str, ...] = Field(
        default=(), description="Texts that have to be in the file.", json_schema_extra=HARMLESS
    )
    lacks: tuple[str, ...] = Field(default=(), description="Texts that may not be in it.", json_schema_extra=HARMLESS)
    equals: str | None = Field(
        default=None, description="The whole text, but for line ends at its end.", json_schema_extra=HARMLESS
    )
    leave_out: tuple[Annotated[str, AfterValidator(_inside)], ...] = Field(
        default=(),
        description="Paths, with the same wildcards, that are left out of account.",
        json_schema_extra=HARMLESS,
    )
    syntax: Syntax = Field(
        default=Syntax.PYTHON,
        description="`python`: as the package regex reads patterns; `javascript`: as RegExp does.",
        json_schema_extra=HARMLESS,
    )
    patterns: tuple[Annotated[str, AfterValidator(_valid)], ...] = Field(
        default=(), description="Regular expressions that have to be found in it.", json_schema_extra=HARMLESS
    )
    json_value: Json = Field(
        default=None,
        alias="json",
        description="It is JSON with at least this: objects may have more keys.",
        json_schema_extra=HARMLESS,
    )
    case_sensitive: bool = Field(
        default=True, description="Whether upper and lower case differ.", json_schema_extra=HARMLESS
    )
    max_bytes: int = Field(
        default=1_000_000,
        ge=1,
        le=100_000_000,
        description="A longer file is not looked into.",
        json_schema_extra=HARMLESS,
    )
    timeout_s: float = Field(
        default=1.0, gt=0, le=60, description="Seconds for one regular expression.", json_schema_extra=HARMLESS
    )

    @property
    def wants_json(self) -> bool:
        """True if there is a JSON value to compare with, which may be null."""
        return "json_value" in self.model_fields_set

    @property
    def looks_inside(self) -> bool:
        """True if the content matters."""
        return bool(self.contains or self.lacks or self.patterns or self.equals is not None or self.wants_json)

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.looks_inside and self.state not in HAVE_CONTENT:
            raise ValueError(f"there is no content to look into where files are to be {self.state}")
        return self
