"""Arms beside each other: outcome and difference of a case, lift and counts of a suite, and a run case by case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from skillgauge.decide.case_by_case import CaseReport, case_by_case
from skillgauge.report.answer import compared
from skillgauge.report.pairs import case_summary
from skillgauge.report.summary import summarize
from skillgauge.types.arms import Comparison, GroupKey
from skillgauge.types.comparison import (
    Dropped,
    DroppedCounts,
    FiredCounts,
    Outcome,
    OutcomeCounts,
    Ratios,
    Spent,
)
from skillgauge.types.results.runs import Kept, ResultOrder, RunInfo, RunState, RunView
from skillgauge.types.results.trials import GivenUp, TrialResult, Verdict
from skillgauge.types.suite import TargetHead
from skillgauge.types.trajectory import FiredSkill, Trajectory
from skillgauge.types.trial import CaseHead, Execution, Failure, FailureClass, PlanHead, RunOrigin, SuiteHead
from skillgauge.types.usage import Usage

VERDICTS = {"p": Verdict.PASS, "f": Verdict.FAIL, "e": Verdict.ERROR, "s": Verdict.SKIPPED}
WITH = GroupKey("demo", "pdf", "with", "agent", None)
WITHOUT = WITH.in_arm("without")
VERSUS = (Comparison(candidate="with", baseline="without"),)


def trial(case: int, arm: str, repeat: int, letter: str, **changes: Any) -> TrialResult:
    """One repeat: `p`assed, `f`ailed, ended in an `e`rror or was `s`kipped."""
    whole = {
        "trial_id": f"{case} {arm} {repeat}",
        "execution_id": "e",
        "score_id": "s",
        "ordinal": 0,
        "suite_id": "demo",
        "case_id": f"case {case}",
        "case_index": case,
        "target_id": "pdf",
        "arm": arm,
        "runner": "agent",
        "model": None,
        "repeat": repeat,
        "verdict": VERDICTS[letter],
        "execution": Execution(),
        "started_at": 0.0,
        "tags": ("tagged",),
    }
    return TrialResult.model_validate(whole | changes)


def trials(*cases: dict[str, str], **changes: Any) -> list[TrialResult]:
    """For each case the letters of its repeats, by arm."""
    return [
        trial(index, arm, repeat, letter, **changes)
        for index, arms in enumerate(cases)
        for arm, letters in arms.items()
        for repeat, letter in enumerate(letters, 1)
    ]


def view(results: Sequence[TrialResult], comparisons: tuple[Comparison, ...] = VERSUS, **changes: Any) -> RunView:
    """A finished run of one suite with the arms that its comparisons name."""
    suite = SuiteHead(
        id="demo",
        format="f",
        root="/",
        content_digest="",
        case_count=1,
        targets=(TargetHead(id="pdf"),),
        arms=tuple(dict.fromkeys(arm for one in comparisons for arm in (one.candidate, one.baseline))),
        comparisons=comparisons,
    )
    head = PlanHead(plan_id="p", suites=(suite.model_copy(update=changes),), trial_count=0, runs=1, seed=0)
    source = Kept(lambda: results, [CaseHead(suite_id="demo", index=1, id="case 1", prompt="Make a PDF.")])
    summary = summarize(head, source.results(ResultOrder.CASE), figures=lambda summary: {})
    return RunView(RunInfo(run_id="r", state=RunState.FINISHED, started_at=0.0), head, summary, source)


def reports(*cases: dict[str, str]) -> list[CaseReport]:
    """A run, case by case."""
    return list(case_by_case(view(trials(*cases))))


@pytest.mark.parametrize(
    ("ours", "theirs", "outcome", "difference", "dropped"),
    [
        ("p", "f", Outcome.FLIP_TO_PASS, 1.0, None),
        ("p", "p", Outcome.PASS_KEPT, 0.0, None),
        ("f", "f", Outcome.FAIL_KEPT, 0.0, None),
        ("f", "p", Outcome.FLIP_TO_FAIL, -1.0, None),
        ("ppf", "pff", Outcome.FLIP_TO_PASS, pytest.approx(1 / 3), None),
        ("pf", "ff", Outcome.FAIL_KEPT, 0.5, None),
        ("pe", "fe", Outcome.FLIP_TO_PASS, 1.0, None),
        ("e", "p", Outcome.ERROR, None, Dropped.CANDIDATE_ERROR),
        ("p", "ee", Outcome.ERROR, None, Dropped.BASELINE_ERROR),
        ("e", "e", Outcome.ERROR, None, Dropped.BOTH_ERROR),
        ("p", "", None, None, Dropped.NOT_RUN),
        ("", "p", None, None, Dropped.NOT_RUN),
        ("s", "p", None, None, Dropped.NOT_RUN),
    ],
)
def test_a_case_in_two_arms(
    ours: str, theirs: str, outcome: Outcome | None, difference: float | None, dropped: Dropped | None
) -> None:
    """Most of the graded repeats decide what an arm made of a case; the difference is that of the shares."""
    (report,) = reports({"with": ours, "without": theirs})
    (pair,) = report.pairs
    assert (pair.candidate, pair.baseline) == (WITH, WITHOUT)
    assert (pair.outcome, pair.difference, pair.dropped) == (outcome, difference, dropped)


def test_lift_is_the_mean_over_complete_pairs() -> None:
    """Repeats first, then cases; a case without a graded repeat in an arm is left out, and counted with its reason."""
    cases = ({"with": "pp", "without": "ff"}, {"with": "pf", "without": "pp"}, {"with": "pp", "without": "pf"})
    lost = ({"with": "ee", "without": "pp"}, {"with": "p", "without": "e"}, {"with": "e", "without": "e"})
    (pair,) = view(trials(*cases, *lost, {"with": "p"})).summary.pairs
    assert (pair.candidate, pair.baseline, pair.n) == (WITH, WITHOUT, 3)
    assert pair.lift == pytest.approx((1 - 0.5 + 0.5) / 3)
    # The six cases that both arms ran: errors are fails of the candidate arm and passes of the other, or the reverse.
    assert pair.lift_bounds == pytest.approx(((1 - 0.5 + 0.5 - 1 + 0 - 1) / 6, (1 - 0.5 + 0.5 + 0 + 1 + 1) / 6))
    assert pair.outcomes == OutcomeCounts(flip_to_pass=2, flip_to_fail=1, error=3)
    assert pair.dropped == DroppedCounts(candidate_error=1, baseline_error=1, both_error=1, not_run=1)


def test_without_errors_a_lift_is_exact() -> None:
    """Bounds are told only where something is unknown."""
    (pair,) = view(trials({"with": "p", "without": "f"})).summary.pairs
    assert (pair.lift, pair.lift_bounds) == (1.0, None)


@pytest.mark.parametrize(
    ("ours", "theirs", "bounds"), [("p", "pe", (0.0, 0.5)), ("pe", "p", (-0.5, 0.0))], ids=["baseline", "candidate"]
)
def test_errors_of_one_arm_alone_make_bounds(ours: str, theirs: str, bounds: tuple[float, float]) -> None:
    """An error of the baseline arm is as unknown as one of the candidate arm."""
    (pair,) = view(trials({"with": ours, "without": theirs})).summary.pairs
    assert (pair.lift, pair.lift_bounds) == (0.0, bounds)


def test_nothing_compared_is_no_lift() -> None:
    """Unknown is not zero."""
    (pair,) = view(trials({"with": "p", "without": "e"})).summary.pairs
    assert (pair.n, pair.lift) == (0, None)


def took(times: float) -> Execution:
    """A session that took a multiple of 1 turn, 10 tokens, 2 seconds and a cent."""
    usage = Usage(total_tokens=round(10 * times), cost_usd=0.01 * times)
    return Execution(trajectory=Trajectory(turns=round(times)), usage=usage, duration_s=2 * times)


def test_what_an_arm_took_is_a_multiple_of_what_the_other_took() -> None:
    """Of the candidate arm to the baseline arm, over the repeats that passed; a case that failed in one is in none."""
    results = [
        trial(0, "with", 1, "p", execution=took(4)),
        trial(0, "with", 2, "p", execution=took(8)),
        trial(0, "with", 3, "f", execution=took(100)),
        trial(0, "without", 1, "p", execution=took(2)),
        trial(1, "with", 1, "p", execution=took(1)),
        trial(1, "without", 1, "f", execution=took(50)),
    ]
    (pair,) = view(results).summary.pairs
    ratios = {name: (ratio.ratio, ratio.n) for name, ratio in pair.ratios if ratio}
    assert ratios == {name: (pytest.approx(3), 1) for name in Ratios.model_fields}
    summaries = next(case_by_case(view(results))).summaries
    assert dict(summaries[WITH].spent) == pytest.approx({"turns": 6, "tokens": 60, "duration_s": 12, "cost_usd": 0.06})


def test_what_one_repeat_does_not_tell_is_not_averaged() -> None:
    """The mean over the others would be that of other repeats."""
    silent = trial(0, "with", 2, "p", execution=took(1).model_copy(update={"usage": None}))
    summary = case_summary(WITH, [trial(0, "with", 1, "p", execution=took(3)), silent])
    assert summary.spent == Spent(turns=2, duration_s=4)


def test_a_case_counts_its_graded_values_and_passes_after_attempts() -> None:
    """An error has no say in the mean, and only what passed in the end was saved by another attempt."""
    given_up = (GivenUp(failure=Failure.of_agent(FailureClass.OVERLOADED, "slow"), usage=None, wait_s=0),)
    letters = {"p": 1.0, "f": 0.5, "e": 0.25}
    results = [
        trial(0, "with", repeat, letter, value=value, given_up=given_up)
        for repeat, (letter, value) in enumerate(letters.items(), 1)
    ]
    summary = case_summary(WITH, results)
    assert (summary.mean_value, summary.counts.retried) == (0.75, 1)


def test_every_comparison_is_kept_and_every_group_compared() -> None:
    """Two comparisons of two models are four summaries, model by model in the order of the plan."""
    versus = (*VERSUS, Comparison(candidate="with", baseline="previous"))
    arms = {"with": "p", "without": "f", "previous": "p"}
    results = [one for model in ("m1", "m2") for one in trials(arms, model=model)]
    pairs = view(results, versus).summary.pairs
    told = [(pair.baseline.arm, pair.candidate.model, pair.lift) for pair in pairs]
    assert told == [("without", "m1", 1.0), ("previous", "m1", 0.0), ("without", "m2", 1.0), ("previous", "m2", 0.0)]


def test_an_arm_that_is_not_planned_is_not_compared() -> None:
    """With the candidate arm alone there is no pair, and nothing was dropped."""
    alone = view(trials({"with": "p"}), arms=("with",))
    assert alone.summary.pairs == ()
    assert next(case_by_case(alone)).pairs == ()


def test_a_run_case_by_case() -> None:
    """Each case comes once, with all its arms, what was asked in it, and what each group made of it."""
    first, second = reports({"with": "p", "without": "f"}, {"with": "pf", "without": "pe"})
    assert first.case == CaseHead(suite_id="demo", index=0, id="case 0", tags=("tagged",)), "an older run tells no more"
    assert (second.case.id, second.case.prompt) == ("case 1", "Make a PDF.")
    assert [*second.results] == [*second.summaries] == [WITH, WITHOUT]
    assert [[one.repeat for one in repeats] for repeats in second.results.values()] == [[1, 2], [1, 2]]
    assert [one.counts.pass_share for one in second.summaries.values()] == [0.5, 1.0]


def test_a_run_case_by_case_holds_one_case() -> None:
    """Results stream: the second case is read when it is asked for."""
    read: list[int] = []

    class Watched(Kept):
        def results(self, order: ResultOrder, group: GroupKey | None = None) -> Any:
            for result in super().results(order, group):
                read.append(result.case_index)
                yield result

    run = view(trials(*({"with": "p", "without": "f"} for _ in range(5))))
    stream = case_by_case(RunView(run.run, run.head, run.summary, Watched(run.results)))
    next(stream)
    assert set(read) == {0, 1}
    assert len(read) == 3


def test_an_outage_of_one_model_costs_its_own_comparison_alone() -> None:
    """The other model's lift is told all the same, and the reason names who had the outage."""
    cases = [{"with": "ppp", "without": "fff"}] * 4
    broken = [{"with": "eee", "without": "fff"}] * 2 + cases[2:]
    for healthy in ("a", "abc"):
        results = [*trials(*broken, model="d"), *(one for model in healthy for one in trials(*cases, model=model))]
        run = view(sorted(results, key=lambda result: (result.case_index, result.model or "")))
        assert [pair.is_valid for pair in run.summary.pairs] == [True] * (len(run.summary.pairs) - 1) + [False]
        (validity,) = run.summary.validity
        assert not validity.valid
        assert "6 of 12 pairs ended in an error; more than 25% prove nothing" in validity.reason
        assert validity.reason.startswith("agent · d")
        told = [pair.candidate.model for pair in compared(run)]
        assert told == [pair.candidate.model for pair in run.summary.pairs if pair.is_valid]


