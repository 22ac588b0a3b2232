"""The plan: which trials there are, in which order, under which ids, and what is wrong before anything runs."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.errors import Origin, Severity
from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.stats import repeats_for
from skillgauge.types.arms import DIRECT, Arm, ArmKind, Comparison, SkillRef
from skillgauge.types.plan import Cell, Plan, Selection, SuitePlan, applies
from skillgauge.types.suite import (
    Case,
    Check,
    FileSpec,
    Gate,
    GateFigure,
    LimitOutcome,
    Limits,
    Suite,
    SuiteDefaults,
    Target,
    VerdictMode,
    VerdictRule,
)
from skillgauge.types.trial import Identity, Trial

quick = settings(max_examples=40, deadline=None)

CHECKS = (Check(id="k", scorer="exact"),)
RUNNER = Identity(name="r", version="1", settings={"a": 1})
T1, T2 = Target(id="t1", digest="d1"), Target(id="t2", digest="d2")
SKILL = SkillRef(name="pdf", root="/skills/pdf", digest="s1")
WITH = Arm(name="with", kind=ArmKind.AGENT, skills=(SKILL,))
WITHOUT = Arm(name="without", kind=ArmKind.AGENT)


def case(name: str = "c", /, **fields: Any) -> Case:
    """A case with one check, unless other ones are given."""
    return Case.model_validate({"id": name, "checks": CHECKS} | fields)


def suite(*cases: Case, **fields: Any) -> Suite:
    """A suite of these cases."""
    return Suite.model_validate({"id": "s", "format": "f", "root": "/s", "cases": cases or (case(),)} | fields)


def plan_of(
    *suites: SuitePlan,
    runs: int | None = 1,
    seed: int = 0,
    limits: Limits | None = None,
    versions: Mapping[str, str] | None = None,
) -> Plan:
    """A plan with everything defaulted."""
    surveys = [survey(one.suite, one.selection) for one in suites]
    return make_plan(suites, surveys, Terms(runs, seed, limits or Limits(), provenance=versions or {}))


def only_trial(one: Case | None = None, cell: Cell | None = None, **options: Any) -> Trial:
    """The one trial of a plan of one case and one cell."""
    trials = list(plan_of(SuitePlan(suite(one or case()), (cell or Cell(DIRECT, RUNNER, T1),)), **options).trials())
    assert len(trials) == 1
    return trials[0]


def place(trial: Trial) -> tuple[str, int, str | None, str, str]:
    """Where a trial stands in the matrix."""
    return (trial.suite_id, trial.repeat, trial.target.id if trial.target else None, trial.case.id, trial.arm.name)


# --- order ------------------------------------------------------------------------------------------------


def test_repeats_are_outermost_and_arms_of_a_case_adjacent() -> None:
    """Drift of a remote service touches all cases alike and both arms of a case alike; one target comes at a time."""
    one = suite(case("a"), case("b"), arms=(WITH, WITHOUT), targets=(T1, T2))
    cells = tuple(Cell(arm, RUNNER, target) for arm in (WITH, WITHOUT) for target in (T1, T2))
    other = suite(case("z"), id="other")
    plan = plan_of(SuitePlan(one, cells), SuitePlan(other, (Cell(DIRECT, RUNNER),)), runs=2)
    expected = [
        ("s", repeat, target, name, arm)
        for repeat in (1, 2)
        for target in ("t1", "t2")
        for name in ("a", "b")
        for arm in ("with", "without")
    ] + [("other", repeat, None, "z", "direct") for repeat in (1, 2)]
    assert [place(trial) for trial in plan.trials()] == expected


def test_engines_and_models_of_a_case_are_adjacent_too() -> None:
    """Cells of one target keep the order in which they were given, within each case."""
    cells = tuple(
        Cell(arm, Identity(name=name), T1, model=model)
        for arm in (WITH, WITHOUT)
        for name, model in (("e1", "m1"), ("e2", "m2"))
    )
    trials = plan_of(SuitePlan(suite(case("a"), case("b")), cells)).trials()
    assert [(one.case.id, one.arm.name, one.runner.name, one.model) for one in trials] == [
        (name, arm, engine, model)
        for name in ("a", "b")
        for arm in ("with", "without")
        for engine, model in (("e1", "m1"), ("e2", "m2"))
    ]


names = st.lists(st.sampled_from("abcdef"), max_size=4, unique=True)
suite_plans = st.builds(
    lambda number, cases, cells: SuitePlan(
        suite(*(case(name, targets=wanted, input=number) for name, wanted in cases), case("last"), id=f"s{number}"),
        tuple(Cell(arm, RUNNER, target, model) for arm, target, model in cells),
    ),
    st.integers(0, 9),
    names.flatmap(
        lambda chosen: st.tuples(
            *(st.tuples(st.just(name), st.sampled_from([(), ("t1",), ("t1", "t2"), ("absent",)])) for name in chosen)
        )
    ),
    st.lists(
        st.tuples(st.sampled_from([WITH, WITHOUT]), st.sampled_from([T1, T2, None]), st.sampled_from([None, "m"])),
        max_size=6,
        unique=True,
    ),
)


@quick
@given(
    st.lists(suite_plans, max_size=3, unique_by=lambda one: one.suite.id),
    st.integers(1, 3),
    st.integers(-(2**40), 2**40),
)
def test_the_plan_is_what_nested_loops_make(suites: list[SuitePlan], runs: int, seed: int) -> None:
    """Trials, their number, ordinals and ids follow from the matrix alone, each time they are asked for."""
    plan = plan_of(*suites, runs=runs, seed=seed)
    trials = list(plan.trials())
    expected = [
        (one.suite.id, repeat, target, given_case.id, cell.arm.name, cell.model)
        for one in suites
        for repeat in range(1, runs + 1)
        for target in dict.fromkeys(cell.target.id if cell.target else None for cell in one.cells)
        for given_case in one.suite.cases
        for cell in one.cells
        if (cell.target.id if cell.target else None) == target
        and (not given_case.targets or cell.target is None or cell.target.id in given_case.targets)
    ]
    assert [(*place(trial), trial.model) for trial in trials] == expected
    assert plan.head.trial_count == len(trials)
    assert [trial.ordinal for trial in trials] == list(range(len(trials)))
    assert len({trial.trial_id for trial in trials}) == len(trials)
    assert list(plan.trials()) == trials
    assert plan_of(*suites, runs=runs, seed=seed).head == plan.head


def test_a_plan_of_nothing_has_no_trials() -> None:
    """Without suites, cells or cases nothing runs and nothing fails."""
    assert list(plan_of().trials()) == []
    plan = plan_of(SuitePlan(suite(), ()))
    assert (plan.head.trial_count, list(plan.trials())) == (0, [])


def test_a_trial_holds_all_that_its_execution_needs() -> None:
    """A trial can be sent anywhere: case, target, arm, runner, model and limits are in it."""
    one = case("b", input={"q": 1})
    cell = Cell(WITH, RUNNER, T1, model="m", paid=True)
    (_, trial) = plan_of(SuitePlan(suite(case("a"), one), (cell,)), seed=3).trials()
    assert (trial.case, trial.target, trial.arm, trial.runner, trial.model) == (one, T1, WITH, RUNNER, "m")
    assert (trial.suite_id, trial.case_index, trial.repeat, trial.paid) == ("s", 1, 1, True)
    assert Trial.model_validate_json(trial.model_dump_json()) == trial
    assert not only_trial().paid


# --- ids of trials ----------------------------------------------------------------------------------------

FILE = FileSpec(path="a", text="x")
SAME_WORK: dict[str, Trial] = {
    "case id": only_trial(case("d")),
    "case name": only_trial(case(name="c", description="d")),
    "checks": only_trial(case(checks=(Check(id="k", scorer="regex", options={"p": 1}, weight=3),))),
    "more checks": only_trial(case(checks=(*CHECKS, Check(id="rubric", scorer="rubric")))),
    "rule": only_trial(case(rule=VerdictRule(mode=VerdictMode.MEAN, threshold=0.5))),
    "files of graders": only_trial(case(grader_files=(FILE,))),
    "tags": only_trial(case(tags=("slow",))),
    "weight": only_trial(case(weight=2.0)),
    "targets": only_trial(case(targets=("t1",))),
    "extras": only_trial(case(extras={"x": 1}, origin=Origin("f"))),
    "target id": only_trial(cell=Cell(DIRECT, RUNNER, Target(id="other", digest="d1", tags=("x",)))),
    "arm name": only_trial(cell=Cell(Arm(name="called", kind=ArmKind.DIRECT), RUNNER, T1)),
    "price": only_trial(cell=Cell(DIRECT, RUNNER, T1, paid=True)),
    "seed": only_trial(seed=5),
}
OTHER_WORK: dict[str, Trial] = {
    "input": only_trial(case(input=1)),
    "prompt": only_trial(case(prompt="p")),
    "setup": only_trial(case(setup=("true",))),
    "files": only_trial(case(files=(FILE,))),
    "content of files": only_trial(case(files=(FileSpec(path="a", text="y"),))),
    "environment": only_trial(case(env={"A": "1"})),
    "target digest": only_trial(cell=Cell(DIRECT, RUNNER, Target(id="t1", digest="d9"))),
    "kind of arm": only_trial(cell=Cell(WITHOUT, RUNNER, T1)),
    "skills": only_trial(cell=Cell(WITH, RUNNER, T1)),
    "content of skills": only_trial(
        cell=Cell(
            Arm(name="with", kind=ArmKind.AGENT, skills=(SkillRef(name="pdf", root="/skills/pdf", digest="s2"),)),
            RUNNER,
            T1,
        )
    ),
    "runner": only_trial(cell=Cell(DIRECT, Identity(name="q", version="1", settings={"a": 1}), T1)),
    "runner settings": only_trial(cell=Cell(DIRECT, Identity(name="r", version="1", settings={"a": 2}), T1)),
    "model": only_trial(cell=Cell(DIRECT, RUNNER, T1, model="m")),
    "time limit": only_trial(case(limits=Limits(timeout_s=9))),
    "turns": only_trial(case(limits=Limits(max_turns=9))),
    "output": only_trial(case(limits=Limits(output_bytes=9))),
    "limits of the user": only_trial(limits=Limits(timeout_s=7)),
    "limits of the cell": only_trial(cell=Cell(DIRECT, RUNNER, T1, limits=Limits(timeout_s=8))),
    "repeat": list(plan_of(SuitePlan(suite(), (Cell(DIRECT, RUNNER, T1),)), runs=2).trials())[1],
}


@pytest.mark.parametrize("other", SAME_WORK.values(), ids=SAME_WORK)
def test_what_changes_no_execution_keeps_its_id(other: Trial) -> None:
    """Editing checks, names, tags or weights buys no new execution."""
    base = only_trial()
    assert other.execution_id == base.execution_id
    assert other.cassette_key == base.cassette_key


@pytest.mark.parametrize("other", OTHER_WORK.values(), ids=OTHER_WORK)
def test_what_changes_an_execution_changes_its_id(other: Trial) -> None:
    """Equal execution ids and cassette keys mean the same work."""
    base = only_trial()
    assert other.execution_id != base.execution_id
    assert other.cassette_key != base.cassette_key
    assert other.trial_id != base.trial_id


def test_all_kinds_of_other_work_differ_from_each_other() -> None:
    """No two changes make the same id by accident, such as a limit moving from one field to the next."""
    assert len({trial.execution_id for trial in OTHER_WORK.values()}) == len(OTHER_WORK)


def test_limits_set_in_different_places_are_the_same_work() -> None:
    """An execution depends on the limit in force, not on who set it."""
    limits = Limits(timeout_s=5)
    ids = {
        only_trial(case(limits=limits)).execution_id,
        only_trial(limits=limits).execution_id,
        only_trial(cell=Cell(DIRECT, RUNNER, T1, limits=limits)).execution_id,
    }
    assert len(ids) == 1


def test_a_cassette_outlives_the_version_of_the_engine() -> None:
    """The key of a recording leaves the version out, the execution id does not."""
    base = only_trial()
    newer = only_trial(cell=Cell(DIRECT, Identity(name="r", version="2", settings={"a": 1}), T1))
    assert newer.cassette_key == base.cassette_key
    assert newer.execution_id != base.execution_id
    assert newer.trial_id != base.trial_id


@quick
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "1", "2", "1|1", "None"]),
            st.sampled_from([None, 1, "1", 1.0]),
            st.sampled_from([None, 1.0, 11.0]),
            st.sampled_from([None, 1, 11]),
            st.sampled_from([None, 1, 11]),
        ),
        min_size=2,
        max_size=5,
        unique_by=repr,
    )
)
def test_no_two_works_share_an_id(works: list[tuple[str, object, float | None, int | None, int | None]]) -> None:
    """Digest, input and limits do not run into each other, however alike they look as text."""
    ids = {
        only_trial(
            case(input=value, limits=Limits(timeout_s=timeout_s, max_turns=max_turns, output_bytes=output_bytes)),
            Cell(DIRECT, RUNNER, Target(id="t", digest=content)),
        ).execution_id
        for content, value, timeout_s, max_turns, output_bytes in works
    }
    assert len(ids) == len(works)


def test_the_same_work_in_two_places_is_two_trials() -> None:
    """Cases, suites, targets and arms of equal content share executions, never results."""
    twins = [Target(id="t1"), Target(id="t2")]
    arms = [Arm(name="one", kind=ArmKind.DIRECT), Arm(name="two", kind=ArmKind.DIRECT)]
    cells = tuple(Cell(arm, RUNNER, target) for target in twins for arm in arms)
    plan = plan_of(
        *(SuitePlan(suite(case("a"), case("b"), case("a"), id=name), cells) for name in ("s1", "s2")), runs=2
    )
    trials = list(plan.trials())
    assert len(trials) == len({trial.trial_id for trial in trials}) == 48
    assert len({trial.execution_id for trial in trials}) == 2  # one per repeat


def test_a_trial_keeps_its_id_when_other_cases_are_selected() -> None:
    """The position in the suite counts, not the one in the selection, so that results can be compared."""
    cells = (Cell(DIRECT, RUNNER, T1),)
    whole = list(plan_of(SuitePlan(suite(case("a"), case("b")), cells)).trials())
    part = list(plan_of(SuitePlan(suite(case("a"), case("b")), cells, Selection(cases=("b",)))).trials())
    assert part[0].trial_id == whole[1].trial_id
    assert (part[0].ordinal, part[0].case_index) == (0, 1)


def test_the_seed_of_a_trial_is_shared_by_its_arms() -> None:
    """Both arms of a case and all engines draw the same numbers; another case, repeat or run draws others."""
    cells = (Cell(WITH, RUNNER, T1), Cell(WITHOUT, Identity(name="q"), T2))

    def seeds(seed: int) -> dict[tuple[str, int], set[int]]:
        found: dict[tuple[str, int], set[int]] = {}
        for trial in plan_of(SuitePlan(suite(case("a"), case("b")), cells), runs=2, seed=seed).trials():
            found.setdefault((trial.case.id, trial.repeat), set()).add(trial.seed)
        return found

    ones = seeds(1)
    assert all(len(values) == 1 for values in ones.values())
    values = [value for found in (ones, seeds(2)) for one in found.values() for value in one]
    assert len(set(values)) == 8
    assert all(0 <= value < 2**32 for value in values)


# --- the plan's id ----------------------------------------------------------------------------------------


def plan_id(one: Suite | None = None, cells: tuple[Cell, ...] | None = None, **options: Any) -> str:
    """The id of a plan of one suite."""
    selection = options.pop("selection", Selection())
    cells = (Cell(DIRECT, RUNNER, T1),) if cells is None else cells
    return plan_of(SuitePlan(one or suite(), cells, selection), **options).head.plan_id


OTHER_PLANS: dict[str, str] = {
    "runs": plan_id(runs=2),
    "seed": plan_id(seed=1),
    "limits": plan_id(limits=Limits(timeout_s=1)),
    "version": plan_id(versions={"skillgauge-core": "1"}),
    "other version": plan_id(versions={"skillgauge-core": "2"}),
    "distribution": plan_id(versions={"skillgauge-scorer-exact": "1"}),
    "suite id": plan_id(suite(id="t")),
    "input": plan_id(suite(case(input=1))),
    "check options": plan_id(suite(case(checks=(Check(id="k", scorer="exact", options={"a": 1}),)))),
    "check weight": plan_id(suite(case(checks=(Check(id="k", scorer="exact", weight=2),)))),
    "rule": plan_id(suite(case(rule=VerdictRule(mode=VerdictMode.MEAN)))),
    "case id": plan_id(suite(case("d"))),
    "case weight": plan_id(suite(case(weight=2))),
    "case tags": plan_id(suite(case(tags=("x",)))),
    "case limits": plan_id(suite(case(limits=Limits(max_turns=1)))),
    "another case": plan_id(suite(case("c"), case("d"))),
    "order of cases": plan_id(suite(case("d"), case("c"))),
    "target": plan_id(cells=(Cell(DIRECT, RUNNER, T2),)),
    "runner version": plan_id(cells=(Cell(DIRECT, Identity(name="r", version="2", settings={"a": 1}), T1),)),
    "arm": plan_id(cells=(Cell(WITH, RUNNER, T1),)),
    "skills": plan_id(cells=(Cell(Arm(name="with", kind=ArmKind.AGENT), RUNNER, T1),)),
    "model": plan_id(cells=(Cell(DIRECT, RUNNER, T1, model="m"),)),
    "limits of the cell": plan_id(cells=(Cell(DIRECT, RUNNER, T1, limits=Limits(timeout_s=1)),)),
    "another cell": plan_id(cells=(Cell(DIRECT, RUNNER, T1), Cell(DIRECT, RUNNER, T2))),
    "no cell": plan_id(cells=()),
}
SAME_PLANS: dict[str, str] = {
    "nothing": plan_id(),
    "names": plan_id(suite(case(name="c", description="d", extras={"x": 1}), name="n", description="d")),
    "place of the suite": plan_id(suite(root="/t")),
    "places": plan_id(
        suite(case(origin=Origin("f", (1,)), checks=(Check(id="k", scorer="exact", origin=Origin("f")),)))
    ),
    "a selection of everything": plan_id(selection=Selection(cases=("*",))),
    "what is left out": plan_id(suite(case("c"), case("d")), selection=Selection(cases=("c",))),
    "words about the target": plan_id(cells=(Cell(DIRECT, RUNNER, Target(id="t1", name="n", digest="d1")),)),
    "versions written otherwise": plan_id(versions={}),
}


@pytest.mark.parametrize("other", OTHER_PLANS.values(), ids=OTHER_PLANS)
def test_a_plan_that_would_run_or_grade_otherwise_has_another_id(other: str) -> None:
    """Only the run of the very same plan is resumed."""
    assert other != plan_id()


def test_no_two_plans_share_an_id() -> None:
    """Each of the differences above makes an id of its own."""
    assert len(set(OTHER_PLANS.values())) == len(OTHER_PLANS)


@pytest.mark.parametrize("other", SAME_PLANS.values(), ids=SAME_PLANS)
def test_what_decides_nothing_keeps_the_plan_id(other: str) -> None:
    """A run is resumed although a description, a place or a name has changed."""
    assert other == plan_id()


def test_the_plan_id_covers_which_targets_a_case_applies_to() -> None:
    """Resuming a plan with other targets would mix results of trials that are no longer planned."""
    cells = (Cell(DIRECT, RUNNER, T1), Cell(DIRECT, RUNNER, T2))
    ids = {plan_id(suite(case(targets=targets)), cells) for targets in ((), ("t1",), ("t2",))}
    assert len(ids) == 3


def test_the_plan_id_covers_what_an_agents_limit_means() -> None:
    """Whether running out of time is a fail or an error decides how the trials are graded."""
    assert plan_id(suite(on_agent_limit=LimitOutcome.ERROR)) != plan_id(suite(on_agent_limit=LimitOutcome.FAIL))


def test_the_plan_id_does_not_depend_on_the_order_of_versions() -> None:
    """Distributions are a set; in which order they were loaded says nothing."""
    one, other = {"a": "1", "b": "2"}, {"b": "2", "a": "1"}
    assert plan_id(versions=one) == plan_id(versions=other)


def test_a_suite_says_how_often_its_cases_run() -> None:
    """Where the user says nothing; the plan's own number is the largest, and another number is another plan."""
    often = SuitePlan(suite(id="often", defaults=SuiteDefaults(runs=3)), (Cell(DIRECT, RUNNER, T1),))
    once = SuitePlan(suite(case(), case("d"), id="once"), (Cell(DIRECT, RUNNER, T1),))
    plan = plan_of(often, once, runs=None)
    assert [(head.runs, head.trial_count) for head in plan.head.suites] == [(3, 3), (1, 2)]
    assert (plan.head.runs, plan.head.trial_count) == (3, 5)
    assert [(trial.suite_id, trial.repeat) for trial in plan.trials()] == [
        *(("often", repeat) for repeat in (1, 2, 3)),
        *(("once", 1), ("once", 1)),
    ]
    assert plan_of(often, runs=2).head.trial_count == 2
    fewer = SuitePlan(suite(id="often", defaults=SuiteDefaults(runs=2)), often.cells)
    assert plan_of(often, runs=None).head.plan_id != plan_of(fewer, runs=None).head.plan_id


