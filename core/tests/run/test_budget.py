"""What a run may spend: nothing starts that cannot be afforded, and everything that can be does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.run.budget import Budget, BudgetLimits
from skillgauge.types.arms import Arm, ArmKind
from skillgauge.types.results.trials import GivenUp, TrialResult, Unfinished, Verdict
from skillgauge.types.score import Score
from skillgauge.types.suite import Case, Limits
from skillgauge.types.trial import Execution, Failure, FailureClass, Identity, Trial
from skillgauge.types.usage import Usage


def trial(number: int, *, paid: bool = True) -> Trial:
    """The n-th trial."""
    return Trial(
        trial_id=f"t{number}",
        execution_id="x",
        ordinal=number,
        suite_id="s",
        case=Case(id=f"c{number}"),
        case_index=number,
        arm=Arm(name="with", kind=ArmKind.AGENT),
        runner=Identity(name="agent"),
        repeat=1,
        seed=0,
        limits=Limits(),
        paid=paid,
    )


def result(one: Trial, usage: Usage | None, **fields: object) -> TrialResult:
    """What it came to."""
    known = {
        "trial_id": one.trial_id,
        "execution_id": "x",
        "score_id": "x",
        "ordinal": one.ordinal,
        "suite_id": "s",
        "case_id": one.case.id,
        "case_index": one.case_index,
        "target_id": None,
        "arm": "with",
        "runner": "agent",
        "model": None,
        "repeat": 1,
        "verdict": Verdict.PASS,
        "execution": Execution(usage=usage),
        "started_at": 0.0,
    }
    return TrialResult.model_validate(known | fields)


async def admitted(budget: Budget, trials: list[Trial]) -> AsyncIterator[Trial]:
    """The trials that may start, each once it may, up to the first that may not."""
    for one in trials:
        if not await budget.admit(one):
            return
        yield one


def spend(limits: BudgetLimits, costs: list[Usage | None], *, at_once: int = 1, paid: bool = True) -> tuple[int, bool]:
    """How many trials of these costs started with so many workers, and whether the budget held any back."""
    budget = Budget(limits)
    started: list[Trial] = []

    async def work(trials: AsyncIterator[Trial], lock: asyncio.Lock) -> None:
        while True:
            async with lock:
                one = await anext(trials, None)
            if one is None:
                return
            started.append(one)
            await asyncio.sleep(0)
            budget.settle(result(one, costs[one.ordinal]))

    async def run() -> None:
        trials = admitted(budget, [trial(number, paid=paid) for number in range(len(costs))])
        lock = asyncio.Lock()
        await asyncio.gather(*(work(trials, lock) for _ in range(at_once)))

    asyncio.run(asyncio.wait_for(run(), 20))
    return len(started), budget.exhausted


def dollars(*amounts: float) -> list[Usage | None]:
    """A usage for each amount."""
    return [Usage(cost_usd=amount) for amount in amounts]


@pytest.mark.parametrize("at_once", [1, 2, 8])
def test_nothing_starts_that_cannot_be_afforded(at_once: int) -> None:
    """Of trials at 0.30 each, three fit into a dollar, however many workers want to start one."""
    assert spend(BudgetLimits(cost_usd=1.0), dollars(*[0.3] * 9), at_once=at_once) == (3, True)


@pytest.mark.parametrize("at_once", [1, 3])
def test_everything_starts_that_can(at_once: int) -> None:
    """A budget that suffices is no obstacle and is not called exhausted."""
    assert spend(BudgetLimits(cost_usd=10.0, tokens=10**6), dollars(*[0.3] * 9), at_once=at_once) == (9, False)


def test_without_a_limit_nothing_waits() -> None:
    """No budget, no bookkeeping."""
    assert spend(BudgetLimits(), [None] * 5, at_once=5) == (5, False)


def test_what_costs_nothing_is_never_held_back() -> None:
    """Direct calls and replays run, whatever is spent."""
    assert spend(BudgetLimits(cost_usd=0.01), dollars(*[5.0] * 4), paid=False) == (4, False)


def test_tokens_count_too() -> None:
    """The tighter of the two limits rules."""
    costs: list[Usage | None] = [Usage(cost_usd=0.01, input_tokens=90, output_tokens=10)] * 9
    assert spend(BudgetLimits(cost_usd=10, tokens=450), costs) == (4, True)


@pytest.mark.parametrize("limits", [BudgetLimits(cost_usd=0), BudgetLimits(tokens=0)], ids=["dollars", "tokens"])
def test_of_nothing_nothing_is_spent(limits: BudgetLimits) -> None:
    """Not even the first trial starts, of which nobody knows yet what it takes."""
    assert spend(limits, [Usage(cost_usd=0.1, total_tokens=1)] * 2) == (0, True)


@pytest.mark.parametrize(
    ("limits", "used"),
    [(BudgetLimits(cost_usd=1.0), Usage(cost_usd=1.0)), (BudgetLimits(tokens=10), Usage(total_tokens=10))],
    ids=["dollars", "tokens"],
)
def test_what_the_first_attempt_uses_up_affords_no_other(limits: BudgetLimits, used: Usage) -> None:
    """Although no trial has ended that would tell what one costs."""
    budget, one = Budget(limits), trial(0)
    assert asyncio.run(budget.admit(one))
    assert not asyncio.run(budget.affords_retry(one, [used]))
    assert budget.exhausted


def test_after_the_first_trial_several_run_at_once() -> None:
    """Also if it cost no money: what matters is that one has ended."""
    budget = Budget(BudgetLimits(tokens=100))

    async def run() -> list[bool]:
        await budget.admit(trial(0))
        budget.settle(result(trial(0), Usage(total_tokens=10)))
        waiting = [asyncio.create_task(budget.admit(trial(number))) for number in (1, 2, 3)]
        await asyncio.sleep(0)
        found = [task.done() and task.result() for task in waiting]
        budget.close()
        await asyncio.gather(*waiting)
        return found

    assert asyncio.run(run()) == [True, True, True]


@pytest.mark.parametrize("limit", [1.0, 1.3])
def test_judges_and_given_up_attempts_count(limit: float) -> None:
    """Money is spent by whoever is asked, and by attempts that do not count: 0.90 here, so twice that is too much."""
    budget = Budget(BudgetLimits(cost_usd=limit))
    score = Score.passed().model_copy(update={"usage": Usage(cost_usd=0.4)})
    slow = Failure.of_agent(FailureClass.OVERLOADED, "slow")
    attempt = GivenUp(failure=slow, usage=Usage(cost_usd=0.3), wait_s=1.0)
    one = trial(0)

    async def run() -> list[str]:
        names = []
        async for started in admitted(budget, [one, trial(1)]):
            names.append(started.trial_id)
            done = result(one, Usage(cost_usd=0.2), scores=(score,), given_up=(attempt,))
            budget.settle(done)
        return names

    assert asyncio.run(run()) == ["t0"]
    assert budget.exhausted


def test_the_reserve_is_that_of_the_dearest_trial() -> None:
    """A cheap trial after a dear one does not make the next one expected to be cheap."""
    assert spend(BudgetLimits(cost_usd=2.0), dollars(1.0, 0.1, 0.1)) == (2, True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=12), st.floats(0.1, 4.0), st.integers(1, 4))
def test_at_most_one_surprise(amounts: list[float], limit: float, at_once: int) -> None:
    """Spending exceeds the limit only by what a trial cost more than any before it."""
    started, _ = spend(BudgetLimits(cost_usd=limit), dollars(*amounts), at_once=at_once)
    spent = sum(amounts[:started])
    surprise = max(amounts[:started], default=0.0) * at_once
    assert spent <= limit + surprise + 1e-9
    assert started >= 1


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (Usage(), 0),
        (Usage(total_tokens=7, input_tokens=100), 7),
        (Usage(input_tokens=1, cache_read_tokens=2, cache_write_tokens=3, output_tokens=4, reasoning_tokens=9), 10),
    ],
)
def test_tokens_of_a_usage(usage: Usage, tokens: int) -> None:
    """The total as told, else the sum of the kinds; reasoning is part of the output."""
    assert usage.all_tokens == tokens


def test_what_is_done_is_not_reserved_again() -> None:
    """Trials that an earlier command has paid for pass, also when nothing is left; a further one does not."""

    async def run() -> list[bool]:
        done = [result(trial(number), Usage(cost_usd=0.25)) for number in (0, 2)]
        budget = Budget(BudgetLimits(cost_usd=1.0), done)
        first = [await budget.admit(trial(number)) for number in (0, 1)]
        budget.settle(result(trial(1), Usage(cost_usd=0.5)))
        return [*first, *[await budget.admit(trial(number)) for number in (2, 3)]]

    assert asyncio.run(run()) == [True, True, True, False]


def test_what_earlier_commands_of_the_run_have_spent_counts() -> None:
    """What is spent is spent, and the dearest session is what a further one is expected to cost."""

    async def admitted(limit: float) -> bool:
        done = [result(trial(number), Usage(cost_usd=0.25)) for number in (0, 1)]
        return await Budget(BudgetLimits(cost_usd=limit), done).admit(trial(2))

    assert asyncio.run(admitted(0.75))
    assert not asyncio.run(admitted(0.74))


@pytest.mark.parametrize(
    ("limits", "used", "affords"),
    [
        (BudgetLimits(cost_usd=1.0), Usage(cost_usd=0.39), True),
        (BudgetLimits(cost_usd=1.0), Usage(cost_usd=0.41), False),
        (BudgetLimits(tokens=100), Usage(total_tokens=39), True),
        (BudgetLimits(tokens=100), Usage(total_tokens=41), False),
        (BudgetLimits(), Usage(cost_usd=9.0), True),
        (BudgetLimits(cost_usd=1.0), None, True),
    ],
)
def test_a_further_attempt_must_be_affordable(limits: BudgetLimits, used: Usage | None, affords: bool) -> None:
    """What was spent (0.3), what its attempts used, and one more as dear as the dearest stay within the limit."""
    budget = Budget(limits)
    first, second = trial(0), trial(1)

    async def run() -> None:
        await budget.admit(first)
        budget.settle(result(first, Usage(cost_usd=0.3, total_tokens=30)))
        await budget.admit(second)

    asyncio.run(run())
    assert asyncio.run(budget.affords_retry(second, [used, None])) is affords
    assert budget.exhausted is not affords
    assert asyncio.run(budget.affords_retry(trial(2, paid=False), [Usage(cost_usd=99.0)]))


def test_after_a_stop_nothing_paid_starts() -> None:
    """However much is left."""

    async def run() -> list[bool]:
        budget = Budget(BudgetLimits(cost_usd=1.0))
        budget.close()
        return [await budget.admit(trial(0)), await budget.admit(trial(1, paid=False))]

    assert asyncio.run(run()) == [False, True]


def test_a_stop_ends_the_wait_for_money() -> None:
    """What is under way then is never settled, so whoever waits for that must be told."""
    budget = Budget(BudgetLimits(cost_usd=1.0))

    async def run() -> tuple[bool, bool]:
        assert await budget.admit(trial(0))
        waiting = asyncio.create_task(budget.admit(trial(1)))
        await asyncio.sleep(0)
        assert not waiting.done()
        budget.close()
        return await waiting, await Budget(BudgetLimits()).admit(trial(2))

    assert asyncio.run(asyncio.wait_for(run(), 20)) == (False, True)


def unfinished(number: int, *usages: Usage | None) -> Unfinished:
    """What an earlier command used for a trial that has no result."""
    failure = Failure.of_agent(FailureClass.KILLED, "cut off")
    attempts = tuple(GivenUp(failure=failure, usage=usage, wait_s=0.0, is_cut_off=True) for usage in usages)
    return Unfinished(trial_id=f"t{number}", ordinal=number, claim=1, attempts=attempts)


def test_what_was_used_for_trials_without_a_result_counts() -> None:
    """Their tokens and dollars are spent, and the trials themselves still have to be admitted."""

    async def allowed(limits: BudgetLimits, *usages: Usage | None) -> bool:
        return await Budget(limits, (), [unfinished(0, *usages)]).admit(trial(0))

    half, whole = Usage(total_tokens=50, cost_usd=0.5), Usage(total_tokens=100, cost_usd=1.0)
    for limits in (BudgetLimits(tokens=100), BudgetLimits(cost_usd=1.0)):
        assert asyncio.run(allowed(limits, half))
        assert asyncio.run(allowed(limits, half, None))
        assert not asyncio.run(allowed(limits, half, half))
        assert not asyncio.run(allowed(limits, whole))


def test_tokens_without_a_price_cost_as_much_as_others() -> None:
    """A session that was cut off names no dollars: they are in proportion to those of sessions that came to an end."""

    async def allowed(limit_usd: float, *tokens: int) -> bool:
        done = result(trial(0), Usage(total_tokens=100, cost_usd=1.0))
        cut_off = [unfinished(number, Usage(total_tokens=count)) for number, count in enumerate(tokens, 1)]
        return await Budget(BudgetLimits(cost_usd=limit_usd), [done], cut_off).admit(trial(1))

    assert asyncio.run(allowed(3.5, 100))
    assert not asyncio.run(allowed(3.5, 100, 100))
    assert not asyncio.run(allowed(3.5, 300))
