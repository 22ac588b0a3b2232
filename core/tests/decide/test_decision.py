"""What a run means for the caller: exit code, the last line, and which news goes before which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.api import Comparison, Kept
from skillgauge.decide.decision import GateOptions, decide
from skillgauge.errors import ExitCode
from skillgauge.stats import Repeats, weigh
from skillgauge.types.arms import GroupKey
from skillgauge.types.comparison import PairSummary
from skillgauge.types.decided import GateAnswer
from skillgauge.types.judged_gates import JUDGED, JudgedGates
from skillgauge.types.results.runs import RunInfo, RunState, RunView
from skillgauge.types.results.summaries import Counts, Figure, GroupSummary, RateInterval, SuiteValidity, Summary
from skillgauge.types.suite import (
    Gate,
    GateFigure,
)
from skillgauge.types.trial import PlanHead, SuiteHead

NO_FAILED = Gate(figure=GateFigure.FAILED, threshold=0)
quick = settings(max_examples=60, deadline=None)


def group(
    passed: int = 0,
    failed: int = 0,
    errors: int = 0,
    skipped: int = 0,
    *,
    suite: str = "s",
    arm: str = "direct",
    **fields: Any,
) -> GroupSummary:
    """A group with counts, of one case."""
    counts = Counts(
        total=passed + failed + errors + skipped, passed=passed, failed=failed, errors=errors, skipped=skipped
    )
    return GroupSummary.model_validate(
        {
            "suite_id": suite,
            "target_id": "skill",
            "arm": arm,
            "runner": "r",
            "model": None,
            "counts": counts,
            "pass_rate": RateInterval(rate=counts.pass_share, n=1),
            "pass_bounds": counts.pass_bounds if errors else None,
        }
        | fields
    )


def suite(name: str = "s", **fields: Any) -> SuiteHead:
    """A suite as it was planned."""
    return SuiteHead.model_validate(
        {
            "id": name,
            "format": "f",
            "root": "/",
            "content_digest": "",
            "case_count": 1,
            "targets": (),
            "arms": ("direct",),
        }
        | fields
    )


def view(
    *groups: GroupSummary,
    state: RunState = RunState.FINISHED,
    suites: Sequence[SuiteHead] = (),
    invalid: Sequence[str] = (),
    planned: int = 10,
) -> RunView:
    """A run with these groups."""
    suites = tuple(suites) or (suite(),)
    names = Counts.model_fields
    counts = Counts(**{name: sum(getattr(one.counts, name) for one in groups) for name in names})
    validity = tuple(
        SuiteValidity(
            suite_id=one.id,
            valid=one.id not in invalid,
            error_share=0.5,
            reason="too many errors" * (one.id in invalid),
        )
        for one in suites
    )
    return RunView(
        run=RunInfo(run_id="r", state=state, started_at=0.0),
        head=PlanHead(plan_id="p", suites=suites, trial_count=planned, runs=1, seed=0),
        summary=Summary(counts=counts, groups=groups, validity=validity),
        source=Kept(lambda: ()),
    )


STRICT = GateOptions(exit_on_fail=True)


# --- gates that rest on a judge ---------------------------------------------------------------------------


@pytest.mark.parametrize("lack", ["", "agrees with nobody yet"], ids=["calibrated", "not calibrated"])
@pytest.mark.parametrize("rule", [JudgedGates.ALWAYS, JudgedGates.CALIBRATED, JudgedGates.NEVER])
def test_the_user_says_whether_a_judge_may_fail_the_run(rule: JudgedGates, lack: str) -> None:
    """Of a gate that is missed; one that only advises is told of, and one of a doubtful judge stays open."""
    judged = Figure(name=JUDGED, label="Judged checks", value=1.0, note=lack)
    decision = decide(view(group(failed=3, figures=(judged,))), GateOptions(exit_on_fail=True, judged=rule))
    answers = [gate.status for gate in decision.gates]
    if rule is JudgedGates.NEVER:
        assert (decision.exit_code, answers) == (ExitCode.OK, [])
        assert "no gate for skill: a judge decided, and it only advises (judgedGates: never)" in decision.notices
    elif rule is JudgedGates.CALIBRATED and lack:
        assert (decision.exit_code, answers) == (ExitCode.INVALID_RUN, [GateAnswer.INCONCLUSIVE])
        assert decision.verdict.startswith("gate inconclusive: skill rests on a judge that is not calibrated")
    else:
        assert (decision.exit_code, answers) == (ExitCode.GATE_MISSED, [GateAnswer.MISSED])


def test_a_gate_without_a_judge_counts_whatever_a_judge_may_decide() -> None:
    """Only the groups of which a judge decided a check are advice."""
    other = Figure(name="other", label="Other", value=1.0, note="odd")
    decision = decide(view(group(failed=3, figures=(other,))), GateOptions(exit_on_fail=True, judged=JudgedGates.NEVER))
    assert decision.exit_code is ExitCode.GATE_MISSED


# --- every exit code --------------------------------------------------------------------------------------


def test_a_run_that_passes_is_ok() -> None:
    """Without a gate the run is done, whatever its rate."""
    decision = decide(view(group(passed=1, failed=9)), GateOptions())
    assert (decision.exit_code, decision.verdict, decision.notices) == (ExitCode.OK, "done: 1 of 10 passed", ())


def test_a_gate_that_is_met_is_said() -> None:
    """The threshold itself is enough."""
    decision = decide(view(group(passed=7, failed=3)), STRICT)
    assert (decision.exit_code, decision.verdict) == (ExitCode.OK, "gate met: 7 of 10 passed")


def test_a_gate_that_is_missed_is_exit_code_1() -> None:
    """Every target below the threshold is named with its rate."""
    decision = decide(
        view(group(passed=9, failed=1), group(passed=1, failed=1, target_id="a"), group(failed=3, target_id="b")),
        STRICT,
    )
    assert decision.exit_code is ExitCode.GATE_MISSED
    assert decision.verdict == "gate missed: pass rate below 70.0%: a 50.0%, b 0.0% (10 of 15 passed)"


@pytest.mark.parametrize(
    ("passed", "threshold", "code"),
    [
        (7, 0.7, ExitCode.OK),
        (6, 0.7, ExitCode.GATE_MISSED),
        (10, 1.0, ExitCode.OK),
        (9, 1.0, ExitCode.GATE_MISSED),
        (0, 0.0, ExitCode.OK),
    ],
)
def test_the_threshold_is_a_least_share(passed: int, threshold: float, code: ExitCode) -> None:
    """To reach it is to meet it."""
    options = GateOptions(exit_on_fail=True, min_completion=threshold)
    assert decide(view(group(passed=passed, failed=10 - passed)), options).exit_code is code


def test_a_threshold_alone_only_warns() -> None:
    """It tells how to make it count, and changes neither exit code nor last line."""
    options = GateOptions(min_completion=0.9, threshold_given=True)
    decision = decide(view(group(passed=8, failed=2)), options)
    assert (decision.exit_code, decision.verdict) == (ExitCode.OK, "done: 8 of 10 passed")
    (notice,) = decision.notices
    assert notice.startswith("pass rate below 90.0%: skill 80.0%")
    assert "--exit-on-fail" in notice


@pytest.mark.parametrize(
    ("options", "passed"),
    [
        (GateOptions(), 1),
        (GateOptions(threshold_given=True), 9),
    ],
    ids=["default threshold", "reached"],
)
def test_nothing_is_warned_about_without_need(options: GateOptions, passed: int) -> None:
    """A threshold that nobody set, or that is reached, is no news."""
    assert decide(view(group(passed=passed, failed=10 - passed)), options).notices == ()


def test_what_is_missed_and_what_is_open_are_told_apart() -> None:
    """One notice holds both, each with those whom it is about."""
    groups = [group(passed=1, failed=3, target_id="a"), group(passed=3, errors=1, target_id="b")]
    (notice,) = decide(view(*groups), GateOptions(min_completion=0.9, threshold_given=True)).notices
    assert notice.startswith(
        "pass rate below 90.0%: a 25.0%; errors leave open whether pass rate is below 90.0%: b 75.0% to 100.0%; add"
    )


def test_who_lets_the_command_fail_is_not_told_how_to() -> None:
    """The threshold already counts."""
    one = view(group(failed=3))
    one = replace(one, head=one.head.model_copy(update={"runs": 3}))
    assert decide(one, GateOptions(exit_on_fail=True, threshold_given=True)).notices == ()


@pytest.mark.requirement("ES-FLOW-006")
@pytest.mark.parametrize(("passed", "runs"), [(9, 1), (1, 1), (9, 2), (9, 3), (1, 5)])
def test_a_gate_with_few_repeats_is_pointed_out(passed: int, runs: int) -> None:
    """Met or missed: below three repeats one notice says so, from three on none does."""
    one = view(group(passed=passed, failed=10 - passed))
    one = replace(one, head=one.head.model_copy(update={"runs": runs}))
    notices = decide(one, GateOptions(exit_on_fail=True)).notices
    assert len(notices) == (runs < 3)
    assert all("--runs 3" in notice for notice in notices)


def test_a_suite_may_fail_the_run_by_a_failed_case() -> None:
    """Formats for tests do so without any gate; the suites are named."""
    suites = [suite("a", gates=(NO_FAILED,)), suite("b"), suite("c", gates=(NO_FAILED,))]
    groups = [group(passed=9, failed=1, suite=name) for name in "abc"]
    decision = decide(view(*groups, suites=suites), GateOptions())
    assert (decision.exit_code, decision.verdict) == (ExitCode.GATE_MISSED, "failed: a, c (27 of 30 passed)")


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (group(passed=3, suite="a"), ExitCode.OK),
        (group(passed=1, skipped=2, suite="a"), ExitCode.OK),
        (group(skipped=2, suite="a"), ExitCode.OK),
        (group(passed=3, errors=1, suite="a"), ExitCode.INVALID_RUN),
        (group(failed=1, errors=1, suite="a"), ExitCode.GATE_MISSED),
    ],
)
def test_only_a_failed_case_fails_such_a_run(one: GroupSummary, code: ExitCode) -> None:
    """A skipped case is no failed one; an error could be one, so that it leaves open whether the run fails."""
    other = group(failed=5, suite="b")
    assert (
        decide(view(one, other, suites=[suite("a", gates=(NO_FAILED,)), suite("b")]), GateOptions()).exit_code is code
    )


def test_files_that_were_passed_over_are_exit_code_2() -> None:
    """The others were run, and their result is told."""
    decision = decide(view(group(passed=3)), GateOptions(), has_bad_files=True)
    assert decision.exit_code is ExitCode.USAGE
    assert decision.verdict == "some files or cases could not be read; the others: 3 of 3 passed"


def test_a_warning_survives_bad_files() -> None:
    """The notice about a threshold is given all the same."""
    options = GateOptions(threshold_given=True)
    assert len(decide(view(group(failed=3)), options, has_bad_files=True).notices) == 1


def test_an_invalid_run_is_exit_code_3() -> None:
    """Every suite that proves nothing is named with its reason; errors are told beside the passed."""
    decision = decide(
        view(group(passed=1, errors=2), suites=[suite("a"), suite("b"), suite("c")], invalid=["a", "c"]), GateOptions()
    )
    assert decision.exit_code is ExitCode.INVALID_RUN
    assert decision.verdict == "invalid run: a: too many errors; c: too many errors (1 of 3 passed, 2 errors)"
    three = decide(view(group(errors=2), suites=list(map(suite, "abc")), invalid="abc"), GateOptions())
    assert "b: too many errors; c: too many errors (" in three.verdict
    names = [f"{number}" for number in range(50)]
    many = decide(view(group(errors=2), suites=list(map(suite, names)), invalid=names), GateOptions())
    assert many.verdict.startswith(
        "invalid run: 0: too many errors; 1: too many errors; 2: too many errors; and 47 suites more ("
    )


def test_a_run_that_a_budget_stopped_is_exit_code_4() -> None:
    """It is neither done nor interrupted, whatever its part of the trials came to."""
    for one in (group(passed=3), group(failed=3)):
        assert decide(view(one, state=RunState.STOPPED), STRICT).exit_code is ExitCode.BUDGET


def test_an_interrupted_run_is_exit_code_130() -> None:
    """It says how far it came and that it can be resumed."""
    decision = decide(view(group(passed=2, failed=1), state=RunState.INTERRUPTED, planned=8), GateOptions())
    assert decision.exit_code is ExitCode.INTERRUPTED
    assert decision.verdict == ("interrupted: 3 of 8 trials are done (2 of 3 passed); the same command resumes the run")


# --- which news is worst ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interrupted", "invalid", "below", "failing", "bad"), list(product([True, False], repeat=5)), ids=str
)
def test_the_worst_news_decides(interrupted: bool, invalid: bool, below: bool, failing: bool, bad: bool) -> None:
    """An interrupted run decides nothing, an invalid one proves nothing, then come gates, then bad files."""
    groups = [
        group(passed=0 if below else 9, failed=1, suite="s"),
        group(passed=9, failed=1 if failing else 0, suite="tests"),
    ]
    run = view(
        *groups,
        state=RunState.INTERRUPTED if interrupted else RunState.FINISHED,
        suites=[suite("s"), suite("tests", gates=(NO_FAILED,))],
        invalid=["s"] if invalid else [],
    )
    expected = (
        (ExitCode.INTERRUPTED, "interrupted")
        if interrupted
        else (ExitCode.INVALID_RUN, "invalid run")
        if invalid
        else (ExitCode.GATE_MISSED, "gate missed")
        if below
        else (ExitCode.GATE_MISSED, "failed")
        if failing
        else (ExitCode.USAGE, "some files or cases could not be read")
        if bad
        else (ExitCode.OK, "gate met")
    )
    decision = decide(run, STRICT, has_bad_files=bad)
    assert (decision.exit_code, decision.verdict.startswith(expected[1])) == (expected[0], True)


def test_a_run_without_any_state_of_its_own_counts_as_done() -> None:
    """A report may be made of a run that is still under way in another process."""
    assert decide(view(group(passed=1), state=RunState.RUNNING), GateOptions()).exit_code is ExitCode.OK


# --- rates ------------------------------------------------------------------------------------------------


def test_a_group_without_target_is_named_by_its_suite() -> None:
    """Something has to be shown."""
    decision = decide(view(group(failed=1, target_id=None)), STRICT)
    assert ": s 0.0%" in decision.verdict


def test_only_the_arm_with_the_skill_is_gated() -> None:
    """That the agent fails without the skill is what the skill is for, and no reason to fail the run."""
    compared = suite(
        arms=("with_skill", "without_skill"),
        comparisons=(Comparison(candidate="with_skill", baseline="without_skill"),),
    )
    groups = [
        group(passed=9, failed=1, arm="with_skill"),
        group(passed=1, failed=9, arm="without_skill"),
    ]
    assert decide(view(*groups, suites=[compared]), STRICT).exit_code is ExitCode.OK
    warned = decide(view(*groups, suites=[compared]), GateOptions(threshold_given=True))
    assert warned.notices == ()
    swapped = [
        one.model_copy(update={"arm": other})
        for one, other in zip(groups, ("without_skill", "with_skill"), strict=True)
    ]
    assert decide(view(*swapped, suites=[compared]), STRICT).exit_code is ExitCode.GATE_MISSED


def test_only_the_arm_with_the_skill_fails_a_run() -> None:
    """A case that fails without the skill is no failed case of a suite of tests."""
    compared = suite(
        arms=("with_skill", "without_skill"),
        comparisons=(Comparison(candidate="with_skill", baseline="without_skill"),),
        gates=(NO_FAILED,),
    )
    groups = [group(passed=1, arm="with_skill"), group(failed=1, arm="without_skill")]
    assert decide(view(*groups, suites=[compared]), GateOptions()).exit_code is ExitCode.OK


def test_errors_count_both_ways() -> None:
    """A rate that errors could lift over the threshold, or take below it, neither meets nor misses a gate."""
    solved = group(passed=6, errors=2, model="m1")
    decision = decide(view(solved), GateOptions(exit_on_fail=True, min_completion=0.9))
    assert decision.exit_code is ExitCode.INVALID_RUN
    told = "errors leave open whether pass rate is below 90.0%: skill · m1 75.0% to 100.0% (6 of 8 passed, 2 errors)"
    assert decision.verdict == f"gate inconclusive: {told}"
    assert decide(view(solved), GateOptions(exit_on_fail=True, min_completion=0.75)).exit_code is ExitCode.OK
    lost = group(passed=1, failed=6, errors=1)
    assert decide(view(lost), GateOptions(exit_on_fail=True, min_completion=0.9)).exit_code is ExitCode.GATE_MISSED


def test_a_figure_without_a_value_says_what_leaves_its_gate_open() -> None:
    """No error is blamed where there is none."""
    figure = Figure(name="sessions", label="sessions told of", value=None, note="no session was reported")
    asking = suite(gates=(Gate(figure="sessions", threshold=3),))
    decision = decide(view(group(passed=1, figures=(figure,)), suites=[asking]), GateOptions())
    told = "no session was reported, which leaves open whether sessions told of is below 3"
    assert decision.verdict.startswith(f"gate inconclusive: {told}: skill unknown")


def test_a_run_of_nothing_meets_no_gate() -> None:
    """The gate on every group is left open, once."""
    decision = decide(view(group(skipped=2), group(skipped=1, arm="other")), STRICT)
    assert decision.exit_code is ExitCode.INVALID_RUN
    assert decision.verdict.startswith("gate inconclusive: every case was skipped (")


def test_an_outage_is_no_rate_of_zero() -> None:
    """A model of which there are errors only is named as unknown, and misses nothing."""
    decision = decide(view(group(passed=4, model="up"), group(errors=4, model="down")), STRICT)
    assert decision.exit_code is ExitCode.INVALID_RUN
    assert "skill · down 0.0% to 100.0%" in decision.verdict
    assert "skill · up" not in decision.verdict


def test_a_threshold_alone_warns_of_what_errors_leave_open() -> None:
    """What is open is told as well as what is missed."""
    options = GateOptions(min_completion=0.9, threshold_given=True)
    (notice,) = decide(view(group(passed=3, errors=1)), options).notices
    assert notice.startswith("errors leave open whether pass rate is below 90.0%: skill 75.0% to 100.0%")


def test_the_last_line_counts_the_gated_arms_and_names_them() -> None:
    """Trials without the skill are no part of what passed."""
    compared = suite(
        arms=("with_skill", "without_skill"),
        comparisons=(Comparison(candidate="with_skill", baseline="without_skill"),),
    )
    groups = [group(passed=3, failed=1, arm="with_skill"), group(passed=2, failed=2, arm="without_skill")]
    assert decide(view(*groups, suites=[compared]), GateOptions()).verdict == "done: with_skill: 3 of 4 passed"


def test_the_last_line_has_the_answer_if_there_is_one() -> None:
    """Of several comparisons none stands for the others."""
    candidate = GroupKey("s", "skill", "with", "r", None)
    evidence = weigh({(Repeats(1, 1), Repeats(0, 1)): 8})
    pairs = tuple(
        PairSummary(candidate=candidate, baseline=candidate.in_arm(arm), evidence=evidence) for arm in ("a", "b")
    )

    def verdict(*compared: PairSummary) -> str:
        one = view(group(passed=8))
        return decide(replace(one, summary=one.summary.model_copy(update={"pairs": compared})), GateOptions()).verdict

    assert verdict(*pairs[:1]).startswith("done: skill · with helps: +100.0 points against a (")
    assert verdict(*pairs[:1]).endswith("; 8 of 8 passed")
    assert verdict(*pairs) == "done: 8 of 8 passed"


def test_a_format_names_its_completion_rate_and_its_gates() -> None:
    """The user's threshold is about the figure that the suite names, and the suite's own gates need no option."""
    rate = Figure(name="rate", label="Rate", value=0.5, unit="ratio")
    cost = Figure(name="cost", label="Cost", value=3.0, unit="USD", higher_is_better=False)
    one = group(passed=9, failed=1, figures=(rate, cost))
    assert decide(view(one, suites=[suite(completion="rate")]), STRICT).exit_code is ExitCode.GATE_MISSED
    dear = suite(gates=(Gate(figure="cost", threshold=2.5),))
    decision = decide(view(one, suites=[dear]), GateOptions())
    assert decision.exit_code is ExitCode.GATE_MISSED
    assert decision.verdict == "gate missed: Cost above 2.5: skill 3 (9 of 10 passed)"
    unknown = suite(gates=(Gate(figure="absent", threshold=1),))
    assert decide(view(one, suites=[unknown]), GateOptions()).exit_code is ExitCode.INVALID_RUN


@quick
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=4),
    st.floats(0, 1),
)
def test_a_gate_is_missed_exactly_if_a_target_is_below(counts: list[tuple[int, int, int]], threshold: float) -> None:
    """One target below the threshold is enough, whatever its errors had given; every one of them is named."""
    groups = [
        group(passed=passed, failed=failed, errors=errors, target_id=f"t{number}")
        for number, (passed, failed, errors) in enumerate(counts)
    ]
    decision = decide(view(*groups), GateOptions(exit_on_fail=True, min_completion=threshold))
    ends = [((p / (p + f + e), (p + e) / (p + f + e)) if p + f + e else None) for p, f, e in counts]
    below = {f"t{number}" for number, end in enumerate(ends) if end is not None and end[1] < threshold}
    open_ = {f"t{number}" for number, end in enumerate(ends) if end is None or end[0] < threshold <= end[1]}
    wanted = ExitCode.GATE_MISSED if below else ExitCode.INVALID_RUN if open_ else ExitCode.OK
    assert decision.exit_code is wanted
    named = {name for name in (f"t{number}" for number in range(len(counts))) if f"{name} " in decision.verdict}
    assert named == (below or open_)


def test_a_rate_just_below_the_threshold_is_told_apart_from_it() -> None:
    """`below 90.0%: x 90.0%` explains nothing."""
    rate = RateInterval(rate=0.8996, n=10)
    one = group(passed=9, failed=1).model_copy(update={"pass_rate": rate})
    decision = decide(view(one), GateOptions(exit_on_fail=True, min_completion=0.9))
    assert "below 90.0%: " in decision.verdict
    assert " 89.96%" in decision.verdict
    closer = one.model_copy(update={"pass_rate": RateInterval(rate=0.899996, n=10)})
    assert " 89.9996%" in decide(view(closer), GateOptions(exit_on_fail=True, min_completion=0.9)).verdict
