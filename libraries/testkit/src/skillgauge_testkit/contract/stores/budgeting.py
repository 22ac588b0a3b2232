"""The contract of stores that also keep what runs spend together: see `BudgetingStore`."""

from __future__ import annotations

import asyncio

from skillgauge.api import BudgetingStore, BudgetPeriod, BudgetShare, BudgetStanding, SharedBudget

from .. import samples
from ..clauses import answered, require, shown
from ..shapes import require_shape
from .places import Place

_BUDGET = SharedBudget(name="team/nightly", usd=1.0, period=BudgetPeriod.NONE)
_RUNS, _ROUNDS = 8, 8
_EACH_USD = 0.25


async def shares_budgets(place: Place) -> None:
    """Shares are weighed against each other, replaced, kept apart by budget, and outlive the store."""
    async with place.store() as store:
        if not isinstance(store, BudgetingStore):
            return
        require_shape(store, BudgetingStore)
        first = (await place.begin(store, samples.head())).info.run_id
        second = (await place.begin(store, samples.head("another plan"))).info.run_id
        await _require(place, store, first, BudgetShare(sessions=1), True, "the first trial of all, of unknown cost")
        await _require(place, store, second, BudgetShare(sessions=1), False, "a trial beside one of unknown cost")
        known = BudgetShare(spent_usd=0.25, sessions=2, dearest_usd=0.25)
        await _require(place, store, first, known, True, "two trials of 0.25 USD after one")
        await _require(place, store, second, BudgetShare(sessions=1), True, "one more trial, as dear as the dearest")
        full = await _require(place, store, second, BudgetShare(sessions=2), False, "a trial above the budget")
        expected = BudgetStanding(fits=False, spent_usd=0.25, held_usd=1.0, under_way=2)
        require(full == expected, f"BudgetingStore.hold must answer {shown(expected)}, not {shown(full)}")
        await _require(place, store, first, known, True, "the share that a run has, after another's was refused")
        other = _BUDGET.model_copy(update={"name": "another"})
        whole = BudgetShare(sessions=4, dearest_usd=0.25)
        await _require(place, store, second, whole, True, "trials of another budget", budget=other)
        over = BudgetShare(spent_usd=0.75, sessions=0, dearest_usd=0.5)
        after = await _hold(place, store, second, over, must_fit=False)
        require(
            not after.fits, f"BudgetingStore.hold must not fit a share above the budget, but answered {shown(after)}"
        )
    if store.durable:
        async with place.store() as again:
            assert isinstance(again, BudgetingStore)
            third = (await place.begin(again, samples.head("a third plan"))).info.run_id
            standing = await _hold(place, again, third, BudgetShare(), must_fit=True)
            expected = BudgetStanding(fits=False, spent_usd=1.0, held_usd=0.5, under_way=0)
            message = f"BudgetingStore.hold must answer {shown(expected)} when opened again, not {shown(standing)}"
            require(standing == expected, message)


async def holds_for_one_at_a_time(place: Place) -> None:
    """Of several runs that ask at the same time, each by a store of its own, as many get a share as fit."""
    async with place.store() as one, place.store() as other:
        if not isinstance(one, BudgetingStore) or not isinstance(other, BudgetingStore):
            return
        stores = (one, other)
        logs = [await place.begin(stores[number % 2], samples.head(f"plan {number}")) for number in range(_RUNS)]
        share = BudgetShare(sessions=1, dearest_usd=_EACH_USD)
        most = round(_BUDGET.usd / _EACH_USD)
        for number in range(_ROUNDS):
            budget = _BUDGET.model_copy(update={"name": f"round-{number}"})
            standings = await asyncio.gather(
                *(
                    _hold(place, stores[number % 2], log.info.run_id, share, must_fit=True, budget=budget)
                    for number, log in enumerate(logs)
                )
            )
            fitting = sum(standing.fits for standing in standings)
            message = f"of {_RUNS} runs at once, {most} must get a share by BudgetingStore.hold, but {fitting} did"
            require(fitting == most, message)


OF_BUDGETS = (shares_budgets, holds_for_one_at_a_time)
"""All clauses of it."""


async def _require(
    place: Place,
    store: BudgetingStore,
    run_id: str,
    share: BudgetShare,
    fits: bool,
    words: str,
    *,
    budget: SharedBudget = _BUDGET,
) -> BudgetStanding:
    standing = await _hold(place, store, run_id, share, must_fit=True, budget=budget)
    verb = "give room to" if fits else "refuse"
    require(standing.fits is fits, f"BudgetingStore.hold must {verb} {words}, but answered {shown(standing)}")
    return standing


async def _hold(
    place: Place,
    store: BudgetingStore,
    run_id: str,
    share: BudgetShare,
    *,
    must_fit: bool,
    budget: SharedBudget = _BUDGET,
) -> BudgetStanding:
    async def hold() -> BudgetStanding:
        return await store.hold(budget, run_id, share, must_fit=must_fit)

    return await answered("BudgetingStore.hold", place.patience_s, hold)
