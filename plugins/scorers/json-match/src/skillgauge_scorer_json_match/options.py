"""The options of a check."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen, Json


class JsonMatchOptions(Frozen):
    """Options of `json-match`."""

    value: Json = Field(description="The JSON value that the output has to match.", json_schema_extra=HARMLESS)
    subset: bool = Field(
        default=False,
        description="Whether objects of the output may have more keys than those of the value.",
        json_schema_extra=HARMLESS,
    )
    tolerance: float = Field(default=0.0, ge=0, description="How far a number may be off.", json_schema_extra=HARMLESS)
