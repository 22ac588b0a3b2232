"""What several runs share: budgets, a row for each run and period, and sessions at services, a row for each run.

Budgets outlive their runs; sessions count as long as somebody works on theirs.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from skillgauge.api import BudgetShare, BudgetStanding, ServiceShare, ServiceStanding, SharedBudget, SharedService
from skillgauge_stored_runs import OtherShare, period_of, share_after, standing_at, standing_of

from .database import transaction
from .ownership import OWNER_COLUMNS, Lease

_SPENT_EARLIER = """SELECT coalesce(sum(spent_usd), 0) FROM budget_shares
WHERE name = ? AND run_id = ? AND period <> ? AND length(period) = length(?)"""
_SPENT_BY_OTHERS = f"""SELECT spent_usd, sessions, dearest_usd, {OWNER_COLUMNS} FROM budget_shares
LEFT JOIN runs USING (run_id) LEFT JOIN owners USING (run) WHERE name = ? AND period = ? AND run_id <> ?"""
_PAUSED_UNTIL = "SELECT coalesce(max(paused_until), 0) FROM services WHERE name = ?"
_SESSIONS = "SELECT sessions, waits FROM service_shares WHERE name = ? AND run_id = ?"
_SESSIONS_OF_OTHERS = f"""SELECT sessions, waits, {OWNER_COLUMNS} FROM service_shares
JOIN runs USING (run_id) JOIN owners USING (run) WHERE name = ? AND run_id <> ?"""


def hold(
    db: sqlite3.Connection, lease: Lease, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool
) -> BudgetStanding:
    """See `BudgetingStore.hold`."""
    period = period_of(budget, datetime.fromtimestamp(lease.timing.clock(), UTC).date().isoformat())
    with transaction(db, durable=True):
        (earlier_usd,) = db.execute(_SPENT_EARLIER, (budget.name, run_id, period, period)).fetchone()
        share = share.model_copy(update={"spent_usd": max(0.0, share.spent_usd - earlier_usd)})
        others = [
            OtherShare(
                BudgetShare(spent_usd=spent_usd, sessions=sessions, dearest_usd=dearest_usd), lease.is_owned(*owner)
            )
            for spent_usd, sessions, dearest_usd, *owner in db.execute(_SPENT_BY_OTHERS, (budget.name, period, run_id))
        ]
        standing = standing_of(budget, share, others)
        if standing.fits or not must_fit:
            row = (budget.name, period, run_id, share.spent_usd, share.sessions, share.dearest_usd)
            db.execute("INSERT OR REPLACE INTO budget_shares VALUES (?, ?, ?, ?, ?, ?)", row)
    return standing


def occupy(
    db: sqlite3.Connection, lease: Lease, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
) -> ServiceStanding:
    """See `LimitingStore.occupy`."""
    now = lease.timing.clock()
    with transaction(db, durable=False):
        (paused_until,) = db.execute(_PAUSED_UNTIL, (service.name,)).fetchone()
        if share.pause_s and now + share.pause_s > paused_until:
            paused_until = now + share.pause_s
            db.execute("INSERT OR REPLACE INTO services VALUES (?, ?)", (service.name, paused_until))
        earlier = _share(*db.execute(_SESSIONS, (service.name, run_id)).fetchone() or (0, False))
        others = [
            _share(sessions, waits)
            for sessions, waits, *owner in db.execute(_SESSIONS_OF_OTHERS, (service.name, run_id))
            if lease.is_owned(*owner)
        ]
        standing = standing_at(service, share, others, paused_until - now)
        _put(db, service.name, run_id, share_after(standing, share, earlier, must_fit=must_fit))
    return standing


def _share(sessions: int, waits: int) -> ServiceShare:
    return ServiceShare(sessions=sessions, waits=bool(waits))


def _put(db: sqlite3.Connection, service: str, run_id: str, share: ServiceShare) -> None:
    if share.sessions or share.waits:
        row = (service, run_id, share.sessions, share.waits)
        db.execute("INSERT OR REPLACE INTO service_shares VALUES (?, ?, ?, ?)", row)
    else:
        db.execute("DELETE FROM service_shares WHERE name = ? AND run_id = ?", (service, run_id))
