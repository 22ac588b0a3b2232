"""The options of a check."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from skillgauge.api import HARMLESS, Frozen

Names = tuple[Annotated[str, Field(min_length=1)], ...]


class Order(StrEnum):
    """The order in which the expected steps have to be found among the actual ones."""

    EXACT = "exact"
    """The same names in the same order, and nothing else."""
    IN_ORDER = "in-order"
    """All of them one after the other; others may come between."""
    ANY = "any"
    """All of them, each as often as it is named, in any order; others may be there."""


class SequenceOptions(Frozen):
    """Options of `sequence`."""

    tools: Names = Field(
        default=(), description="Names of tools as the agent calls them, in order.", json_schema_extra=HARMLESS
    )
    skills: Names = Field(
        default=(), description="Names of skills that the agent loads, in order.", json_schema_extra=HARMLESS
    )
    order: Order = Field(
        default=Order.IN_ORDER,
        description="`exact`: these and nothing else; `in-order`: others may come between; `any`: in any order.",
        json_schema_extra=HARMLESS,
    )

    @model_validator(mode="after")
    def _names_one_kind(self) -> Self:
        if bool(self.tools) is bool(self.skills):
            raise PydanticCustomError("sequence", "either tools or skills must be given")
        return self
