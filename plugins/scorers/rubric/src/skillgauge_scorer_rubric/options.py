"""What a check can say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillgauge.api import Frozen, Json


class RubricOptions(Frozen):
    """Options of `rubric`."""

    criteria: str = Field(min_length=1, description="What a good output is.")
    reference: Json = Field(default=None, description="An output that would be right.")
    scale: Literal["0-10"] = Field(default="0-10", description="What the model is asked for.")
    model: str | None = Field(default=None, min_length=1, description="Model to ask in place of the judge's own.")
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Temperature of the model in place of the judge's own."
    )
    max_chars: int = Field(
        default=60_000, ge=1_000, le=10_000_000, description="Longer outputs are cut in the middle, and this is said."
    )