def test_repeats_are_chosen_by_a_difference_only_where_arms_are_compared() -> None:
    """A suite without comparison, or without cases, keeps its own number of repeats."""
    own = SuiteDefaults(runs=7)
    compared = suite(comparisons=(Comparison(candidate="with", baseline="without"),), defaults=own)
    terms = Terms(detect=0.2)
    assert terms.repeats(compared, 50) == repeats_for(50, 0.2) != 7
    assert terms.repeats(compared, 0) == 7
    assert terms.repeats(suite(defaults=own), 50) == 7
    assert Terms().repeats(compared, 50) == 7


# --- limits -----------------------------------------------------------------------------------------------

limit_sets = st.builds(
    Limits,
    timeout_s=st.none() | st.integers(1, 9).map(float),
    max_turns=st.none() | st.integers(1, 9),
    output_bytes=st.none() | st.integers(1, 9),
)


@quick
@given(limit_sets, limit_sets, limit_sets)
def test_a_cases_limits_go_before_the_users_and_those_before_the_suites(
    own: Limits, asked: Limits, fallback: Limits
) -> None:
    """Each limit comes from the first of the three that sets it."""
    trial = only_trial(case(limits=own), Cell(DIRECT, RUNNER, T1, limits=fallback), limits=asked)
    for name in Limits.model_fields:
        values = [getattr(limits, name) for limits in (own, asked, fallback)]
        assert getattr(trial.limits, name) == next((value for value in values if value is not None), None)


