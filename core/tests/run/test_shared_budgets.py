"""Several runs that spend one budget: together no more than it, and each as much as the others leave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from skillgauge.run import budget as module
from skillgauge.run.budget import Budget, BudgetLimits
from skillgauge.types.usage import BudgetShare, BudgetStanding, SharedBudget, Usage
from skillgauge_stored_runs import OtherShare, standing_of

from .test_budget import result, trial

LIMIT = SharedBudget(name="team", usd=1.0)


class Purse:
    """A budget in this process, as a store keeps it."""

    def __init__(self, budget: SharedBudget = LIMIT) -> None:
        self.budget = budget
        self.shares: dict[str, BudgetShare] = {}
        self.gone: set[str] = set()
        """Runs whose processes are dead."""

    def of(self, run_id: str) -> Budget:
        """Return the budget of a run."""

        async def hold(share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
            await asyncio.sleep(0)
            others = [OtherShare(one, name not in self.gone) for name, one in self.shares.items() if name != run_id]
            standing = standing_of(self.budget, share, others)
            if standing.fits or not must_fit:
                self.shares[run_id] = share
            return standing

        return Budget(BudgetLimits(shared=self.budget), hold=hold)


@pytest.fixture(autouse=True)
def _looks_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_LOOK_S", 0.001)
    monkeypatch.setattr(module, "_LONGEST_LOOK_S", 0.002)


def carried_out(work: Callable[[], Awaitable[object]]) -> object:
    """Return what it comes to, within a time that nothing here needs."""

    async def run() -> object:
        return await asyncio.wait_for(work(), 20)

    return asyncio.run(run())


@pytest.mark.parametrize("runs", [1, 2, 5])
@pytest.mark.parametrize("at_once", [1, 3])
def test_together_they_spend_what_there_is(runs: int, at_once: int) -> None:
    """Of trials at 0.30 each three fit into a dollar, however many runs and workers want to start one."""
    purse = Purse()
    started: list[str] = []

    async def work(budget: Budget, name: str, turn: asyncio.Lock, numbers: list[int]) -> None:
        while True:
            async with turn:
                if not numbers or not await budget.admit(one := trial(numbers.pop(0))):
                    return
            started.append(name)
            await asyncio.sleep(0.003)
            budget.settle(result(one, Usage(cost_usd=0.3)))
            await budget.share()

    async def run() -> list[bool]:
        budgets = [purse.of(f"run{number}") for number in range(runs)]
        tasks = []
        for number, budget in enumerate(budgets):
            turn, numbers = asyncio.Lock(), list(range(9))
            tasks += [work(budget, f"run{number}", turn, numbers) for _ in range(at_once)]
        await asyncio.gather(*tasks)
        return [budget.exhausted for budget in budgets]

    assert carried_out(run) == [True] * runs
    assert len(started) == 3
    assert sum(share.spent_usd for share in purse.shares.values()) == pytest.approx(0.9)
    assert not any(share.sessions for share in purse.shares.values())


def test_the_first_session_of_all_runs_alone() -> None:
    """What a session costs is unknown until one has ended, in whichever run."""
    purse = Purse()

    async def run() -> tuple[bool, bool]:
        first, second = purse.of("first"), purse.of("second")
        assert await first.admit(trial(0))
        waiting = asyncio.create_task(second.admit(trial(0)))
        await asyncio.sleep(0.02)
        was_done = waiting.done()
        first.settle(result(trial(0), Usage(cost_usd=0.1)))
        await first.share()
        return was_done, await waiting

    assert carried_out(run) == (False, True)


def test_a_run_that_waits_goes_on_when_another_needed_less() -> None:
    """The other one held what it did not spend: nobody gives up as long as that may happen."""
    purse = Purse()

    async def run() -> bool:
        first, second = purse.of("first"), purse.of("second")
        await first.admit(trial(0))
        first.settle(result(trial(0), Usage(cost_usd=0.4)))
        await first.admit(trial(1))
        waiting = asyncio.create_task(second.admit(trial(0)))
        await asyncio.sleep(0.02)
        assert not waiting.done()  # 0.40 are spent and 0.40 are held
        first.settle(result(trial(1), Usage(cost_usd=0.0)))
        await first.share()
        return await waiting

    assert carried_out(run) is True


def test_what_ends_while_the_store_answers_counts() -> None:
    """The answer is of a moment that is over: it is asked again."""
    purse = Purse()

    async def run() -> bool:
        budget = purse.of("one")
        await budget.admit(trial(0))
        budget.settle(result(trial(0), Usage(cost_usd=0.4)))
        await budget.admit(trial(1))
        asking = asyncio.create_task(budget.admit(trial(2)))
        await asyncio.sleep(0)  # it asks for 0.40 USD more than there are ...
        budget.settle(result(trial(1), Usage(cost_usd=0.0)))  # ... and then the session before it cost nothing
        return await asking

    assert carried_out(run) is True


def test_sessions_of_a_dead_run_count_as_dear_as_they_may_have_been() -> None:
    """They have begun, and nobody tells what they cost; but nobody waits for them either."""
    purse = Purse()

    async def run() -> tuple[bool, bool]:
        dead, other = purse.of("dead"), purse.of("other")
        await dead.admit(trial(0))
        dead.settle(result(trial(0), Usage(cost_usd=0.4)))
        await dead.admit(trial(1))
        purse.gone.add("dead")
        return await other.admit(trial(0)), other.exhausted

    assert carried_out(run) == (False, True)


def test_a_stopped_run_waits_no_longer() -> None:
    """Ctrl-C while others hold all that is left."""
    purse = Purse()

    async def run() -> tuple[bool, bool]:
        first, second = purse.of("first"), purse.of("second")
        await first.admit(trial(0))
        waiting = asyncio.create_task(second.admit(trial(0)))
        await asyncio.sleep(0.01)
        second.close()
        return await waiting, waiting.done()

    assert carried_out(run) == (False, True)


@pytest.mark.parametrize(("used", "affords"), [(0.1, True), (0.3, False)])
def test_a_further_attempt_is_asked_for(used: float, affords: bool) -> None:
    """What the attempts before it have used counts for all runs, at once."""
    purse = Purse()

    async def run() -> tuple[bool, bool]:
        first = purse.of("first")
        await first.admit(trial(0))
        first.settle(result(trial(0), Usage(cost_usd=0.4)))
        await first.admit(trial(1))
        return await first.affords_retry(trial(1), [Usage(cost_usd=used)]), first.exhausted

    assert carried_out(run) == (affords, not affords)
    assert purse.shares["first"].spent_usd == pytest.approx(0.5 if affords else 0.4)


def test_the_state_is_told_when_there_is_no_more() -> None:
    """Spent by all, and expected of what was asked for."""
    purse = Purse()
    purse.shares["other"] = BudgetShare(spent_usd=0.8, dearest_usd=0.3)

    async def run() -> BudgetStanding | None:
        budget = purse.of("one")
        assert not await budget.admit(trial(0))
        return budget.standing

    assert carried_out(run) == BudgetStanding(fits=False, spent_usd=0.8, held_usd=0.3, under_way=0)
