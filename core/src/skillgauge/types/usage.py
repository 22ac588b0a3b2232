"""Tokens and money, and what several runs share: budgets, and the sessions that a service gets at once."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, TypeVar

from pydantic import Field, StringConstraints

from skillgauge_documents.frozen import Frozen

N = TypeVar("N", int, float)


def sum_if_known(values: "Sequence[N | None]") -> N | None:
    """Add up numbers; unknown, as one of them is, with `None` among them."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return sum(known)


class Usage(Frozen):
    """Tokens and money of one execution; `None` is unknown, never 0."""

    input_tokens: int | None = None
    """Uncached input."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    cost_basis: str | None = None
    """Who computed the cost: `reported`, `price-list`, ..."""

    @classmethod
    def total(cls, usages: "Sequence[Usage | None]") -> "Usage | None":
        """Add up usages; what one of them does not tell is unknown, and without any of them everything is."""
        known = [usage for usage in usages if usage is not None]
        if not known or len(known) < len(usages):
            return None
        reported = [usage.model_dump(exclude={"cost_basis"}) for usage in known]
        sums = {name: sum_if_known([one[name] for one in reported]) for name in reported[0]}
        return cls(**sums, cost_basis=known[0].cost_basis)

    def without(self, earlier: "Usage | None") -> "Usage":
        """Return what came after an earlier count of the same; what one of them does not tell is unknown."""
        if earlier is None:
            return self
        before, parts = earlier.model_dump(), self.model_dump(exclude={"cost_basis"})
        rest = {
            name: None if value is None or before[name] is None else max(0, value - before[name])
            for name, value in parts.items()
        }
        return Usage(**rest, cost_basis=self.cost_basis)

    @property
    def all_tokens(self) -> int:
        """All tokens; what is unknown counts as nothing."""
        if self.total_tokens is not None:
            return self.total_tokens
        kinds = (self.input_tokens, self.cache_read_tokens, self.cache_write_tokens, self.output_tokens)
        return sum(kind or 0 for kind in kinds)


class BudgetPeriod(StrEnum):
    """The time after which a shared budget begins anew, by the clock of the store, in UTC."""

    DAY = "day"
    MONTH = "month"
    NONE = "none"
    """Never."""


class SharedBudget(Frozen):
    """An amount that all runs of a store spend together which name it."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,59}$")]
    usd: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    period: BudgetPeriod = BudgetPeriod.MONTH


class BudgetShare(Frozen):
    """The part that one run has in a shared budget."""

    spent_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Spent by the run in all of its commands."""
    sessions: Annotated[int, Field(ge=0)] = 0
    """Trials under way, of which nobody knows yet what they cost."""
    dearest_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """Cost of its dearest trial so far, which each of these trials is expected to cost; `None`: none has ended."""


class BudgetStanding(Frozen):
    """The state of a shared budget, as it is in the present period."""

    fits: bool
    """Whether the share of the run is now as it asked."""
    spent_usd: float
    """Spent by all runs."""
    held_usd: float
    """Expected of the trials under way in all runs, and of those that the run asked for."""
    under_way: int
    """Trials under way in other runs that go on: once they have ended, more may fit."""


class SharedService(Frozen):
    """A service that all runs of a store ask, and how many of their sessions it gets at once."""

    name: Annotated[str, StringConstraints(pattern=r"^[^\s=]{1,255}$")]
    """Host, with a port if one is named; or the plugin that asks, where no host is known."""
    sessions: Annotated[int, Field(ge=1)]
    """At most."""


class ServiceShare(Frozen):
    """The part that one run has in the sessions of a service."""

    sessions: Annotated[int, Field(ge=0)] = 0
    """Under way, with the one that the run asks for."""
    waits: bool = False
    """Whether it wants more than these."""
    pause_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Seconds from now for which the service has asked the run to wait."""


class ServiceStanding(Frozen):
    """The state of a service that several runs share."""

    fits: bool
    """Whether the share of the run is now as it asked."""
    sessions: int
    """Under way in other runs that go on."""
    pause_s: float
    """Seconds from now for which the service has asked any run to wait."""
