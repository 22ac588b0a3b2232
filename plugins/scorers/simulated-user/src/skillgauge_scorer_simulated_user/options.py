"""The options of a simulated user."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class UserOptions(BaseModel):
    """Options of a simulated user."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instructions: str = Field(min_length=1, description="who the user is, what the user wants, and how the user talks")
    model: str | None = Field(default=None, description="model to ask in place of the judge's own")
    temperature: float | None = Field(default=None, ge=0, description="temperature at which it answers")
    max_chars: int = Field(
        default=20_000,
        ge=200,
        description="characters of each message that it is shown; the middle of a longer one goes",
    )
