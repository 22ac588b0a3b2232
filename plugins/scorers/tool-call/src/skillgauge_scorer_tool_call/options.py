"""The options of a check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from skillgauge.api import HARMLESS, Frozen

Word = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""A text to be found in the arguments of a call."""


def _valid(pattern: str) -> str:
    from skillgauge_patterns import compiled  # noqa: PLC0415 - announcing stays cheap

    compiled(pattern)
    return pattern


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_valid)]


class ToolCallOptions(Frozen):
    """Options of `tool-call`."""

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
    called: bool = Field(
        default=True,
        description="Whether there has to be such a call, or may be none.",
        json_schema_extra=HARMLESS,
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.tool is None and self.tool_pattern is None and not self.words and not self.arguments:
            raise PydanticCustomError("tool_call", "a tool or something of its arguments must be given")
        return self
