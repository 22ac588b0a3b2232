"""Folding results into a summary: what is counted where, over what a rate is taken, and when a run proves nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.api import Comparison
from skillgauge.report.summary import summarize
from skillgauge.report.wording import figure_text
from skillgauge.stats import rate_interval
from skillgauge.types.arms import GroupKey
from skillgauge.types.results.runs import case_order
from skillgauge.types.results.summaries import (
    Counts,
    Figure,
    GroupSummary,
    Latency,
    RateInterval,
    Spending,
    SuiteSummary,
    SuiteValidity,
    Summary,
)
from skillgauge.types.results.trials import GivenUp, TrialResult, Unfinished, Verdict
from skillgauge.types.score import Score, ScoreStatus
from skillgauge.types.suite import TargetHead
from skillgauge.types.trajectory import Trajectory
from skillgauge.types.trial import Blame, Execution, Failure, FailureClass, PlanHead, SuiteHead
from skillgauge.types.usage import Usage

quick = settings(max_examples=60, deadline=None)

P, F, E, S = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.SKIPPED


def result(case_index: int = 0, verdict: Verdict = P, **fields: Any) -> TrialResult:
    """The result of one trial; its value follows from the verdict, unless given."""
    duration_s, failure_class = fields.pop("duration_s", None), fields.pop("failure_class", None)
    blame = Blame.INFRASTRUCTURE if verdict is E else Blame.TARGET
    failure = Failure(failure_class=failure_class, blame=blame, message="m") if failure_class else None
    return TrialResult.model_validate(
        {
            "trial_id": "t",
            "execution_id": "x",
            "score_id": "",
            "ordinal": 0,
            "suite_id": "s",
            "case_id": f"c{case_index}",
            "case_index": case_index,
            "target_id": "t1",
            "arm": "direct",
            "runner": "r",
            "model": None,
            "repeat": 1,
            "verdict": verdict,
            "value": {P: 1.0, F: 0.0}.get(verdict),
            "execution": Execution(duration_s=duration_s, failure=failure),
            "started_at": 0.0,
        }
        | fields
    )


def suite_head(name: str = "s", **fields: Any) -> SuiteHead:
    """A suite with one target and a direct arm."""
    return SuiteHead.model_validate(
        {
            "id": name,
            "format": "f",
            "root": "/",
            "content_digest": "",
            "case_count": 1,
            "targets": (TargetHead(id="t1"),),
            "arms": ("direct",),
        }
        | fields
    )


def head(*suites: SuiteHead, seed: int = 7) -> PlanHead:
    """A plan of these suites."""
    return PlanHead(plan_id="p", suites=suites or (suite_head(),), trial_count=0, runs=1, seed=seed)


def summary_of(
    results: Sequence[TrialResult],
    *suites: SuiteHead,
    figures: Callable[[SuiteHead, GroupSummary], tuple[Figure, ...]] = lambda suite, group: (),
    **options: Any,
) -> Summary:
    """The summary of results in any order, with figures that are made group by group."""

    def of_suite(summary: SuiteSummary) -> dict[GroupKey, tuple[Figure, ...]]:
        return {group.key: figures(summary.suite, group) for group in summary.groups}

    return summarize(head(*suites), iter(sorted(results, key=case_order)), figures=of_suite, **options)


def group_of(results: Sequence[TrialResult]) -> GroupSummary:
    """The only group of a summary."""
    (group,) = summary_of(results).groups
    return group


def runs_of(case_index: int, *verdicts: Verdict, **fields: Any) -> list[TrialResult]:
    """The repeats of a case."""
    return [result(case_index, verdict, repeat=number, **fields) for number, verdict in enumerate(verdicts, 1)]


# --- counts -----------------------------------------------------------------------------------------------


def test_a_simulated_user_is_paid_for_and_told_apart() -> None:
    """What it used is in the whole, a part of it by name, and not counted again in a replay."""
    execution = Execution(
        usage=Usage(total_tokens=100, cost_usd=0.5),
        user_usage=Usage(total_tokens=40, cost_usd=0.25),
        trajectory=Trajectory(),
    )
    paid = result(0, execution=execution)
    assert paid.usages == (execution.usage, execution.user_usage)
    replayed = result(1, execution=execution.model_copy(update={"replayed": True}))
    assert replayed.usages == ()
    assert summary_of([paid, replayed]).spending == Spending(
        cost_usd=0.75, tokens=140, user_usd=0.25, user_tokens=40, replayed=1
    )


def test_every_verdict_is_counted() -> None:
    """Each trial is in the total and under its own verdict, in the group and in the whole."""
    summary = summary_of(
        [result(0, P), result(1, P), result(2, P), result(3, F), result(4, F), result(5, E), result(6, S)]
    )
    expected = Counts(total=7, passed=3, failed=2, errors=1, skipped=1)
    assert summary.groups[0].counts == summary.counts == expected


@pytest.mark.parametrize(
    ("verdict", "failure_class", "timeouts", "broken"),
    [
        (F, FailureClass.TIMEOUT, 1, 1),
        (F, FailureClass.CRASH, 0, 1),
        (E, FailureClass.TIMEOUT, 1, 0),
        (E, FailureClass.SANDBOX, 0, 0),
        (F, None, 0, 0),
        (P, None, 0, 0),
    ],
)
def test_executions_that_did_not_end_are_counted_apart(
    verdict: Verdict, failure_class: FailureClass | None, timeouts: int, broken: int
) -> None:
    """A time-out counts whoever is to blame; broken is only what failed as the target's own doing."""
    counts = group_of([result(0, verdict, failure_class=failure_class)]).counts
    assert (counts.timeouts, counts.broken) == (timeouts, broken)