@pytest.mark.slow
def test_a_summary_does_not_grow_with_cases() -> None:
    """A thousand cases make the same document as ten, the fewest with all intervals, but for its numbers."""
    sizes = [len(view(trials(*[{"with": "p", "without": "f"}] * n)).summary.model_dump_json()) for n in (10, 1000)]
    assert sizes[1] - sizes[0] < 200


def test_heads_of_version_1_0_are_read() -> None:
    """They had one comparison at most, as two fields."""
    old = {"id": "s", "format": "f", "root": "/", "content_digest": "", "case_count": 1, "targets": (), "arms": ("a",)}
    both = SuiteHead.model_validate({**old, "candidate": "a", "baseline": "b"})
    assert both.comparisons == (Comparison(candidate="a", baseline="b"),)
    assert (both.is_baseline("a"), both.is_baseline("b"), both.compared) == (False, True, ())
    assert SuiteHead.model_validate({**old, "candidate": None, "baseline": None}).comparisons == ()


def firing(case: int, repeat: int, letter: str, fired: bool | None, tokens: int) -> TrialResult:
    """A session of the candidate arm in which a skill fired, or not, or nobody knows."""
    names = None if fired is None else (FiredSkill(name="pdf", how="invoked"),) * fired
    execution = Execution(trajectory=Trajectory(skills_fired=names), usage=Usage(total_tokens=tokens))
    return trial(case, "with", repeat, letter, execution=execution)


