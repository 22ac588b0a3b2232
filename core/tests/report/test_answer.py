"""The answer in words: finding, lift, how sure, what was left out, what it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from skillgauge.report.answer import compared, detectable_text, interval_new_text, sentences
from skillgauge.report.stopping import PlannedSessions
from skillgauge.stats import Discordant, GradedEvidence, MeanRatio, Repeats, difference_interval, weigh
from skillgauge.types.arms import GroupKey
from skillgauge.types.comparison import DroppedCounts, FiredCounts, PairSummary, Ratios
from skillgauge.types.results.runs import Kept, RunInfo, RunState, RunView
from skillgauge.types.results.summaries import SuiteValidity, Summary
from skillgauge.types.trial import PlanHead
from skillgauge_documents.phrases import chance_text, points

WITH = GroupKey("demo", "pdf", "with_skill", "agent", None)
ONE, NONE = Repeats(1, 1), Repeats(0, 1)


def pair(cases: Mapping[tuple[Repeats, Repeats], int], **changes: Any) -> PairSummary:
    """A comparison of these cases."""
    return PairSummary(candidate=WITH, baseline=WITH.in_arm("without_skill"), evidence=weigh(cases), **changes)


def view(*pairs: PairSummary, valid: bool = True) -> RunView:
    """A run of one suite."""
    summary = Summary.empty().model_copy(
        update={"pairs": pairs, "validity": (SuiteValidity(suite_id="demo", valid=valid, error_share=None),)}
    )
    head = PlanHead(plan_id="p", suites=(), trial_count=0, runs=1, seed=0, runners=(), models=(), provenance={})
    return RunView(RunInfo(run_id="r", state=RunState.FINISHED, started_at=0), head, summary, Kept(list))


@pytest.mark.parametrize(
    ("cases", "told"),
    [
        (
            {(Repeats(3, 3), Repeats(0, 3)): 3, (ONE, ONE): 1},
            "pdf · with_skill helps on these cases: +75.0 points against without_skill "
            "(n = 4 cases; these cases: 95% interval +27.6 to +92.4, p < 0.001)",
        ),
        (
            {(ONE, NONE): 9, (ONE, ONE): 1},
            "pdf · with_skill helps: +90.0 points against without_skill "
            "(n = 10 cases; these cases: 95% interval +45.6 to +100.0, p = 0.004; "
            "new cases: 95% interval +45.6 to +100.0, p = 0.004)",
        ),
        (
            {(NONE, ONE): 9, (ONE, ONE): 1},
            "pdf · with_skill hurts: -90.0 points against without_skill "
            "(n = 10 cases; these cases: 95% interval -100.0 to -45.6, p = 0.004; "
            "new cases: 95% interval -100.0 to -45.6, p = 0.004)",
        ),
        (
            {(ONE, NONE): 1},
            "pdf · with_skill: not enough data: +100.0 points against without_skill "
            "(n = 1 case; these cases: 95% interval -51.0 to +100.0, p = 1.000); "
            "no outcome of so few runs is beyond chance",
        ),
        (
            {(Repeats(2, 3), Repeats(1, 3)): 4},
            "pdf · with_skill: not enough data: +33.3 points against without_skill "
            "(n = 4 cases; these cases: 95% interval -6.9 to +64.1, p = 0.254); "
            "a lift of 63 points is found four times out of five, at worst",
        ),
        ({}, "pdf · with_skill cannot be compared against without_skill: no case has a result in both arms"),
    ],
    ids=["these cases", "new cases", "hurts", "nothing could", "too little", "nothing compared"],
)
def test_sentences(cases: Mapping[tuple[Repeats, Repeats], int], told: str) -> None:
    """One for each finding of docs/statistics.md."""
    assert list(sentences(view(pair(cases)))) == [told]


def test_what_was_dropped_and_what_it_took_is_told() -> None:
    """Cases without a pair are counted by reason; what was saved counts only where both arms passed."""
    known = pair(
        {(ONE, NONE): 9, (ONE, ONE): 1},
        dropped=DroppedCounts(baseline_error=2, not_run=1),
        lift_bounds=(0.5, 0.8),
        ratios=Ratios(tokens=MeanRatio(1.311, 5, 1.2, 1.4), duration_s=MeanRatio(0.5, 4, 0.4, 0.7)),
    )
    (sentence,) = sentences(view(known))
    assert "(n = 10 cases, dropped: 2 for baseline error, 1 for not run; these cases: " in sentence
    assert "; over all cases, errors counted either way: +50.0 to +80.0 points)" in sentence
    took = "1.31 (1.20 to 1.40) times the tokens in 5 cases, 0.50 (0.40 to 0.70) times the time in 4 cases"
    assert sentence.endswith(f"; where both passed: {took}")


def test_ratios_of_as_many_cases_share_their_number() -> None:
    """The number of cases stands once where it is the same for everything that is compared."""
    ratios = Ratios(turns=MeanRatio(1.2, 4, 1.1, 1.3), tokens=MeanRatio(3.0, 4, 3.0, 3.0))
    (sentence,) = sentences(view(pair({(ONE, ONE): 4}, ratios=ratios)))
    took = "1.20 (1.10 to 1.30) times the turns, 3.00 times the tokens"
    assert sentence.endswith(f"; where both passed (4 cases): {took}")


def test_ratios_that_may_be_noise_are_left_out() -> None:
    """Three times of one case proves nothing, and neither does an interval around 1."""
    ratios = Ratios(turns=MeanRatio(3.0, 1), tokens=MeanRatio(1.1, 9, 0.9, 1.3))
    (sentence,) = sentences(view(pair({(ONE, ONE): 4}, ratios=ratios)))
    assert "where both passed" not in sentence


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ({(Repeats(3, 3), Repeats(3, 3)): 10}, "every case always passes in both arms; harder ones could show one"),
        ({(Repeats(0, 3), Repeats(0, 3)): 10}, "no case ever passes in either arm: they are too hard, or broken"),
        (
            {(Repeats(0, 3), Repeats(0, 3)): 4, (Repeats(3, 3), Repeats(3, 3)): 6},
            "in both arms 6 always pass and 4 never; cases in between could show one",
        ),
    ],
    ids=["ceiling", "floor", "both"],
)
def test_a_suite_without_room_sends_nobody_to_more_runs(
    cases: Mapping[tuple[Repeats, Repeats], int], reason: str
) -> None:
    """No further run would show anything, so that is not called a lack of data."""
    (sentence,) = sentences(view(pair(cases)))
    assert "with_skill: no room for a difference: +0.0 points" in sentence
    assert sentence.endswith(f"; {reason}")
    assert "not enough data" not in sentence


def test_cases_without_room_among_others() -> None:
    """They are counted, so that the author knows which part of the suite decides."""
    (sentence,) = sentences(view(pair({(ONE, ONE): 3, (NONE, NONE): 2, (ONE, NONE): 1})))
    assert "not enough data" in sentence
    assert sentence.endswith("3 of 6 cases always passed in both arms; 2 of 6 cases never passed in either arm")


def test_partial_credit_and_skills_that_never_fired() -> None:
    """Both stand beside a lift of nothing."""
    graded = GradedEvidence(10, 0.75, difference_interval([(0.75, 10)]), 2 / 1024)
    fired = FiredCounts(fired=0, sessions=30)
    (sentence,) = sentences(view(pair({(NONE, NONE): 10}, graded=graded, fired=fired)))
    assert "; partial credit +75.0 points (new cases: 95% interval +39.8 to +85.2, p = 0.002)" in sentence
    assert sentence.endswith("; a skill fired in 0 of 30 sessions")
    (silent,) = sentences(view(pair({(NONE, NONE): 10}, fired=FiredCounts(fired=30, sessions=30))))
    assert "fired" not in silent


def test_an_invalid_suite_has_no_answer() -> None:
    """Where more than a quarter ended in an error, no difference is printed."""
    run = view(pair({(ONE, NONE): 9}), valid=False)
    assert (compared(run), list(sentences(run))) == ((), [])


def test_numbers() -> None:
    """Signs, small chances, no minus before nothing."""
    told = [points(lift) for lift in (0.125, -0.125, -0.0, None)]
    assert told == ["+12.5 points", "-12.5 points", "+0.0 points", "–"]
    chances = [chance_text(chance) for chance in (0.0004, 0.001, 0.0494, 1.0)]
    assert chances == ["p < 0.001", "p = 0.001", "p = 0.049", "p = 1.000"]
    assert detectable_text(0.425) == "a lift of 42 points is found four times out of five, at worst"
    few = weigh({(ONE, NONE): 2})
    assert few is not None
    assert interval_new_text(few) == "too few cases for one on new cases"


@pytest.mark.parametrize(
    ("run", "discordant", "text"),
    [
        (60, Discordant(4, 3), "not decided after all of 120 sessions"),
        (20, Discordant(4, 3), "stopped after 40 of at most 120 sessions, since the others would hardly decide it"),
        (60, Discordant(9, 0), "decided after 120 of at most 120 sessions"),
    ],
)
def test_why_a_comparison_stopped(run: int, discordant: Discordant, text: str) -> None:
    """It was decided, given up, or came to the end of its rounds; nothing is said of one that runs a fixed number."""
    evidence = weigh({(Repeats(2, 3), Repeats(1, 3)): 4}, discordant=discordant)
    comparison = pair({}).model_copy(update={"evidence": evidence})
    sessions = PlannedSessions({comparison.candidate: (run, 60), comparison.baseline: (run, 60)})
    assert sessions.stop_text(comparison) == text
    assert PlannedSessions({}).stop_text(comparison) == ""