def test_the_whole_is_the_sum_of_its_groups() -> None:
    """Every field of the counts is added up over suites, targets and arms."""
    results = [
        result(0, F, failure_class=FailureClass.TIMEOUT),
        result(0, E, arm="other"),
        result(0, S, target_id="t2"),
        result(0, P, suite_id="z"),
    ]
    assert summary_of(results, suite_head(), suite_head("z")).counts == Counts(
        total=4, passed=1, failed=1, errors=1, skipped=1, timeouts=1, broken=1
    )


def test_a_run_without_results_has_an_empty_summary() -> None:
    """Nothing is made up: no group, no rate, and a suite of which nothing was run proves nothing."""
    summary = summary_of([])
    assert (summary.groups, summary.counts) == ((), Counts())
    assert summary.validity == (SuiteValidity(suite_id="s", valid=False, error_share=None, reason="nothing was run"),)


def test_interrupted_attempts_are_passed_on() -> None:
    """The ledger counted them."""
    assert summary_of([result()], interrupted_attempts=3).interrupted_attempts == 3
    assert summary_of([result()]).interrupted_attempts == 0


# --- rates ------------------------------------------------------------------------------------------------


def test_repeats_are_averaged_before_cases() -> None:
    """A case counts once, however often it was run: 3 of 3 and 0 of 1 are one half, not three quarters."""
    rate = group_of([*runs_of(0, P, P, P), *runs_of(1, F)]).pass_rate
    assert (rate.rate, rate.n) == (0.5, 2)


def test_errors_enter_no_rate() -> None:
    """A case's errors leave its other repeats; a case with nothing but errors is no case at all."""
    rate = group_of([*runs_of(0, P, E, F), *runs_of(1, E, E, E), *runs_of(2, P, P, E)]).pass_rate
    assert (rate.rate, rate.n) == (0.75, 2)


def test_skipped_trials_enter_no_rate() -> None:
    """What did not run neither passed nor failed."""
    rate = group_of([*runs_of(0, P, S), *runs_of(1, S, S)]).pass_rate
    assert (rate.rate, rate.n) == (1.0, 1)


@pytest.mark.parametrize("verdict", [E, S])
def test_a_rate_of_nothing_is_unknown(verdict: Verdict) -> None:
    """Without a graded trial the rate is null, never 0."""
    group = group_of([result(0, verdict)])
    assert group.pass_rate == RateInterval(rate=None, n=0)
    assert (group.mean_value, group.weighted_value) == (None, None)


def test_a_rate_has_an_interval_and_says_which() -> None:
    """Four of five, one run each: Wilson's known answer, with its level and name."""
    rate = group_of([result(index, P if index else F) for index in range(5)]).pass_rate
    assert rate.rate == 0.8
    assert rate.lower == pytest.approx(0.375535, abs=1e-6)
    assert rate.upper == pytest.approx(0.963776, abs=1e-6)
    assert (rate.level, rate.method) == (0.95, "wilson")


def test_the_interval_knows_of_repeats() -> None:
    """Two runs of each case are not twice the cases: another method, the same n."""
    rate = group_of([one for index in range(5) for one in runs_of(index, P, P if index else F)]).pass_rate
    assert (rate.rate, rate.n, rate.method) == (0.9, 5, "wilson-over-cases")


