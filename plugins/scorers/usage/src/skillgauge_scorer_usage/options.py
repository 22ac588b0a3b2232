"""The options of a check."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from skillgauge.api import HARMLESS, Frozen


class UsageOptions(Frozen):
    """Options of `usage`."""

    tool_calls: int | None = Field(default=None, ge=0, description="Most calls of tools.", json_schema_extra=HARMLESS)
    turns: int | None = Field(default=None, ge=0, description="Most turns.", json_schema_extra=HARMLESS)
    tokens: int | None = Field(
        default=None,
        ge=0,
        description="Most tokens, those that were read from a cache among them.",
        json_schema_extra=HARMLESS,
    )
    duration_s: float | None = Field(default=None, ge=0, description="Most seconds.", json_schema_extra=HARMLESS)
    cost_usd: float | None = Field(default=None, ge=0, description="Most US dollars.", json_schema_extra=HARMLESS)

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if all(limit is None for _, limit in self):
            raise PydanticCustomError("usage", "at least one limit must be given")
        return self