# --- selection --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "admitted"),
    [
        (Selection(), True),
        (Selection(cases=("pdf-1",)), True),
        (Selection(cases=("pdf-*",)), True),
        (Selection(cases=("stem",)), True),
        (Selection(cases=("st?m",)), True),
        (Selection(cases=("other", "[op]df-1")), True),
        (Selection(cases=("pdf",)), False),
        (Selection(cases=("PDF-1",)), False),
        (Selection(cases=("other",)), False),
        (Selection(tags=("slow",)), True),
        (Selection(tags=("other", "fast")), True),
        (Selection(tags=("slo*",)), False),
        (Selection(tags=("other",)), False),
        (Selection(cases=("pdf-1",), tags=("other",)), False),
        (Selection(cases=("other",), tags=("slow",)), False),
        (Selection(cases=("pdf-1",), tags=("slow",)), True),
        (Selection(targets=("t9",)), True),
    ],
    ids=str,
)
def test_a_case_is_selected_by_glob_and_tag(selection: Selection, admitted: bool) -> None:
    """Id or name must match one of the globs, in its case, and one of the tags must be among those asked for."""
    assert selection.admits(case("pdf-1", name="stem", tags=("slow", "fast"))) is admitted


@pytest.mark.parametrize("given_", [{"cases": ("a",)}, {"tags": ("a",)}, {"targets": ("a",)}], ids=str)
def test_any_selector_makes_a_selection(given_: dict[str, Any]) -> None:
    """That nothing was found is another message if somebody has selected."""
    assert Selection(**given_).is_given
    assert not Selection().is_given


