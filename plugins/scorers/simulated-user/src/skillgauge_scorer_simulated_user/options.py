"""The options of users who go on with a conversation."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Capture(_Part):
    """A value that an answer of the agent has, for later messages."""

    turn: int = Field(ge=0, description="number of the answer, from 0")
    variable: str = Field(pattern=r"^[A-Za-z_]\w*$", description="name that stands for it in braces: {{name}}")
    pattern: str = Field(min_length=1, description="finds it, as the group `value`, or the only group that has no name")


class Said(_Part):
    """A message that is written."""

    says: Text


class Message(_Part):
    """A message that is written, or that a model makes up."""

    says: Text | None = None
    respond: Text | None = None
    """What the model has to do in it."""

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.says is None) is (self.respond is None):
            raise ValueError("exactly one of says and respond must be given")
        return self


class ScriptOptions(_Part):
    """Options of a user whose messages are written."""

    messages: tuple[Said, ...] = Field(min_length=1, description="texts in their order, as objects with `says`")
    captures: tuple[Capture, ...] = Field(default=(), description="values of answers for {{name}} in later messages")


class UserOptions(_Part):
    """Options of a simulated user."""

    instructions: str = Field(min_length=1, description="who the user is, what the user wants, and how the user talks")
    messages: tuple[Message, ...] = Field(
        default=(),
        description="the user's messages in their order: `says`, a text, or `respond`, what the model has to do in it; "
        "empty: the model goes on until it has what it wants",
    )
    captures: tuple[Capture, ...] = Field(default=(), description="values of answers for {{name}} in later messages")
    model: str | None = Field(default=None, description="model to ask in place of the judge's own")
    temperature: float | None = Field(default=None, ge=0, description="temperature at which it answers")
    max_chars: int = Field(
        default=20_000,
        ge=200,
        description="characters of each message that it is shown; the middle of a longer one goes",
    )