def test_the_interval_depends_on_the_seed_of_the_plan() -> None:
    """A bootstrap interval can be computed again from what the record says, and from nothing else."""
    passes = [index % 4 for index in range(25)]
    results = [
        one for index, k in enumerate(passes) for one in runs_of(index, *(P if run < k else F for run in range(3)))
    ]
    rates = [summarize(head(seed=seed), results, figures=lambda summary: {}).groups[0].pass_rate for seed in (7, 7, 8)]
    expected = rate_interval([k / 3 for k in passes], repeats=3, seed=7)
    assert expected is not None
    assert (rates[0].lower, rates[0].upper, rates[0].method) == (expected.lower, expected.upper, str(expected.method))
    assert rates[0] == rates[1]
    assert rates[0] != rates[2]


def test_bounds_say_what_errors_could_have_changed() -> None:
    """With errors, the rate lies between all of them failing and all of them passing."""
    group = group_of([result(0, P), result(1, P), result(2, F), result(3, E)])
    assert group.pass_bounds == (0.5, 0.75)
    assert group_of([result(0, E)]).pass_bounds == (0.0, 1.0)


def test_without_errors_there_are_no_bounds() -> None:
    """Skipped trials are no reason for doubt."""
    assert group_of([result(0, P), result(1, F), result(2, S)]).pass_bounds is None


def test_bounds_are_those_of_the_rate() -> None:
    """Where cases have unequal numbers of repeats, as after an interruption, the rate still lies within its bounds."""
    group = group_of([*runs_of(0, P), *runs_of(1, E, F, F, F)])
    assert group.pass_rate.rate == 0.5
    assert group.pass_bounds == (0.5, 0.625)


# --- values -----------------------------------------------------------------------------------------------


def test_values_are_averaged_over_graded_trials() -> None:
    """Partial credit counts, errors do not; the weighted mean takes the weight of the case."""
    group = group_of(
        [
            result(0, P, value=1.0, weight=1),
            result(1, F, value=0.5, weight=3),
            result(2, F, value=0.0, weight=0),
            result(3, E, weight=9),
        ]
    )
    assert group.mean_value == pytest.approx(0.5)
    assert group.weighted_value == pytest.approx(2.5 / 4)
    assert (group.graded_weight, group.error_weight) == (4.0, 9.0)


def test_without_any_weight_there_is_no_weighted_mean() -> None:
    """A division by nothing is unknown, the plain mean is not."""
    group = group_of([result(0, P, weight=0), result(1, F, weight=0)])
    assert (group.mean_value, group.weighted_value) == (0.5, None)


def test_every_run_has_a_pass_share() -> None:
    """Of all trials of a repeat, errors included and skipped ones not, in the order of the repeats."""
    results = [*runs_of(0, P, F, S), *runs_of(1, P, E, P), *runs_of(2, F, F, S), *runs_of(3, S, P, P)]
    assert group_of(results).run_pass_rates == (2 / 3, 1 / 4, 1.0)


def test_a_run_of_which_nothing_counts_has_no_share() -> None:
    """A repeat with only skipped trials, or none at all, is left out."""
    assert group_of([*runs_of(0, P, S, F)]).run_pass_rates == (1.0, 0.0)
    assert group_of([result(0, P, repeat=3)]).run_pass_rates == (1.0,)


# --- latency ----------------------------------------------------------------------------------------------


def test_latencies_are_nearest_ranks_of_all_executions() -> None:
    """Failures took their time too; what never started has none."""
    results = [result(index, P, duration_s=float(index + 1)) for index in range(18)]
    results.append(result(18, F, duration_s=100.0, failure_class=FailureClass.TIMEOUT))
    results.append(result(19, E, duration_s=50.0))
    results.append(result(20, E))
    assert group_of(results).latency == Latency(samples=20, p50_s=10.0, p95_s=50.0, p99_s=100.0)


def test_one_sample_is_every_percentile() -> None:
    """Nothing is interpolated."""
    assert group_of([result(0, duration_s=0.25)]).latency == Latency(samples=1, p50_s=0.25, p95_s=0.25, p99_s=0.25)


def test_without_samples_latency_is_unknown() -> None:
    """Null, never 0."""
    assert group_of([result(0)]).latency == Latency(samples=0)


# --- tags -------------------------------------------------------------------------------------------------


