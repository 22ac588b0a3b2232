"""Budgets that several runs share."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge.api import BudgetPeriod, BudgetShare, SharedBudget
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.ownership import Timing
from skillgauge_store_sqlite.store import SqliteStore

LAST_DAY = datetime(2026, 1, 31, 23, 59, tzinfo=UTC).timestamp()
NEXT_DAY = LAST_DAY + 120


@pytest.mark.parametrize(
    ("period", "spent_usd"), [(BudgetPeriod.DAY, 0.25), (BudgetPeriod.MONTH, 0.25), (BudgetPeriod.NONE, 1.25)]
)
def test_a_period_counts_what_was_spent_in_it(
    make: ModuleType, path: Path, period: BudgetPeriod, spent_usd: float
) -> None:
    """Also of a run that began in an earlier one, and tells of all that it has spent."""
    now = [LAST_DAY]
    store = SqliteStore(SqliteOptions(location=str(path)), timing=Timing(clock=lambda: now[0]))
    budget = SharedBudget(name="team", usd=1.0, period=period)

    async def run() -> float:
        log = await store.begin(make.head(), fresh=False)
        run_id = log.info.run_id
        first = await store.hold(budget, run_id, BudgetShare(spent_usd=1.0, dearest_usd=0.5), must_fit=False)
        assert (first.fits, first.spent_usd) == (False, 1.0)
        now[0] = NEXT_DAY
        second = await store.hold(budget, run_id, BudgetShare(spent_usd=1.25, dearest_usd=0.5), must_fit=True)
        assert second.fits is (spent_usd < budget.usd)
        await store.close()
        return second.spent_usd

    assert asyncio.run(run()) == spent_usd


def test_a_deleted_run_leaves_its_share(make: ModuleType, path: Path) -> None:
    """Retention fills no budget up again."""
    store = SqliteStore(SqliteOptions(location=str(path)))
    budget = SharedBudget(name="team", usd=1.0)

    async def run() -> float:
        log = await store.begin(make.head(), fresh=False)
        await store.hold(budget, log.info.run_id, BudgetShare(spent_usd=0.75), must_fit=False)
        make.query(path, "DELETE FROM owners")
        make.query(path, "DELETE FROM runs")
        other = await store.begin(make.head("another"), fresh=False)
        standing = await store.hold(budget, other.info.run_id, BudgetShare(), must_fit=True)
        await store.close()
        return standing.spent_usd

    assert asyncio.run(run()) == 0.75
