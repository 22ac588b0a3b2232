"""What a check can say."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class ContainsOptions(Frozen):
    """Options of `contains`."""

    keywords: tuple[str, ...] = Field(
        description="Texts that the output has to contain, each somewhere.", json_schema_extra=HARMLESS
    )
    case_sensitive: bool = Field(
        default=False, description="Whether upper and lower case differ.", json_schema_extra=HARMLESS
    )