def test_a_case_without_tags_is_not_selected_by_tag() -> None:
    """No tag is not every tag."""
    assert not Selection(tags=("slow",)).admits(case())


def test_only_selected_cases_are_planned_counted_and_checked() -> None:
    """What is not selected neither runs nor gets in the way with its problems."""
    cases = [
        case("a", checks=(Check(id="of a", scorer="s"),)),
        case("b", checks=(), tags=("x",), weight=2),
        case("c", checks=(Check(id="of c", scorer="s"), Check(id="too", scorer="t")), tags=("x",)),
    ]
    selected = SuitePlan(suite(*cases), (Cell(DIRECT, RUNNER, T1),), Selection(cases=("[ac]",), tags=("x",)))
    found = survey(selected.suite, selected.selection)
    assert (found.problems, [check.id for check in found.checks]) == ((), ["of c", "too"])
    plan = plan_of(selected, runs=3)
    assert (plan.head.suites[0].case_count, plan.head.trial_count) == (1, 3)
    assert not plan.head.suites[0].case_weights
    assert [(index, one.id) for index, one in selected.cases()] == [(2, "c")]


@pytest.mark.parametrize(
    ("wanted", "target", "expected"),
    [
        ((), T1, True),
        ((), None, True),
        (("t1",), T1, True),
        (("t2", "t1"), T1, True),
        (("t2",), T1, False),
        (("t2",), None, True),
    ],
    ids=str,
)
def test_a_case_may_apply_to_some_targets_only(wanted: tuple[str, ...], target: Target | None, expected: bool) -> None:
    """A case that names targets runs with these; where there is no target to choose from, it runs."""
    one = case(targets=wanted)
    assert applies(one, target) is expected
    plan = plan_of(SuitePlan(suite(one), (Cell(DIRECT, RUNNER, target),)))
    assert len(list(plan.trials())) == plan.head.trial_count == expected


