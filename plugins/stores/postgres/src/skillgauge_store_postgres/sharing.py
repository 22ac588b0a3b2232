"""What several runs share: budgets, a row for each run and period, and sessions at services, a row for each run.

Budgets outlive their runs; sessions count as long as somebody works on theirs.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import psycopg

from skillgauge.api import BudgetShare, BudgetStanding, ServiceShare, ServiceStanding, SharedBudget, SharedService
from skillgauge_stored_runs import OtherShare, period_of, share_after, standing_at, standing_of

from .ownership import JUST_RESTARTED, OWNED

Db = psycopg.Connection[tuple[Any, ...]]

_TODAY = "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
_MAKE_BUDGET = "INSERT INTO budgets VALUES (%s, %s) ON CONFLICT DO NOTHING"
# Without the lock, two runs that look at once would both find enough left.
_LOCK_BUDGET = "SELECT FROM budgets WHERE name = %s AND period = %s FOR NO KEY UPDATE"
_SPENT_EARLIER = """SELECT coalesce(sum(spent_usd), 0) FROM budget_shares
WHERE name = %s AND run_id = %s AND period <> %s AND length(period) = length(%s)"""
_SPENT_BY_OTHERS = f"""SELECT spent_usd, sessions, dearest_usd, runs.run IS NOT NULL AND ({OWNED} OR {JUST_RESTARTED})
FROM budget_shares LEFT JOIN runs USING (run_id) WHERE name = %s AND period = %s AND budget_shares.run_id <> %s"""
_PUT_BUDGET = """INSERT INTO budget_shares VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (name, period, run_id)
DO UPDATE SET spent_usd = excluded.spent_usd, sessions = excluded.sessions, dearest_usd = excluded.dearest_usd"""
_MAKE_SERVICE = "INSERT INTO services VALUES (%s, now()) ON CONFLICT DO NOTHING"
_LOCK_SERVICE = "SELECT clock_timestamp(), paused_until FROM services WHERE name = %s FOR NO KEY UPDATE"
_PAUSE = "UPDATE services SET paused_until = %s WHERE name = %s"
_SESSIONS = f"""SELECT runs.run_id = %s, sessions, waits, {OWNED} OR {JUST_RESTARTED}
FROM service_shares JOIN runs USING (run) WHERE name = %s AND (sessions > 0 OR waits)"""
_PUT_SESSIONS = """INSERT INTO service_shares SELECT %s, run, %s, %s FROM runs WHERE run_id = %s
ON CONFLICT (name, run) DO UPDATE SET sessions = excluded.sessions, waits = excluded.waits"""


def hold(db: Db, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
    """See `BudgetingStore.hold`. Done again, it comes to the same."""
    with db.transaction():
        period = period_of(budget, _value(db, _TODAY))
        db.execute(_MAKE_BUDGET, (budget.name, period))
        db.execute(_LOCK_BUDGET, (budget.name, period))
        earlier_usd = _value(db, _SPENT_EARLIER, budget.name, run_id, period, period)
        share = share.model_copy(update={"spent_usd": max(0.0, share.spent_usd - earlier_usd)})
        rows = db.execute(_SPENT_BY_OTHERS, (budget.name, period, run_id)).fetchall()
        others = [
            OtherShare(BudgetShare(spent_usd=spent_usd, sessions=sessions, dearest_usd=dearest_usd), goes_on)
            for spent_usd, sessions, dearest_usd, goes_on in rows
        ]
        standing = standing_of(budget, share, others)
        if standing.fits or not must_fit:
            db.execute(_PUT_BUDGET, (budget.name, period, run_id, share.spent_usd, share.sessions, share.dearest_usd))
    return standing


def _value(db: Db, query: str, *values: str) -> Any:
    row = db.execute(query, values).fetchone()
    assert row is not None
    return row[0]


def occupy(db: Db, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool) -> ServiceStanding:
    """See `LimitingStore.occupy`. Done again, it comes to the same."""
    with db.transaction():
        db.execute(_MAKE_SERVICE, (service.name,))
        row = db.execute(_LOCK_SERVICE, (service.name,)).fetchone()
        assert row is not None
        now, paused_until = _later(db, service.name, share, *row)
        earlier, others = ServiceShare(), list[ServiceShare]()
        for is_own, sessions, waits, goes_on in db.execute(_SESSIONS, (run_id, service.name)):
            kept = ServiceShare(sessions=sessions, waits=waits)
            if is_own:
                earlier = kept
            elif goes_on:
                others.append(kept)
        standing = standing_at(service, share, others, (paused_until - now).total_seconds())
        after = share_after(standing, share, earlier, must_fit=must_fit)
        db.execute(_PUT_SESSIONS, (service.name, after.sessions, after.waits, run_id))
    return standing


def _later(
    db: Db, service: str, share: ServiceShare, now: datetime, paused_until: datetime
) -> tuple[datetime, datetime]:
    """Keep a pause that lasts longer than the one that is known; return the present, and the end of the longer one."""
    end = now + timedelta(seconds=share.pause_s)
    if not share.pause_s or end <= paused_until:
        return now, paused_until
    db.execute(_PAUSE, (end, service))
    return now, end
