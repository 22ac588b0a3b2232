"""The rules of a choice: the skills that are good enough, their order, and the number that is wanted."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from skillgauge.api import Frozen, read_document
from skillgauge_validation import validate


class SortKey(StrEnum):
    """The figure by which one skill is better than another."""

    COMPOSITE_SCORE = "compositeScore"
    COMPLETION_RATE = "completionRate"
    LATENCY = "latency"
    """95th percentile."""
    TOKEN_COST = "tokenCost"
    """Mean of a call."""

    @property
    def natural_order(self) -> Order:
        """The order that puts the best skill first."""
        match self:
            case SortKey.COMPOSITE_SCORE | SortKey.COMPLETION_RATE:
                return Order.DESCENDING
            case SortKey.LATENCY | SortKey.TOKEN_COST:
                return Order.ASCENDING


class Order(StrEnum):
    """Direction of a ranking."""

    ASCENDING = "asc"
    DESCENDING = "desc"


class _Part(Frozen):
    """Keys are written in camel case, and types are exact: `"0.8"` is no threshold."""

    model_config = ConfigDict(strict=True, alias_generator=to_camel)


class Filters(_Part):
    """The limits that a skill must reach to be chosen at all; they are inclusive, and each may be left unset."""

    min_completion_rate: float | None = Field(default=None, ge=0, le=1)
    max_error_rate: float | None = Field(default=None, ge=0, le=1)
    max_latency_p95_ms: float | None = Field(default=None, ge=0)
    adapter_types: tuple[str, ...] = ()
    """Any of these; empty allows all."""
    required_tags: tuple[str, ...] = ()
    """All of these."""


def _empty_if_null(value: object) -> object:
    """A heading in YAML without anything below it is null."""
    return {} if value is None else value


class Strategy(_Part):
    """A strategy file, and the built-in one: no filter, best composite score first, all of them."""

    filters: Annotated[Filters, BeforeValidator(_empty_if_null)] = Filters()
    sort_by: SortKey = Field(default=SortKey.COMPOSITE_SCORE, strict=False)
    order: Order | None = Field(default=None, strict=False)
    """`None` puts the best first, which is ascending for latency and token cost."""
    top_k: int | None = Field(default=None, ge=0)
    """How many to keep; `None` and 0 keep all."""

    def over(self, fallback: Strategy) -> Strategy:
        """This strategy, with a least completion rate and a number of skills from another where it has none."""
        return self.with_limits(
            min_completion=self.filters.min_completion_rate
            if self.filters.min_completion_rate is not None
            else fallback.filters.min_completion_rate,
            top_k=self.top_k if self.top_k is not None else fallback.top_k,
        )

    def with_limits(self, *, min_completion: float | None, top_k: int | None) -> Self:
        """This strategy with what the command line says; `None` leaves a limit as it is."""
        filters = self.filters
        if min_completion is not None:
            filters = filters.model_copy(update={"min_completion_rate": min_completion})
        return self.model_copy(update={"filters": filters, "top_k": self.top_k if top_k is None else top_k})


def read_strategy(path: Path) -> Strategy:
    """The strategy of a file: YAML if its name ends `.yaml` or `.yml`, else JSON.

    Raises:
        SuiteError: with every problem of the file and its place.
    """
    document = read_document(path)
    return validate(Strategy, document.value, document)
