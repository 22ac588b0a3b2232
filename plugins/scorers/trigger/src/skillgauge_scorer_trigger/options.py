"""The name of the scorer, and the options of its checks."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen

SCORER = "trigger"


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
    counts_without: bool = Field(
        default=False,
        description="Whether an arm without the skill counts as one in which it did not fire, and is graded.",
        json_schema_extra=HARMLESS,
    )
    owner: str = Field(
        default="",
        description="The skill that the query belongs to, where it is not `skill`; a table tells who fired instead.",
        json_schema_extra=HARMLESS,
    )
    threshold: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of a query's sessions in which the skill has to fire, or that it may not reach.",
        json_schema_extra=HARMLESS,
    )
