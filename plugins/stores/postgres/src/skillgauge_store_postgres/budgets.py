"""Budgets that several runs share: a row for each run and period, whatever becomes of the run."""

from __future__ import annotations

from typing import Any

import psycopg

from skillgauge.api import BudgetShare, BudgetStanding, SharedBudget
from skillgauge_stored_runs import OtherShare, period_of, standing_of

from .ownership import JUST_RESTARTED, OWNED

Db = psycopg.Connection[tuple[Any, ...]]

_TODAY = "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
_MAKE = "INSERT INTO budgets VALUES (%s, %s) ON CONFLICT DO NOTHING"
# Without the lock, two runs that look at once would both find enough left.
_LOCK = "SELECT FROM budgets WHERE name = %s AND period = %s FOR NO KEY UPDATE"
_EARLIER = """SELECT coalesce(sum(spent_usd), 0) FROM budget_shares
WHERE name = %s AND run_id = %s AND period <> %s AND length(period) = length(%s)"""
_OTHERS = f"""SELECT spent_usd, sessions, dearest_usd, runs.run IS NOT NULL AND ({OWNED} OR {JUST_RESTARTED})
FROM budget_shares LEFT JOIN runs USING (run_id) WHERE name = %s AND period = %s AND budget_shares.run_id <> %s"""
_PUT = """INSERT INTO budget_shares VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (name, period, run_id)
DO UPDATE SET spent_usd = excluded.spent_usd, sessions = excluded.sessions, dearest_usd = excluded.dearest_usd"""


def hold(db: Db, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
    """See `BudgetingStore.hold`. Done again, it comes to the same."""
    with db.transaction():
        period = period_of(budget, _value(db, _TODAY))
        db.execute(_MAKE, (budget.name, period))
        db.execute(_LOCK, (budget.name, period))
        earlier_usd = _value(db, _EARLIER, budget.name, run_id, period, period)
        share = share.model_copy(update={"spent_usd": max(0.0, share.spent_usd - earlier_usd)})
        rows = db.execute(_OTHERS, (budget.name, period, run_id)).fetchall()
        others = [
            OtherShare(BudgetShare(spent_usd=spent_usd, sessions=sessions, dearest_usd=dearest_usd), goes_on)
            for spent_usd, sessions, dearest_usd, goes_on in rows
        ]
        standing = standing_of(budget, share, others)
        if standing.fits or not must_fit:
            db.execute(_PUT, (budget.name, period, run_id, share.spent_usd, share.sessions, share.dearest_usd))
    return standing


def _value(db: Db, query: str, *values: str) -> Any:
    row = db.execute(query, values).fetchone()
    assert row is not None
    return row[0]
