"""What a check can say."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class TriggerOptions(Frozen):
    """Options of `trigger`."""

    skill: str = Field(min_length=1, description="Name of the skill, as agents know it.", json_schema_extra=HARMLESS)
    should_trigger: bool = Field(
        default=True, description="Whether it has to fire, or may not.", json_schema_extra=HARMLESS
    )
    acceptable: tuple[str, ...] = Field(
        default=(),
        description="Other skills that are as right: one of them may fire in its place.",
        json_schema_extra=HARMLESS,
    )
