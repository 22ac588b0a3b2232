"""What a check can say."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen


class TriggerOptions(Frozen):
    """Options of `trigger`."""

    skill: str = Field(min_length=1, description="Name of the skill, as agents know it.")
    should_trigger: bool = Field(default=True, description="Whether it has to fire, or may not.")
    acceptable: tuple[str, ...] = Field(
        default=(), description="Other skills that are as right: one of them may fire in its place."
    )