def test_tags_are_summarised_over_their_cases() -> None:
    """A case counts under each of its tags, once per tag, sorted by name; cases without tags under none."""
    results = [
        *runs_of(0, P, P, tags=("slow", "net")),
        *runs_of(1, F, E, tags=("slow",)),
        *runs_of(2, F, F),
    ]
    tags = {tag.tag: tag for tag in group_of(results).tags}
    assert list(tags) == ["net", "slow"]
    assert tags["slow"].counts == Counts(total=4, passed=2, failed=1, errors=1)
    assert (tags["slow"].pass_rate.rate, tags["slow"].pass_rate.n) == (0.5, 2)
    assert (tags["net"].counts.total, tags["net"].pass_rate.rate) == (2, 1.0)


def test_tags_belong_to_their_group() -> None:
    """The same tag in another arm is counted there."""
    results = [result(0, P, tags=("x",)), result(0, F, tags=("x",), arm="other")]
    summary = summary_of(results, suite_head(arms=("direct", "other")))
    assert [[(tag.tag, tag.pass_rate.rate) for tag in group.tags] for group in summary.groups] == [
        [("x", 1.0)],
        [("x", 0.0)],
    ]


# --- groups -----------------------------------------------------------------------------------------------


def test_groups_come_in_the_order_of_the_plan() -> None:
    """Suites, targets and arms as they were planned; runners and models by name; strangers at the end."""
    suites = (
        suite_head("z", targets=(TargetHead(id="t2"), TargetHead(id="t1")), arms=("with", "without")),
        suite_head("a"),
    )
    wanted: list[tuple[str, str | None, str, str, str | None]] = [
        ("z", "t2", "with", "r1", None),
        ("z", "t2", "with", "r1", "m"),
        ("z", "t2", "with", "r2", None),
        ("z", "t2", "without", "r1", None),
        ("z", "t2", "unplanned", "r1", None),
        ("z", "t1", "with", "r1", None),
        ("z", None, "with", "r1", None),
        ("a", "t1", "direct", "r1", None),
        ("unplanned", "t1", "direct", "r1", None),
        ("unplanned", "t1", "direct", "r1", "m"),
        ("unplanned", "t1", "direct", "r2", "l"),
    ]
    results = [
        result(0, suite_id=suite, target_id=target, arm=arm, runner=runner, model=model)
        for suite, target, arm, runner, model in wanted
    ]
    groups = summary_of(results, *suites).groups
    assert [(one.suite_id, one.target_id, one.arm, one.runner, one.model) for one in groups] == wanted


def test_figures_are_asked_of_the_suites_format() -> None:
    """It sees the group with everything else filled in, and its numbers become part of it."""

    def figures(suite: SuiteHead, group: GroupSummary) -> tuple[Figure, ...]:
        return (Figure(name="cr", label=suite.id, value=group.pass_rate.rate, unit="ratio"),)

    results = [result(0, P), result(1, F), result(0, P, suite_id="z")]
    first, second = summary_of(results, suite_head(), suite_head("z"), figures=figures).groups
    assert first.figures == (Figure(name="cr", label="s", value=0.5, unit="ratio"),)
    assert second.figures == (Figure(name="cr", label="z", value=1.0, unit="ratio"),)


def test_a_group_of_an_unknown_suite_is_summarised_without_figures() -> None:
    """Results of a suite that the plan does not know are shown, not lost, and no format is asked."""

    def refuse(suite: SuiteHead, group: GroupSummary) -> tuple[Figure, ...]:
        assert suite.id == "s"
        return ()

    summary = summary_of([result(0), result(0, suite_id="unknown")], figures=refuse)
    assert [group.suite_id for group in summary.groups] == ["s", "unknown"]
    assert [one.suite_id for one in summary.validity] == ["s"]


# --- validity ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("errors", "others", "valid"),
    [(0, 1, True), (1, 3, True), (1, 2, False), (26, 74, False), (25, 75, True), (1, 0, False)],
)
def test_more_than_a_quarter_of_errors_proves_nothing(errors: int, others: int, valid: bool) -> None:
    """A quarter itself is still accepted; the reason names the numbers."""
    results = [result(index, E if index < errors else P) for index in range(errors + others)]
    (validity,) = summary_of(results).validity
    assert validity.valid is valid
    assert validity.error_share == errors / (errors + others)
    assert bool(validity.reason) is not valid
    if not valid:
        assert f"{errors} of {errors + others} trials ended in an error; more than 25%" in validity.reason