# --- problems ---------------------------------------------------------------------------------------------


def test_a_case_without_checks_is_a_problem_at_its_place() -> None:
    """A case that asserts nothing could never fail; the user is told where it is and what to do, once."""
    origin = Origin("suite.yaml", ("cases", 1))
    (problem,) = survey(suite(case("a"), case("idle", checks=(), origin=origin)), Selection()).problems
    assert (problem.code, problem.origin, problem.severity) == ("suite.no-check", origin, Severity.ERROR)
    assert "'idle'" in problem.message
    assert problem.hint


def test_a_survey_has_each_check_once() -> None:
    """Checks of one scorer with one set of options are one; without a place it stands where its case does."""
    first, second, of_case = Origin("first"), Origin("second"), Origin("case")
    strict = Check(id="a", scorer="s", options={"x": 1, "y": 2}, origin=first)
    again = Check(id="b", scorer="s", options={"y": 2, "x": 1}, weight=2, origin=second)
    other = Check(id="c", scorer="s", options={"x": 1.0, "y": 2})
    found = survey(suite(case("a", checks=(strict, other), origin=of_case), case("b", checks=(again,))), Selection())
    assert [(check.id, check.origin) for check in found.checks] == [("a", first), ("c", of_case)]


def test_a_survey_leaves_out_what_is_not_selected() -> None:
    """Neither counts nor checks nor problems of other cases are in it."""
    one = suite(case("a"), case("b", checks=()), case("c", checks=(Check(id="k", scorer="other"),)))
    found = survey(one, Selection(cases=("a",)))
    assert (found.selected, [check.scorer for check in found.checks], found.problems) == (1, ["exact"], ())


