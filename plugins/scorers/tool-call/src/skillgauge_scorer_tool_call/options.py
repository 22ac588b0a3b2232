"""The options of a check."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from skillgauge.api import HARMLESS, Frozen

Word = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""A text to be found in the arguments of a call."""


class Syntax(StrEnum):
    """The language in which patterns are written."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"


def _valid(pattern: str, info: ValidationInfo) -> str:
    from skillgauge_patterns import compiled, from_javascript  # noqa: PLC0415 - announcing stays cheap

    compiled(from_javascript(pattern) if info.data.get("syntax") is Syntax.JAVASCRIPT else pattern)
    return pattern


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_valid)]


class CallOptions(Frozen):
    """The calls that are meant."""

    syntax: Syntax = Field(
        default=Syntax.PYTHON,
        description="`python`: as the package regex reads patterns; `javascript`: as RegExp does.",
        json_schema_extra=HARMLESS,
    )
    tool: Word | None = Field(
        default=None, description="Name of the tool, as the agent calls it; default: any.", json_schema_extra=HARMLESS
    )
    words: tuple[Word, ...] = Field(
        default=(),
        description="Texts that the arguments of one call have to contain, all of them, each by itself.",
        json_schema_extra=HARMLESS,
    )
    tool_pattern: Pattern | None = Field(
        default=None,
        description="Regular expression that is found in the name of the tool, whatever its case.",
        json_schema_extra=HARMLESS,
    )
    arguments: Mapping[str, Pattern] = Field(
        default_factory=dict,
        description="Regular expressions by the name of an argument of the call, each to be found in its text.",
        json_schema_extra=HARMLESS,
    )
    input_pattern: Pattern | None = Field(
        default=None,
        description="Regular expression that is found in all arguments of the call, as compact JSON.",
        json_schema_extra=HARMLESS,
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.tool or self.tool_pattern or self.words or self.arguments or self.input_pattern):
            raise PydanticCustomError("tool_call", "a tool or something of its arguments must be given")
        return self


class ToolCallOptions(CallOptions):
    """Options of `tool-call`."""

    called: bool = Field(
        default=True,
        description="Whether there has to be such a call, or may be none.",
        json_schema_extra=HARMLESS,
    )

    at_least: int | None = Field(
        default=None, ge=0, description="Least number of such calls.", json_schema_extra=HARMLESS
    )
    at_most: int | None = Field(
        default=None, ge=0, description="Largest number of such calls.", json_schema_extra=HARMLESS
    )

    before: CallOptions | None = Field(
        default=None,
        description="Calls of which the first has to come after the first such call; there has to be one of each.",
        json_schema_extra=HARMLESS,
    )

    @property
    def bounds(self) -> tuple[int, int | None]:
        """Least and largest number of calls that pass; no largest one is `None`."""
        if self.at_least is None and self.at_most is None:
            return (1, None) if self.called else (0, 0)
        return self.at_least or 0, self.at_most

    @model_validator(mode="after")
    def _can_pass(self) -> Self:
        low, high = self.bounds
        if not self.called and (self.at_least is not None or self.at_most is not None):
            raise PydanticCustomError("tool_call", "called and a number of calls exclude each other")
        if high is not None and low > high:
            raise PydanticCustomError("tool_call", "at_least is larger than at_most, so that no number passes")
        if self.before is not None and low == 0:
            raise PydanticCustomError("tool_call", "a call that need not be made comes before none")
        return self