def test_a_broken_skill_makes_no_run_invalid() -> None:
    """A target that fails every call has proved something about itself."""
    results = [result(index, F, failure_class=FailureClass.CRASH) for index in range(4)]
    assert summary_of(results).validity[0].valid


def test_one_session_that_cannot_be_replayed_proves_nothing() -> None:
    """However many others were; the reason is that of the first."""
    gone = [
        Failure(failure_class=FailureClass.SANDBOX, blame=Blame.INFRASTRUCTURE, message=f"no recording {number}")
        for number in (1, 2)
    ]
    results = [
        *(result(index, E, execution=Execution(failure=one, replayed=True)) for index, one in enumerate(gone)),
        *(result(index, P, execution=Execution(replayed=True)) for index in range(2, 20)),
    ]
    (validity,) = summary_of(results).validity
    assert not validity.valid
    assert validity.reason == "2 sessions could not be replayed; the first: no recording 1"


def test_skipped_trials_do_not_dilute_errors() -> None:
    """One error among two trials that ran is half, however many were skipped."""
    results = [result(0, E), result(1, P), *(result(index, S) for index in range(2, 20))]
    assert summary_of(results).validity[0].error_share == 0.5


def test_a_suite_whose_trials_were_all_skipped_proves_nothing() -> None:
    """It spoils no run where all was carried out; where it was stopped, nothing was run."""
    head = suite_head().model_copy(update={"trial_count": 1})
    (validity,) = summary_of([result(0, S)], head).validity
    assert (validity.valid, validity.error_share, validity.reason) == (True, None, "every case was skipped")
    (validity,) = summary_of([result(0, S)], head.model_copy(update={"trial_count": 2})).validity
    assert (validity.valid, validity.reason) == (False, "nothing was run")


def test_each_suite_is_valid_by_itself() -> None:
    """Errors of one suite do not spoil another, in the order of the plan."""
    results = [result(0, E), *(result(index, P, suite_id="z") for index in range(9))]
    validity = summary_of(results, suite_head("z"), suite_head()).validity
    assert [(one.suite_id, one.valid) for one in validity] == [("z", True), ("s", False)]


def test_errors_of_all_targets_of_a_suite_count_together() -> None:
    """The suite is what proves something or not."""
    results = [result(index, E if index == 0 else P, target_id=target) for target in ("t1", "t2") for index in range(4)]
    assert summary_of(results).validity[0].error_share == 0.25


COMPARED = suite_head(arms=("with", "without"), comparisons=(Comparison(candidate="with", baseline="without"),))


def pairs(candidate: Sequence[Verdict], baseline: Sequence[Verdict], **fields: Any) -> list[TrialResult]:
    """One run of each case in both arms."""
    return [
        result(index, verdict, arm=arm, **fields)
        for arm, verdicts in (("with", candidate), ("without", baseline))
        for index, verdict in enumerate(verdicts)
    ]


@pytest.mark.parametrize(
    ("candidate", "baseline", "share", "valid"),
    [
        ((P, P, P, P), (F, F, F, F), 0.0, True),
        ((E, P, P, P), (F, F, F, F), 0.25, True),
        ((P, P, P, P), (F, F, F, E), 0.25, True),
        ((E, P, P, P), (E, F, F, F), 0.25, True),
        ((E, P, P, P), (F, E, F, F), 0.5, False),
        ((E, E, P, P), (F, F, F, F), 0.5, False),
    ],
    ids=str,
)
def test_a_pair_is_lost_by_an_error_in_either_arm(
    candidate: tuple[Verdict, ...], baseline: tuple[Verdict, ...], share: float, valid: bool
) -> None:
    """In a comparison pairs are counted: the union of both arms' errors over the pairs."""
    (validity,) = summary_of(pairs(candidate, baseline), COMPARED).validity
    assert (validity.error_share, validity.valid) == (share, valid)
    if not valid:
        assert "2 of 4 pairs ended in an error" in validity.reason


def test_a_pair_is_one_repeat_of_one_case() -> None:
    """Errors in different repeats of a case lose two pairs."""
    results = [
        *runs_of(0, E, P, P, P, arm="with"),
        *runs_of(0, P, E, P, P, arm="without"),
    ]
    assert summary_of(results, COMPARED).validity[0].error_share == 0.5


