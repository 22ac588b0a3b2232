"""Runs that stop once they are decided: what runs next, when it ends, and that nothing but the results decides it."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from skillgauge.plan.planning import Terms
from skillgauge.run.budget import BudgetLimits
from skillgauge.run.pipeline import Conclusion, carry_out
from skillgauge.run.scheduling.rounds import Rounds
from skillgauge.stats import Evidence, Finding
from skillgauge.types.plan import Plan
from skillgauge.types.results.runs import RunState
from skillgauge.types.trial import Trial

from .test_pipeline import Store
from .two_arms import WITH, Passes, suite_of, two_arm_job, two_arm_plan

UNTIL_DECIDED = Terms(detect=0.5, until_decided=True)


def with_skill(trial: Trial) -> bool:
    """Passes with the skill only."""
    return trial.arm.name == WITH.name


def coin(trial: Trial) -> bool:
    """Passes or not by its seed, whichever arm it is in."""
    return trial.seed % 2 == 0


def run(plan: Plan, passes: Passes, **changes: object) -> Conclusion:
    """Carry a plan out."""
    return asyncio.run(carry_out(plan, two_arm_job(passes, **changes)))


def evidence_of(conclusion: Conclusion) -> Evidence:
    """The evidence of the only comparison."""
    (pair,) = conclusion.view.summary.pairs
    assert pair.evidence is not None
    return pair.evidence


def asked(conclusion: Conclusion) -> list[str]:
    """The trials that ran, by id, in any order."""
    return sorted(result.trial_id for result in conclusion.view.results())


def test_a_clear_lift_is_decided_after_one_round() -> None:
    """Ten cases that only the skill passes: all of them once in both arms, and nothing more."""
    plan = two_arm_plan([suite_of(10)], UNTIL_DECIDED)
    outcome = run(plan, with_skill)
    assert plan.head.trial_count == 120
    assert outcome.view.summary.counts.total == 20
    assert (outcome.complete, outcome.view.run.state) == (True, RunState.FINISHED)
    assert evidence_of(outcome).finding is Finding.HELPS


def test_the_first_round_is_whole() -> None:
    """A finding is about all cases, so that each runs in both arms however soon the answer is known."""
    outcome = run(two_arm_plan([suite_of(40)], UNTIL_DECIDED), with_skill)
    ran = Counter((result.case_id, result.arm) for result in outcome.view.results())
    assert len(ran) == 80
    assert set(ran.values()) == {1}


def test_arms_that_are_alike_are_given_up() -> None:
    """What is left could hardly decide it, so it is not spent; not before the second round."""
    passes = {1: True, 2: False}
    outcome = run(two_arm_plan([suite_of(10)], UNTIL_DECIDED), lambda trial: passes[trial.repeat])
    assert outcome.view.summary.counts.total == 40
    assert outcome.view.run.state is RunState.FINISHED
    assert evidence_of(outcome).finding is Finding.UNDECIDED


def test_all_rounds_are_run_where_they_may_decide() -> None:
    """A skill that wins three discordant pairs of four, of which there are few, until no round is left."""

    def passes(trial: Trial) -> bool:
        decisive = trial.case_index == trial.repeat % 4
        return with_skill(trial) == (trial.repeat % 4 != 0) if decisive else True

    outcome = run(two_arm_plan([suite_of(4)], replace(UNTIL_DECIDED, detect=0.4)), passes)
    ran = Counter(result.repeat for result in outcome.view.results())
    assert max(ran) > 3
    assert outcome.view.run.state is RunState.FINISHED


def test_saturated_cases_rest_and_return() -> None:
    """Two cases pass always in both arms: after two rounds they take part in every third one only."""

    def passes(trial: Trial) -> bool:
        return trial.case_index < 2 or with_skill(trial) or (trial.repeat + trial.case_index) % 2 == 0

    plan = two_arm_plan([suite_of(4)], replace(UNTIL_DECIDED, detect=0.4))
    outcome = run(plan, passes)
    repeats: dict[int, set[int]] = {}
    for result in outcome.view.results():
        repeats.setdefault(result.case_index, set()).add(result.repeat)
    last = max(repeats[2] | repeats[3])
    assert last == 7
    resting = {repeat for repeat in range(1, last + 1) if repeat <= 2 or repeat % 3 == 0}
    assert repeats[0] == repeats[1] == resting
    assert evidence_of(outcome).n == 4


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_the_same_trials_run_whatever_the_concurrency(concurrency: int) -> None:
    """So that a recording of one run holds all that another asks for."""
    plan = two_arm_plan([suite_of(12)], replace(UNTIL_DECIDED, detect=0.3, seed=5))
    alone = run(plan, coin, concurrency=1)
    together = run(plan, coin, concurrency=concurrency)
    assert asked(together) == asked(alone)
    assert evidence_of(together) == evidence_of(alone)


def test_both_arms_of_a_case_are_next_to_each_other_and_the_order_is_the_seeds() -> None:
    """The cases are shuffled anew for each round, and alike for the same seed."""

    def order(seed: int) -> list[tuple[str, str]]:
        ran: list[tuple[str, str]] = []

        def passes(trial: Trial) -> bool:
            ran.append((f"{trial.repeat} {trial.case.id}", trial.arm.name))
            return coin(trial)

        run(two_arm_plan([suite_of(8)], replace(UNTIL_DECIDED, seed=seed)), passes, concurrency=1)
        return ran

    ran = order(1)
    assert ran == order(1) != order(2)
    assert all(first[0] == second[0] for first, second in zip(ran[::2], ran[1::2], strict=True))
    rounds = [[place for place, _ in ran[::2] if place.startswith(f"{repeat} ")] for repeat in (1, 2)]
    assert [case.split()[1] for case in rounds[0]] != [case.split()[1] for case in rounds[1]]


def test_a_run_that_is_resumed_goes_on_where_it_was() -> None:
    """It asks for what is missing, and comes to the same end as one that was not stopped."""
    plan = two_arm_plan([suite_of(10)], replace(UNTIL_DECIDED, detect=0.3, seed=2))
    whole = run(plan, coin)
    store, stop, sessions = Store(), asyncio.Event(), list[str]()

    def stopping(trial: Trial) -> bool:
        sessions.append(trial.trial_id)
        if len(sessions) == 30:
            stop.set()
        return coin(trial)

    first = asyncio.run(carry_out(plan, two_arm_job(stopping, store=store, concurrency=1), stop))
    assert first.view.run.state is RunState.INTERRUPTED
    before = len(asked(first))
    second = run(plan, stopping, store=store)
    assert second.already_done == before
    assert asked(second) == asked(whole)
    assert evidence_of(second) == evidence_of(whole)


def test_a_budget_ends_it_earlier() -> None:
    """Whichever comes first."""
    plan = two_arm_plan([suite_of(10, paid=True)], UNTIL_DECIDED)
    outcome = run(plan, coin, budget=BudgetLimits(cost_usd=12.0))
    assert outcome.view.run.state is RunState.STOPPED
    assert outcome.view.summary.counts.total == 12


def test_suites_share_the_rounds_and_each_stops_by_itself() -> None:
    """Those that are decided leave the rounds to the others; the level allows for all of them."""

    def passes(trial: Trial) -> bool:
        return with_skill(trial) if trial.suite_id == "clear" else coin(trial)

    plan = two_arm_plan([suite_of(12, "clear"), suite_of(12, "noise")], replace(UNTIL_DECIDED, detect=0.3))
    outcome = run(plan, passes)
    ran = Counter(result.suite_id for result in outcome.view.results())
    assert ran["clear"] == 24
    assert ran["noise"] > 24
    clear, noise = outcome.view.summary.pairs
    assert clear.evidence is not None
    assert noise.evidence is not None
    assert (clear.evidence.finding, noise.evidence.finding) == (Finding.HELPS, Finding.UNDECIDED)
    assert clear.evidence.comparisons == 2


def test_a_suite_of_fewer_rounds_ends_before_the_others() -> None:
    """Large suites have few rounds and small ones many; neither is run beyond its own."""

    def passes(trial: Trial) -> bool:
        if trial.suite_id == "small":
            return with_skill(trial) or trial.case_index > 0
        return (trial.case_index + trial.repeat) % 2 == 0

    plan = two_arm_plan([suite_of(40, "large"), suite_of(4, "small")], UNTIL_DECIDED)
    rounds = {head.id: head.runs for head in plan.head.suites}
    assert rounds["large"] < rounds["small"]
    outcome = run(plan, passes)
    most = dict.fromkeys(rounds, 0)
    for result in outcome.view.results():
        most[result.suite_id] = max(most[result.suite_id], result.repeat)
    assert outcome.view.run.state is RunState.FINISHED
    assert most["large"] <= rounds["large"] < most["small"] <= rounds["small"]


def test_a_suite_of_one_arm_runs_as_often_as_it_says() -> None:
    """Beside one that is compared: nothing of it could be decided."""
    compared, other = suite_of(8, "compared"), suite_of(3, "other")
    other = replace(other, cells=other.cells[:1])
    plan = two_arm_plan([compared, other], UNTIL_DECIDED)
    assert [(head.until_decided, head.runs) for head in plan.head.suites] == [(True, 9), (False, 1)]
    ran = Counter(result.suite_id for result in run(plan, with_skill).view.results())
    assert ran == {"compared": 16, "other": 3}


def test_a_decision_allows_for_all_comparisons_of_the_run() -> None:
    """Seven wins decide one comparison, and not one of two; then its suite goes on until it is sure."""
    seven = two_arm_plan([suite_of(7)], UNTIL_DECIDED)
    assert run(seven, with_skill).view.summary.counts.total == 14
    both = two_arm_plan([suite_of(7, "clear"), suite_of(7, "noise")], UNTIL_DECIDED)
    outcome = run(both, lambda trial: with_skill(trial) if trial.suite_id == "clear" else coin(trial))
    assert Counter(result.suite_id for result in outcome.view.results())["clear"] > 14
    first = outcome.view.summary.pairs[0].evidence
    assert first is not None
    assert first.finding is Finding.HELPS


def test_errors_are_no_pairs() -> None:
    """A repeat that broke down in one arm says nothing, and the run ends all the same."""

    def passes(trial: Trial) -> bool | None:
        return None if trial.case_index == 0 and not with_skill(trial) else with_skill(trial)

    outcome = run(two_arm_plan([suite_of(10)], UNTIL_DECIDED), passes)
    discordant = evidence_of(outcome).discordant
    assert discordant is not None
    assert (discordant.won, discordant.lost) == (9, 0)


def test_a_run_of_errors_alone_comes_to_an_end() -> None:
    """There is nothing to decide it by."""
    outcome = run(two_arm_plan([suite_of(5)], UNTIL_DECIDED), lambda trial: None)
    assert outcome.view.summary.counts.errors == outcome.view.summary.counts.total == 10


def test_nothing_is_chosen_before_the_results_are_there() -> None:
    """The second batch waits until each trial of the first has ended."""
    plan = two_arm_plan([suite_of(6)], UNTIL_DECIDED)
    results = {result.trial_id: result for result in run(plan, coin).view.results()}

    async def watched() -> None:
        rounds = Rounds(plan)
        batches = rounds.batches()
        first = await anext(batches)
        assert len(first) == 12
        following = asyncio.ensure_future(anext(batches))
        for trial in first:
            await asyncio.sleep(0)
            assert not following.done()
            rounds.add(results[trial.trial_id])
        assert await following
        await batches.aclose()

    asyncio.run(watched())