def test_sessions_in_which_a_skill_fired_stand_apart() -> None:
    """Lift and tokens of both parts, each beside the whole baseline arm; sessions that do not tell are in neither."""
    baseline = [
        trial(case, "without", repeat, letter, execution=Execution(usage=Usage(total_tokens=100)))
        for case, letters in enumerate(("pf", "pp"))
        for repeat, letter in enumerate(letters, 1)
    ]
    ours = [
        firing(0, 1, "p", True, 300),
        firing(0, 2, "p", None, 900),
        firing(1, 1, "p", True, 200),
        firing(1, 2, "f", False, 120),
        firing(1, 3, "p", False, 110),
    ]
    results = sorted([*baseline, *ours], key=lambda result: (result.case_index, result.arm, result.repeat))
    (pair,) = view(results).summary.pairs
    assert pair.fired == FiredCounts(fired=2, sessions=4)
    split = pair.by_firing
    assert split is not None
    assert (split.fired.sessions, split.fired.n, split.fired.lift) == (2, 2, pytest.approx(0.25))
    assert (split.silent.sessions, split.silent.n, split.silent.lift) == (2, 1, pytest.approx(-0.5))
    tokens = split.fired.ratios.tokens, split.silent.ratios.tokens
    assert [ratio and ratio.ratio for ratio in tokens] == [pytest.approx(6**0.5), pytest.approx(1.1)]


