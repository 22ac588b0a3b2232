"""The options of a check."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from skillgauge.api import HARMLESS, Frozen


class Source(StrEnum):
    """The text that is searched."""

    ANSWER = "answer"
    MESSAGES = "messages"
    """All that an agent said, its final answer included."""
    EVENTS = "events"
    """The session as the agent's program told it, an event a line."""
    CREATED = "created"
    """Paths of the files that the session created, sorted, one a line."""
    MOCKED = "mocked"
    """The calls that stand-ins of servers answered, each with its answer as a line of JSON."""


class Syntax(StrEnum):
    """The language in which patterns are written."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"


def _flags(flags: str, info: ValidationInfo) -> str:
    from skillgauge_patterns import from_javascript  # noqa: PLC0415 - announcing stays cheap

    if info.data.get("syntax") is Syntax.JAVASCRIPT:
        from_javascript("", flags)
    elif flags:
        raise ValueError("flags stand in the pattern itself, as in (?m), unless syntax is javascript")
    return flags


def _valid(pattern: str, info: ValidationInfo) -> str:
    from skillgauge_patterns import compiled, from_javascript  # noqa: PLC0415 - announcing stays cheap

    if info.data.get("syntax") is Syntax.JAVASCRIPT:
        compiled(from_javascript(pattern, info.data.get("flags", "")))
    else:
        compiled(pattern)
    return pattern


def _inside(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/") or "\\" in path:
        raise ValueError(f"path {path!r} does not stay inside the workspace")
    return path


def _some(patterns: tuple[str, ...]) -> tuple[str, ...]:
    # Not `min_length`: pydantic would say that there is none, too, where the only one is not valid.
    if not patterns:
        raise ValueError("at least one pattern is needed")
    return patterns


class RegexOptions(Frozen):
    """Options of `regex`."""

    syntax: Syntax = Field(
        default=Syntax.PYTHON,
        description="`python`: as the package regex reads patterns; `javascript`: as RegExp does.",
        json_schema_extra=HARMLESS,
    )
    flags: Annotated[str, AfterValidator(_flags)] = Field(
        default="", description="Flags of a pattern of JavaScript, as `im`.", json_schema_extra=HARMLESS
    )
    patterns: Annotated[tuple[Annotated[str, AfterValidator(_valid)], ...], AfterValidator(_some)] = Field(
        description="Patterns that have to be found in the output, each somewhere.",
        json_schema_extra={"minItems": 1} | HARMLESS,
    )
    case_sensitive: bool = Field(
        default=True, description="Whether upper and lower case differ.", json_schema_extra=HARMLESS
    )
    timeout_s: float = Field(
        default=1.0, gt=0, le=60, description="Seconds for one pattern.", json_schema_extra=HARMLESS
    )
    absent: bool = Field(
        default=False,
        description="Whether none of the patterns may be found, instead of all.",
        json_schema_extra=HARMLESS,
    )
    at_least: int | None = Field(
        default=None, ge=0, description="Least number of matches of each pattern.", json_schema_extra=HARMLESS
    )
    at_most: int | None = Field(
        default=None, ge=0, description="Largest number of matches of each pattern.", json_schema_extra=HARMLESS
    )
    source: Source = Field(
        default=Source.ANSWER,
        description=(
            "Where to look: `answer`; `messages`, all that an agent said; `events`, the session as the agent's program "
            "told it, one event a line; `created`, the sorted paths of the files that it created, one a line; "
            "`mocked`, the calls that stand-ins of MCP servers answered, each a line of JSON with tool, input, output "
            "and verdict."
        ),
        json_schema_extra=HARMLESS,
    )
    file: Annotated[str, AfterValidator(_inside)] | None = Field(
        default=None,
        min_length=1,
        description="A file of the workspace to look into instead; if it is not there, the check fails.",
        json_schema_extra=HARMLESS,
    )

    @property
    def counts(self) -> bool:
        """True if the number of matches decides."""
        return self.at_least is not None or self.at_most is not None

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.absent and self.counts:
            raise ValueError("absent and a number of matches exclude each other: at_most 0 says that there is none")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least} and at_most {self.at_most} leave no number of matches")
        if self.file is not None and self.source is not Source.ANSWER:
            raise ValueError("file and source exclude each other: each says where to look")
        return self
