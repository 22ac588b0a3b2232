"""Budgets that several runs share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from skillgauge.api import BudgetPeriod, BudgetShare, BudgetStanding, SharedBudget
from skillgauge_testkit.contract import samples

BUDGET = SharedBudget(name="team", usd=1.0, period=BudgetPeriod.DAY)


@pytest.mark.postgres
def test_a_period_counts_what_was_spent_in_it(place: Any) -> None:
    """Also of a run that began in an earlier one and tells of all that it has spent; a deleted run leaves its share."""
    store = place.store()

    async def run() -> list[BudgetStanding]:
        run_id = (await store.begin(samples.head(), fresh=False)).info.run_id
        standings = [await store.hold(BUDGET, run_id, BudgetShare(spent_usd=1.0, dearest_usd=0.5), must_fit=False)]
        place.sql("UPDATE skillgauge.budget_shares SET period = '2026-01-31'")
        standings += [await store.hold(BUDGET, run_id, BudgetShare(spent_usd=1.25, dearest_usd=0.5), must_fit=True)]
        place.sql("DELETE FROM skillgauge.runs")
        other = (await store.begin(samples.head("another"), fresh=False)).info.run_id
        standings += [await store.hold(BUDGET, other, BudgetShare(), must_fit=True)]
        await store.close()
        return standings

    standings = asyncio.run(run())
    assert [(one.fits, one.spent_usd) for one in standings] == [(False, 1.0), (True, 0.25), (True, 0.25)]


@pytest.mark.slow
@pytest.mark.postgres
def test_a_run_goes_on_until_its_connection_has_ended(place: Any) -> None:
    """Others wait for its sessions, and no longer than that: right after a start of the server, for a while."""
    budget = BUDGET.model_copy(update={"period": BudgetPeriod.NONE})
    first, second = place.store(), place.store()

    async def run() -> list[int]:
        busy = (await first.begin(samples.head(), fresh=False)).info.run_id
        other = (await second.begin(samples.head("another"), fresh=False)).info.run_id
        await first.hold(budget, busy, BudgetShare(sessions=2, dearest_usd=0.25), must_fit=True)
        seen = [(await second.hold(budget, other, BudgetShare(), must_fit=True)).under_way]
        await first.close()
        while (standing := await second.hold(budget, other, BudgetShare(), must_fit=True)).under_way:
            await asyncio.sleep(0.2)
        await second.close()
        return [*seen, standing.under_way, round(standing.held_usd * 100)]

    assert asyncio.run(asyncio.wait_for(run(), 60)) == [2, 0, 50]
