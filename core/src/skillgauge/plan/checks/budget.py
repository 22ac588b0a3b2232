"""Limits of the budget that cannot be enforced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...contract.providers import Fact, Traits
from ...errors import Problem, Severity
from ...run.budget import BudgetLimits


def uncountable_limits(limits: BudgetLimits, spenders: Mapping[str, Traits]) -> Iterator[Problem]:
    """Yield a problem for each limit and each engine or judge that does not report what it uses, or costs nothing.

    Args:
        limits: what the user allows.
        spenders: what each announces, by its name in messages.
    """
    for spender, traits in spenders.items():
        counts_tokens = Fact.USAGE in traits.tells
        if limits.cost_usd is not None and traits.paid and Fact.COST not in traits.tells:
            message = f"{spender} does not report what it costs, so --max-cost cannot be enforced"
            other = "Use --max-tokens" if counts_tokens else "Leave it out"
            hint = f"{other}, or set its prices, if `skillgauge plugins info` shows an option for them."
            yield Problem("usage.budget", message, hint=hint)
        if limits.tokens is not None and not (counts_tokens and traits.paid):
            why = "costs nothing" if counts_tokens else "does not report what it uses"
            severity = Severity.WARNING if counts_tokens else Severity.ERROR
            message = f"{spender} {why}, so --max-tokens cannot be enforced"
            yield Problem("usage.budget", message, hint="Leave it out.", severity=severity)
