"""Cases with repeats of their own: each has exactly so many in every cell, under the ids that it has anyway."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.types.arms import DIRECT, Arm, ArmKind, Comparison
from skillgauge.types.plan import Cell, Plan, SuitePlan, applies
from skillgauge.types.suite import Case, Check, Suite, SuiteDefaults, Target
from skillgauge.types.trial import Identity, Trial

quick = settings(max_examples=60, deadline=None)

RUNNER = Identity(name="r")
WITH, WITHOUT = Arm(name="with", kind=ArmKind.AGENT), Arm(name="without", kind=ArmKind.AGENT)
TARGETS = (Target(id="t1", digest="1"), Target(id="t2", digest="2"))
CELLS = (*(Cell(arm, RUNNER, target) for target in TARGETS for arm in (WITH, WITHOUT)), Cell(DIRECT, RUNNER))
PAIR = Comparison(candidate="with", baseline="without")

Wishes = list[tuple[int | None, tuple[str, ...]]]
"""Of each case: its repeats and its targets."""
wishes = st.lists(
    st.tuples(st.sampled_from([None, None, 1, 2, 3, 5]), st.sampled_from([(), ("t1",), ("t1", "t2"), ("t9",)])),
    min_size=1,
    max_size=5,
)


def suite_of(cases: Wishes, default: int | None = None, compares: bool = False) -> SuitePlan:
    """A suite of such cases in all cells."""
    checks = (Check(id="k", scorer="exact"),)
    suite = Suite(
        id="s",
        format="f",
        root="/s",
        cases=tuple(
            Case(id=f"c{number}", checks=checks, runs=runs, targets=targets)
            for number, (runs, targets) in enumerate(cases)
        ),
        targets=TARGETS,
        arms=(WITH, WITHOUT, DIRECT),
        comparisons=(PAIR,) if compares else (),
        defaults=SuiteDefaults(runs=default),
    )
    return SuitePlan(suite, CELLS)


def plan_of(suite: SuitePlan, terms: Terms | None = None) -> Plan:
    """The plan of one suite."""
    return make_plan([suite], [survey(suite.suite, suite.selection)], terms or Terms())


def counts(trials: list[Trial]) -> Counter[tuple[str, str | None, str]]:
    """Count the trials of each case in each cell."""
    return Counter((one.case.id, one.target.id if one.target else None, one.arm.name) for one in trials)


@quick
@given(wishes, st.sampled_from([None, 1, 2, 4]))
def test_every_case_has_exactly_its_repeats_in_each_cell(cases: Wishes, default: int | None) -> None:
    """Suite by suite and round by round; each repeat is there once, and the head counts what there is."""
    suite = suite_of(cases, default)
    plan = plan_of(suite)
    trials = list(plan.trials())
    assert counts(trials) == {
        (case.id, cell.target_id, cell.arm.name): case.runs or default or 1
        for case in suite.suite.cases
        for cell in CELLS
        if applies(case, cell.target)
    }
    places = {(one.case.id, one.target, one.arm.name, one.repeat) for one in trials}
    assert len(places) == len({one.trial_id for one in trials}) == len(trials) == plan.head.trial_count
    assert [one.ordinal for one in trials] == list(range(len(trials)))
    rounds = [trial for _, of_suites in plan.rounds() for one in of_suites for case in one for trial in case]
    assert {one.trial_id for one in rounds} == {one.trial_id for one in trials}
    assert [one.ordinal for one in rounds] == list(range(len(trials)))
    numbers = [runs or default or 1 for runs, _ in cases]
    assert (plan.head.fewest_runs, plan.head.runs) == (min(numbers), max(numbers))


@quick
@given(wishes, st.sampled_from([None, 1, 2, 4]))
def test_the_ids_are_those_of_the_same_repeats_anyway(cases: Wishes, default: int | None) -> None:
    """A repeat is the same work whoever asked for it, so that a store or a recording can answer it."""
    own = plan_of(suite_of(cases, default))
    every = plan_of(suite_of(cases, default), Terms(runs=own.head.runs))
    ids = {(one.case.id, one.target, one.arm.name, one.repeat): one.trial_id for one in every.trials()}
    assert all(ids[one.case.id, one.target, one.arm.name, one.repeat] == one.trial_id for one in own.trials())


@quick
@given(wishes, st.integers(1, 4))
def test_a_number_of_the_user_goes_before(cases: Wishes, runs: int) -> None:
    """All cases then have the same."""
    plan = plan_of(suite_of(cases, 2), Terms(runs=runs))
    assert set(counts(list(plan.trials())).values()) <= {runs}
    assert (plan.head.fewest_runs, plan.head.runs, plan.head.suites[0].fewest_runs) == (runs, runs, None)


@pytest.mark.parametrize("until_decided", [False, True])
def test_a_difference_to_show_goes_before(until_decided: bool) -> None:
    """`--runs auto` and `until-decided` choose one number for all cases of a suite that compares."""
    cases: Wishes = [(1, ()), (4, ()), (None, ()), (None, ())]
    plan = plan_of(suite_of(cases, compares=True), Terms(detect=0.5, until_decided=until_decided))
    assert plan.head.suites[0].fewest_runs is None
    assert plan.head.runs == plan.head.fewest_runs > 4
    alone = plan_of(suite_of(cases), Terms(detect=0.5, until_decided=until_decided))
    assert (alone.head.fewest_runs, alone.head.runs) == (1, 4), "there is nothing to show"


def test_plans_of_other_repeats_have_other_ids() -> None:
    """Only the very same plan is resumed, and repeats that come to the same number are not the same."""
    every: list[tuple[Wishes, int | None, Terms]] = [
        ([(1, ()), (3, ())], None, Terms()),
        ([(3, ()), (1, ())], None, Terms()),
        ([(1, ()), (3, ())], None, Terms(runs=3)),
        ([(None, ()), (3, ())], 1, Terms()),
        ([(None, ()), (3, ())], 2, Terms()),
        ([(2, ()), (2, ())], 3, Terms()),
        ([(None, ()), (None, ())], 3, Terms()),
    ]
    ids = [plan_of(suite_of(cases, default), terms).head.plan_id for cases, default, terms in every]
    assert len({*ids}) == len(ids)
    assert ids[0] == plan_of(suite_of([(1, ()), (3, ())])).head.plan_id
