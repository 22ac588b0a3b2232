"""The options of a check."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from skillgauge.api import HARMLESS, Frozen, Json, digest

Statement = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""A claim or a criterion."""

MOST = 100
"""Claims or criteria of one question."""


class Scale(StrEnum):
    """The kind of answer that is asked of a judge."""

    TEN = "0-10"
    """One number; 5 passes."""
    ONE = "0-1"
    """One number with evidence; the threshold passes."""
    PASS_FAIL = "pass-fail"
    """PASS or FAIL with evidence, for each criterion; all must pass."""


class RubricOptions(Frozen):
    """Options of `rubric`."""

    criteria: Statement | tuple[Statement, ...] | None = Field(
        default=None,
        description="What a good output is: a text, or a list of which each passes or fails.",
        json_schema_extra=HARMLESS,
    )
    claims: tuple[Statement, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST,
        description="Statements of which each is true or false.",
        json_schema_extra=HARMLESS,
    )
    reference: Json = Field(default=None, description="An output that would be right.", json_schema_extra=HARMLESS)
    scale: Scale | None = Field(
        default=None, description="What the judge is asked for; default: pass-fail.", json_schema_extra=HARMLESS
    )
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Least value that passes on the scale 0-1; default 0.5.",
        json_schema_extra=HARMLESS,
    )
    trajectory: bool = Field(
        default=True, description="Whether the judge sees what an agent did.", json_schema_extra=HARMLESS
    )
    files: bool = Field(
        default=True, description="Whether the judge sees the files that an agent changed.", json_schema_extra=HARMLESS
    )
    model: str | None = Field(
        default=None, min_length=1, description="Model to ask in place of the judge's own.", json_schema_extra=HARMLESS
    )
    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="Temperature of the model in place of the judge's own.",
        json_schema_extra=HARMLESS,
    )
    max_chars: int = Field(
        default=60_000,
        ge=1_000,
        le=10_000_000,
        description="Longer material is cut in the middle, and this is said.",
        json_schema_extra=HARMLESS,
    )

    @property
    def digest(self) -> str:
        """Digest of all that a check says of how it is to be judged."""
        return digest(self.model_dump(mode="json", exclude_defaults=True))

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if (self.criteria is None) is (self.claims is None):
            raise PydanticCustomError("rubric", "exactly one of criteria and claims must be given")
        if self.claims is not None and self.scale is not None:
            raise PydanticCustomError("rubric", "claims are true or false and have no scale")
        if isinstance(self.criteria, tuple):
            if not 1 <= len(self.criteria) <= MOST:
                raise PydanticCustomError("rubric", "a list of criteria has 1 to {most}", {"most": MOST})
            if self.scale not in (None, Scale.PASS_FAIL):
                raise PydanticCustomError(
                    "rubric", "each of several criteria passes or fails; the other scales are for a text"
                )
        if self.threshold is not None and self.scale is not Scale.ONE:
            raise PydanticCustomError("rubric", "a threshold needs the scale 0-1")
        return self
