"""The options of loading."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class TesslOptions(Frozen):
    """Options of the format."""

    pass_mark: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="Least share of its points with which a scenario passes; Tessl itself has no such mark.",
        json_schema_extra=HARMLESS,
    )
    skills_only: bool = Field(
        default=False,
        description="Test the skills of a plugin alone, without its rules and its documents.",
        json_schema_extra=HARMLESS,
    )