def test_pairs_are_formed_within_target_runner_and_model() -> None:
    """An error with one engine loses no pair of another."""
    results = [
        one
        for runner, model, target in product(("r", "q"), ("m", None), ("t1", None))
        for one in pairs((P, P), (F, E if runner == "q" else F), runner=runner, model=model, target_id=target)
    ]
    assert summary_of(results, COMPARED).validity[0].error_share == 4 / 16


def test_a_candidate_without_its_baseline_has_only_its_own_errors() -> None:
    """A run that was stopped before the other arm still says how many trials were lost."""
    results = [result(0, E, arm="with"), result(1, P, arm="with")]
    assert summary_of(results, COMPARED).validity[0].error_share == 0.5


def test_a_baseline_without_candidate_proves_nothing() -> None:
    """There is no pair."""
    (validity,) = summary_of([result(0, P, arm="without")], COMPARED).validity
    assert (validity.valid, validity.reason) == (False, "nothing was run")


def test_arms_outside_the_comparison_lose_no_pair() -> None:
    """A third arm is no part of the suite's question."""
    results = [*pairs((P,), (F,)), *(result(index, E, arm="previous") for index in range(5))]
    assert summary_of(results, COMPARED).validity[0].valid


# --- against a naive reference ----------------------------------------------------------------------------

verdicts = st.sampled_from([P, P, F, E, S])
outcomes = st.fixed_dictionaries(
    {
        "verdict": verdicts,
        "partial": st.sampled_from([0.0, 0.25, 0.5]),
        "duration_s": st.none() | st.floats(0, 1e6),
        "failure_class": st.sampled_from([None, None, FailureClass.TIMEOUT, FailureClass.CRASH]),
    }
)
cases = st.lists(
    st.fixed_dictionaries(
        {
            "tags": st.lists(st.sampled_from(["x", "y"]), max_size=2, unique=True).map(tuple),
            "weight": st.sampled_from([0.0, 1.0, 2.5]),
            "runs": st.lists(outcomes, min_size=1, max_size=3),
        }
    ),
    max_size=5,
)
whole_runs = st.dictionaries(st.tuples(st.sampled_from("sz"), st.sampled_from(["with", "without"])), cases, max_size=4)


def made(run: dict[tuple[str, str], list[dict[str, Any]]]) -> list[TrialResult]:
    """Results of a generated run."""
    results = []
    for (suite, arm), drawn in run.items():
        for index, case in enumerate(drawn):
            for repeat, outcome in enumerate(case["runs"], 1):
                verdict = outcome["verdict"]
                failure_class = outcome["failure_class"] if verdict in (F, E) else None
                results.append(
                    result(
                        index,
                        verdict,
                        suite_id=suite,
                        arm=arm,
                        repeat=repeat,
                        tags=case["tags"],
                        weight=case["weight"],
                        value={P: 1.0, F: outcome["partial"]}.get(verdict),
                        duration_s=outcome["duration_s"],
                        failure_class=failure_class,
                    )
                )
    return results


def naive_counts(results: Sequence[TrialResult]) -> Counts:
    """Counts by looking at all results again and again."""
    failures = [one for one in results if one.execution.failure]
    return Counts(
        total=len(results),
        passed=len([one for one in results if one.verdict is P]),
        failed=len([one for one in results if one.verdict is F]),
        errors=len([one for one in results if one.verdict is E]),
        skipped=len([one for one in results if one.verdict is S]),
        timeouts=len(
            [one for one in failures if one.execution.failure and one.execution.failure.failure_class == "timeout"]
        ),
        broken=len([one for one in failures if one.verdict is F]),
    )


def naive_rate(results: Sequence[TrialResult]) -> tuple[float | None, int]:
    """Mean over the cases of the mean over a case's graded repeats, and the number of these cases."""
    means = []
    for index in sorted({one.case_index for one in results}):
        graded = [one for one in results if one.case_index == index and one.verdict in (P, F)]
        if graded:
            means.append(sum(one.verdict is P for one in graded) / len(graded))
    return (sum(means) / len(means) if means else None), len(means)


def close(one: float | None, other: float | None) -> bool:
    """Equal but for rounding."""
    return one == other or (one is not None and other is not None and math.isclose(one, other))


