"""Budgets that several runs share: a row for each run and period, whatever becomes of the run."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from skillgauge.api import BudgetShare, BudgetStanding, SharedBudget
from skillgauge_stored_runs import OtherShare, period_of, standing_of

from .database import transaction
from .ownership import OWNER_COLUMNS, Lease

_EARLIER = """SELECT coalesce(sum(spent_usd), 0) FROM budget_shares
WHERE name = ? AND run_id = ? AND period <> ? AND length(period) = length(?)"""
_OTHERS = f"""SELECT spent_usd, sessions, dearest_usd, {OWNER_COLUMNS} FROM budget_shares
LEFT JOIN runs USING (run_id) LEFT JOIN owners USING (run) WHERE name = ? AND period = ? AND run_id <> ?"""


def hold(
    db: sqlite3.Connection, lease: Lease, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool
) -> BudgetStanding:
    """See `BudgetingStore.hold`."""
    period = period_of(budget, datetime.fromtimestamp(lease.timing.clock(), UTC).date().isoformat())
    with transaction(db, durable=True):
        (earlier_usd,) = db.execute(_EARLIER, (budget.name, run_id, period, period)).fetchone()
        share = share.model_copy(update={"spent_usd": max(0.0, share.spent_usd - earlier_usd)})
        others = [
            OtherShare(
                BudgetShare(spent_usd=spent_usd, sessions=sessions, dearest_usd=dearest_usd), lease.is_owned(*owner)
            )
            for spent_usd, sessions, dearest_usd, *owner in db.execute(_OTHERS, (budget.name, period, run_id))
        ]
        standing = standing_of(budget, share, others)
        if standing.fits or not must_fit:
            row = (budget.name, period, run_id, share.spent_usd, share.sessions, share.dearest_usd)
            db.execute("INSERT OR REPLACE INTO budget_shares VALUES (?, ?, ?, ?, ?, ?)", row)
    return standing