def test_an_arm_in_which_every_session_fired_has_no_parts() -> None:
    """A split needs both."""
    results = [firing(0, 1, "p", True, 1), trial(0, "without", 1, "f")]
    (pair,) = view(results).summary.pairs
    assert (pair.fired, pair.by_firing) == (FiredCounts(fired=1, sessions=1), None)


@pytest.mark.parametrize(
    ("ours", "theirs", "noise"),
    [
        ("pf", "pp", 0.5),
        ("ppf", "p", 2 / 3),
        ("p", "f", None),
        ("pe", "f", None),
        ("pp", "ff", 0.0),
    ],
)
def test_noise_of_a_comparison(ours: str, theirs: str, noise: float | None) -> None:
    """How often two graded repeats of a case disagree, averaged over the arms in which it was repeated."""
    (pair,) = view(trials({"with": ours, "without": theirs})).summary.pairs
    rate = pair.noise.rate if pair.noise else None
    assert rate == (None if noise is None else pytest.approx(noise))


def test_cases_chosen_for_their_results_have_no_noise() -> None:
    """They looked bad, so how much they waver says nothing of the suite."""
    results = trials({"with": "pf", "without": "pp"})
    chosen = view(results).head.model_copy(update={"origin": RunOrigin(run_id="r", change="", chosen=True)})
    summary = summarize(chosen, results, figures=lambda summary: {})
    assert [pair.noise for pair in summary.pairs] == [None]