@quick
@given(whole_runs, st.randoms(use_true_random=False))
def test_a_summary_is_what_a_naive_reading_gives(run: dict[tuple[str, str], list[dict[str, Any]]], random: Any) -> None:
    """Every number of every group agrees with one computed by the definition, whatever the results are."""
    suites = (
        suite_head("z"),
        suite_head("s", arms=("with", "without"), comparisons=(Comparison(candidate="with", baseline="without"),)),
    )
    results = made(run)
    random.shuffle(results)
    summary = summary_of(results, *suites)
    assert summary.counts == naive_counts(results)
    assert {(group.suite_id, group.arm) for group in summary.groups} == {(one.suite_id, one.arm) for one in results}
    for group in summary.groups:
        mine = [one for one in results if (one.suite_id, one.arm) == (group.suite_id, group.arm)]
        check_group(group, mine)
    check_validity(summary, results)


def check_group(group: GroupSummary, mine: list[TrialResult]) -> None:
    """Compare one group with its results."""
    rate, n = naive_rate(mine)
    assert group.counts == naive_counts(mine)
    assert close(group.pass_rate.rate, rate)
    assert group.pass_rate.n == n
    if rate is not None:
        assert group.pass_rate.lower is not None
        assert group.pass_rate.upper is not None
        assert 0 <= group.pass_rate.lower <= rate + 1e-12
        assert rate - 1e-12 <= group.pass_rate.upper <= 1
    assert (group.pass_bounds is None) is (group.counts.errors == 0)
    values = [(one.value, one.weight) for one in mine if one.value is not None]
    weight = sum(one for _, one in values)
    assert group.graded_weight == weight
    assert group.error_weight == sum(one.weight for one in mine if one.verdict is E)
    assert close(group.mean_value, sum(value for value, _ in values) / len(values) if values else None)
    assert close(group.weighted_value, sum(value * one for value, one in values) / weight if weight else None)
    shares = []
    for repeat in (1, 2, 3):
        ran = [one for one in mine if one.repeat == repeat and one.verdict is not S]
        shares += [sum(one.verdict is P for one in ran) / len(ran)] if ran else []
    assert group.run_pass_rates == tuple(shares)
    times = sorted(one.execution.duration_s for one in mine if one.execution.duration_s is not None)
    assert group.latency.samples == len(times)
    for share, value in ((0.5, group.latency.p50_s), (0.95, group.latency.p95_s), (0.99, group.latency.p99_s)):
        assert value == next((one for rank, one in enumerate(times, 1) if rank >= share * len(times)), None)
    assert [tag.tag for tag in group.tags] == sorted({tag for one in mine for tag in one.tags})
    for tag in group.tags:
        tagged = [one for one in mine if tag.tag in one.tags]
        assert tag.counts == naive_counts(tagged)
        assert close(tag.pass_rate.rate, naive_rate(tagged)[0])


def check_validity(summary: Summary, results: list[TrialResult]) -> None:
    """Compare the validity of both suites: trials of one, pairs of the other."""
    plain, compared = summary.validity
    ran = [one for one in results if one.suite_id == "z" and one.verdict is not S]
    share = sum(one.verdict is E for one in ran) / len(ran) if ran else None
    assert (plain.error_share, plain.valid) == (share, share is not None and share <= 0.25)
    candidates = [one for one in results if (one.suite_id, one.arm) == ("s", "with") and one.verdict is not S]
    lost = {(one.case_index, one.repeat) for one in results if one.suite_id == "s" and one.verdict is E}
    share = len(lost) / len(candidates) if candidates else None
    assert (compared.error_share, compared.valid) == (share, share is not None and share <= 0.25)


@quick
@given(st.lists(st.lists(st.sampled_from([P, F, E]), min_size=3, max_size=3), min_size=1, max_size=6))
def test_bounds_hold_whatever_the_errors_were(drawn: list[list[Verdict]]) -> None:
    """With as many repeats of each case, the bounds are the rates with all errors failed and all passed."""
    results = [one for index, row in enumerate(drawn) for one in runs_of(index, *row)]
    group = group_of(results)
    if group.pass_bounds is None:
        assert E not in {one.verdict for one in results}
        return
    for bound, instead in zip(group.pass_bounds, (F, P), strict=True):
        settled = [
            one for index, row in enumerate(drawn) for one in runs_of(index, *(instead if v is E else v for v in row))
        ]
        assert close(bound, naive_rate(settled)[0])
    if group.pass_rate.rate is not None and all(set(row) != {E} for row in drawn):
        assert group.pass_bounds[0] <= group.pass_rate.rate + 1e-12


