"""What a check can say."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from skillgauge.api import HARMLESS, Frozen

Word = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""A text to be found in the arguments of a call."""


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
    called: bool = Field(
        default=True,
        description="Whether there has to be such a call, or may be none.",
        json_schema_extra=HARMLESS,
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.tool is None and not self.words:
            raise PydanticCustomError("tool_call", "a tool or words of its arguments must be given")
        return self
