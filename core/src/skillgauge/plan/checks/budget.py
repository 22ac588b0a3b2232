"""Limits of budgets and services that cannot be enforced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...contract.providers import Fact, Traits
from ...contract.stores import BudgetingStore, LimitingStore, Store
from ...errors import Problem, Severity
from ...run.budget import BudgetLimits
from ...types.usage import SharedBudget, SharedService

_STORES = "Use a store that does (--store PLACE): skillgauge-store-sqlite or skillgauge-store-postgres."


def uncountable_limits(limits: BudgetLimits, spenders: Mapping[str, Traits]) -> Iterator[Problem]:
    """Yield a problem for each limit and each engine or judge that does not report what it uses, or costs nothing.

    Args:
        limits: what the user allows.
        spenders: what each announces, by its name in messages.
    """
    for spender, traits in spenders.items():
        if limits.cost_usd is not None:
            yield from _uncountable_cost(spender, traits, "--max-cost")
        if limits.shared is not None:
            yield from _uncountable_cost(spender, traits, f"budget {limits.shared.name!r}")
        if limits.tokens is not None:
            yield from _uncountable_tokens(spender, traits)


def unshared_budget(
    shared: SharedBudget | None, store: Store | None, spenders: Mapping[str, Traits]
) -> Iterator[Problem]:
    """Yield a problem if a run that pays for something has a budget with other runs, and no store that counts it.

    Args:
        shared: the budget.
        store: what keeps the run; `None` if none could be made, which is a problem of its own.
        spenders: what each engine and judge announces, by its name in messages.
    """
    if shared is None or store is None or isinstance(store, BudgetingStore):
        return
    if any(traits.paid for traits in spenders.values()):
        message = f"the store keeps no shared budgets, so budget {shared.name!r} cannot be enforced"
        yield Problem("usage.budget", message, hint=_STORES)


def unshared_services(
    shared: Sequence[SharedService], store: Store | None, spenders: Mapping[str, Traits]
) -> Iterator[Problem]:
    """Yield a problem if sessions of several runs are limited, and the store of a run that pays does not count them.

    Args:
        shared: the limits.
        store: as in `unshared_budget`.
        spenders: as in `unshared_budget`.
    """
    if not shared or store is None or isinstance(store, LimitingStore):
        return
    if any(traits.paid for traits in spenders.values()):
        message = "the store does not count the sessions of several runs, so serviceLimits cannot be kept"
        yield Problem("usage.service-limit", message, hint=_STORES)


def _uncountable_cost(spender: str, traits: Traits, limit: str) -> Iterator[Problem]:
    if traits.paid and Fact.COST not in traits.tells:
        message = f"{spender} does not report what it costs, so {limit} cannot be enforced"
        other = "Use --max-tokens" if Fact.USAGE in traits.tells else "Leave it out"
        hint = f"{other}, or set its prices, if `skillgauge plugins info` shows an option for them."
        yield Problem("usage.budget", message, hint=hint)


def _uncountable_tokens(spender: str, traits: Traits) -> Iterator[Problem]:
    if Fact.USAGE not in traits.tells:
        message = f"{spender} does not report what it uses, so --max-tokens cannot be enforced"
        yield Problem("usage.budget", message, hint="Leave it out.")
    elif not traits.paid:
        message = f"{spender} costs nothing, so --max-tokens cannot be enforced"
        yield Problem("usage.budget", message, hint="Leave it out.", severity=Severity.WARNING)