# --- the head ---------------------------------------------------------------------------------------------


def test_the_head_tells_reports_what_was_planned() -> None:
    """Reports are made from the head alone: the suite's facts, the targets that take part, arms and runners."""
    one = suite(
        case("a"),
        case("b", weight=0.5),
        name="Suite",
        version="3",
        dialect="d",
        digest="g",
        targets=(T2, T1, Target(id="unused")),
        arms=(WITH, WITHOUT),
        comparisons=(Comparison(candidate="with", baseline="without"),),
        document="own",
        gates=(Gate(figure=GateFigure.FAILED, threshold=0),),
        completion="rate",
        parameters={"p": 1},
    )
    other = Identity(name="q")
    cells = tuple(Cell(arm, runner, T1, model="m") for arm in (WITH, WITHOUT) for runner in (RUNNER, other))
    head = plan_of(SuitePlan(one, (*cells, Cell(WITH, RUNNER, T2))), runs=2, seed=9, versions={"v": "1"}).head
    (planned,) = head.suites
    assert [target.id for target in planned.targets] == ["t2", "t1"]
    assert (planned.name, planned.version, planned.format, planned.dialect) == ("Suite", "3", "f", "d")
    assert (planned.root, planned.digest, planned.document) == ("/s", "g", "own")
    assert (planned.gates, planned.completion) == ((Gate(figure=GateFigure.FAILED, threshold=0),), "rate")
    assert planned.arms == ("with", "without")
    assert planned.comparisons == (Comparison(candidate="with", baseline="without"),)
    assert planned.parameters == {"p": 1}
    assert planned.case_weights
    assert (head.runners, head.models) == ((RUNNER, other), ("m",))
    assert (head.runs, head.seed, head.provenance) == (2, 9, {"v": "1"})


