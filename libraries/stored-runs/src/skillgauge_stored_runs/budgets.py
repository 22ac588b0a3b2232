"""The arithmetic of budgets that several runs share."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import BudgetPeriod, BudgetShare, BudgetStanding, SharedBudget
from skillgauge_documents.immutables import immutable

_LENGTHS = {BudgetPeriod.NONE: 0, BudgetPeriod.MONTH: len("2000-01"), BudgetPeriod.DAY: len("2000-01-31")}


@immutable
class OtherShare:
    """The share of another run in the same period of a budget."""

    share: BudgetShare
    goes_on: bool
    """Whether a process works on the run."""


def period_of(budget: SharedBudget, day: str) -> str:
    """Return the period of a budget that a day, such as 2000-01-31, is part of; empty if it has none."""
    return day[: _LENGTHS[budget.period]]


def standing_of(budget: SharedBudget, asked: BudgetShare, others: Iterable[OtherShare]) -> BudgetStanding:
    """Weigh a share that a run asks for against those of all other runs.

    Args:
        budget: which.
        asked: with the amount that was spent in the present period.
        others: the shares of the other runs in this period.
    """
    others = tuple(others)
    shares = [asked, *(other.share for other in others)]
    known = [share.dearest_usd for share in shares if share.dearest_usd is not None]
    dearest_usd = max(known, default=0.0)
    spent_usd = sum(share.spent_usd for share in shares)
    held_usd = sum(
        share.sessions * (dearest_usd if share.dearest_usd is None else share.dearest_usd) for share in shares
    )
    under_way = sum(other.share.sessions for other in others if other.goes_on)
    is_foreseeable = bool(known) or asked.sessions + under_way <= 1
    fits = is_foreseeable and spent_usd < budget.usd and spent_usd + held_usd <= budget.usd
    return BudgetStanding(fits=fits, spent_usd=spent_usd, held_usd=held_usd, under_way=under_way)
