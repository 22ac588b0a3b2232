"""The options of a check."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen, Json


class ExactOptions(Frozen):
    """Options of `exact`."""

    value: Json = Field(
        description="What the output has to be: a text, or any JSON value to compare structures with.",
        json_schema_extra=HARMLESS,
    )
    case_sensitive: bool = Field(
        default=True, description="Whether upper and lower case differ.", json_schema_extra=HARMLESS
    )