def test_a_target_in_the_head_is_the_target_of_the_suite() -> None:
    """Name, version, adapter, digest and tags are what reports print."""
    target = Target(id="t", name="n", version="2", adapter="http", digest="d", tags=("x",), entrypoint="http://a")
    head = plan_of(SuitePlan(suite(targets=(target,)), (Cell(DIRECT, RUNNER, target),))).head
    (one,) = head.suites[0].targets
    assert one.model_dump() == {
        "id": "t",
        "name": "n",
        "version": "2",
        "adapter": "http",
        "digest": "d",
        "tags": ("x",),
    }


def test_a_suite_without_comparison_has_none_in_its_head() -> None:
    """There is no candidate where nothing is compared."""
    head = plan_of(SuitePlan(suite(), (Cell(DIRECT, RUNNER),))).head
    assert (head.suites[0].comparisons, head.suites[0].targets) == ((), ())
    assert not head.suites[0].case_weights


@pytest.mark.parametrize(
    ("asked", "of_cells", "told"),
    [
        (None, (None, None), None),
        (None, (5.0, 5.0), 5.0),
        (None, (5.0, 6.0), None),
        (None, (5.0, None), None),
        (2.0, (5.0, 6.0), 2.0),
        (2.0, (None, None), 2.0),
        (2.0, (), None),
    ],
)
def test_the_head_tells_the_time_limit_of_cases_without_their_own(
    asked: float | None, of_cells: tuple[float | None, ...], told: float | None
) -> None:
    """The user's goes before the suite's; where the cells differ there is no one answer."""
    cells = tuple(
        Cell(DIRECT, RUNNER, Target(id=f"t{number}"), limits=Limits(timeout_s=limit))
        for number, limit in enumerate(of_cells)
    )
    plan = plan_of(SuitePlan(suite(case(limits=Limits(timeout_s=99))), cells), limits=Limits(timeout_s=asked))
    assert plan.head.suites[0].timeout_s == told