def test_what_a_run_used() -> None:
    """Sessions, judges and attempts that were given up; what is not told is counted apart, recordings cost nothing."""
    paid = Usage(total_tokens=100, cost_usd=0.5)
    failure = Failure(failure_class=FailureClass.NETWORK, blame=Blame.INFRASTRUCTURE, message="m")
    judged = Score(status=ScoreStatus.PASSED, value=1.0, usage=Usage(total_tokens=7, cost_usd=0.25))
    found = summary_of(
        [
            result(0, execution=Execution(usage=paid, trajectory=Trajectory()), scores=(judged,)),
            result(1, execution=Execution(usage=paid), given_up=(GivenUp(failure=failure, usage=paid, wait_s=0),)),
            result(2, execution=Execution(usage=Usage(total_tokens=1))),
            result(3, execution=Execution(trajectory=Trajectory())),
            result(4, execution=Execution(usage=paid, replayed=True)),
        ]
    )
    assert found.spending == Spending(cost_usd=1.75, tokens=308, unknown=2, replayed=1)
    assert summary_of([result(0)]).spending is None
    replayed = result(0, execution=Execution(usage=paid, replayed=True))
    assert summary_of([replayed]).spending == Spending(replayed=1)


@pytest.mark.parametrize("silent", [None, Usage(total_tokens=3)], ids=["nothing", "no cost"])
def test_a_trial_of_which_one_part_does_not_tell_is_unknown(silent: Usage | None) -> None:
    """What a judge tells is counted, and hides nothing that the session does not tell."""
    judged = Score(status=ScoreStatus.PASSED, value=1.0, usage=Usage(total_tokens=7, cost_usd=0.25))
    one = result(0, execution=Execution(usage=silent, trajectory=Trajectory()), scores=(judged,))
    tokens = 7 + (silent.all_tokens if silent else 0)
    assert summary_of([one]).spending == Spending(cost_usd=0.25, tokens=tokens, unknown=1)


def test_what_was_cut_off_is_spent() -> None:
    """Attempts of results and of trials without one are added, each trial with something unknown once."""
    failure = Failure.of_agent(FailureClass.KILLED, "cut off")
    told, silent = Usage(total_tokens=10, cost_usd=1.0), Usage(total_tokens=5)
    cut, lost = (GivenUp(failure=failure, usage=usage, wait_s=0, is_cut_off=True) for usage in (told, None))
    judged = GivenUp(failure=failure, usage=silent, wait_s=0, judges=(told,), is_cut_off=True)
    one = result(0, execution=Execution(usage=told, trajectory=Trajectory()), given_up=(cut, cut))
    left = [
        Unfinished(trial_id="b", ordinal=1, claim=1, attempts=(cut, judged)),
        Unfinished(trial_id="b", ordinal=1, claim=2, attempts=(lost,)),
        Unfinished(trial_id="c", ordinal=2, claim=1, attempts=(cut,)),
    ]
    found = summary_of([one], unfinished=left)
    assert found.spending == Spending(cost_usd=6.0, tokens=65, unknown=1, cut_off=6)
    assert found.counts.total == 1
    assert summary_of([], unfinished=left[1:2]).spending == Spending(unknown=1, cut_off=1)


def test_a_trial_that_was_cut_off_is_not_taken_for_one_that_was_retried() -> None:
    """Only an attempt that failed makes a pass one that needed a second try."""
    failure = Failure.of_agent(FailureClass.KILLED, "cut off")
    for is_cut_off in (True, False):
        attempt = GivenUp(failure=failure, wait_s=0, is_cut_off=is_cut_off)
        assert summary_of([result(0, given_up=(attempt,))]).counts.retried == (not is_cut_off)


def test_checks_beside_the_verdict_are_figures_of_their_own() -> None:
    """D-1: each with the share and number of trials that were graded, after the figures of the format."""

    def beside(passed: bool | None) -> Score:
        made = Score.ungraded("?") if passed is None else Score.passed() if passed else Score.failed("no")
        return made.model_copy(update={"check_id": "Fired", "beside": True})

    results = [
        result(number, scores=(Score.passed(), beside(passed)))
        for number, passed in enumerate([True, False, True, True, None])
    ]
    own = Figure(name="own", label="Own", value=1.0)
    (group,) = summary_of(results, figures=lambda suite, group: (own,)).groups
    assert group.figures == (own, Figure(name="Fired", label="Fired", value=0.75, unit="ratio", n=4))
    assert group.pass_rate.rate == 1.0
    assert figure_text(group.figures[1]) == "75.0% (n = 4)"
    assert group_of([result(scores=(beside(None),))]).figures == ()