# --- streaming --------------------------------------------------------------------------------------------


class ManyCases:
    """A hundred thousand cases that exist one at a time, with a count of how many are alive."""

    def __init__(self) -> None:
        self.made = 0
        self.most_alive = 0
        self._alive: set[weakref.ref[Case]] = set()

    def __iter__(self) -> Iterator[Case]:
        for number in range(100_000):
            one = Case(id=str(number), checks=CHECKS)
            self.made += 1
            self._alive.add(weakref.ref(one, self._alive.discard))
            self.most_alive = max(self.most_alive, len(self._alive))
            yield one


@pytest.mark.slow
def test_a_suite_of_a_hundred_thousand_cases_is_never_materialised() -> None:
    """Planning holds a handful of cases at a time, and a trial is made when it is asked for."""
    cases = ManyCases()
    cells = (Cell(WITH, RUNNER, T1), Cell(WITHOUT, RUNNER, T1))
    plan = plan_of(SuitePlan(Suite(id="s", format="f", root="/", cases=cases), cells))
    assert plan.head.trial_count == 200_000
    assert cases.made == 100_000
    assert cases.most_alive < 5
    taken = list(islice(plan.trials(), 4))
    assert [trial.case.id for trial in taken] == ["0", "0", "1", "1"]
    assert cases.made == 100_002
