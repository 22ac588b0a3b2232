"""The answer in words: finding, lift, how sure, what was left out, what it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from skillgauge.report.answer import compared, detectable_text, lift_interval_text, sentences
from skillgauge.stats import MeanRatio, Repeats, weigh
from skillgauge.types.comparison import DroppedCounts, GroupKey, PairSummary, Ratios
from skillgauge.types.result import Kept, RunInfo, RunState, RunView, SuiteValidity, Summary
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
            "pdf · with_skill helps on these cases: +75.0 points against without_skill (n = 4 cases, p < 0.001)",
        ),
        (
            {(ONE, NONE): 9, (ONE, ONE): 1},
            "pdf · with_skill helps: +90.0 points against without_skill "
            "(95% interval +45.6 to +100.0, n = 10 cases, p = 0.004)",
        ),
        (
            {(NONE, ONE): 9, (ONE, ONE): 1},
            "pdf · with_skill hurts: -90.0 points against without_skill "
            "(95% interval -100.0 to -45.6, n = 10 cases, p = 0.004)",
        ),
        (
            {(ONE, NONE): 1},
            "pdf · with_skill: not enough data: +100.0 points against without_skill (n = 1 case, p = 1.000); "
            "no outcome of so few runs is beyond chance",
        ),
        (
            {(Repeats(2, 3), Repeats(1, 3)): 4},
            "pdf · with_skill: not enough data: +33.3 points against without_skill (n = 4 cases, p = 0.254); "
            "it could only have shown 63 points or more",
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
        ratios=Ratios(tokens=MeanRatio(1.311, 3), duration_s=MeanRatio(0.5, 4)),
    )
    (sentence,) = sentences(view(known))
    assert "n = 10 cases, dropped: 2 for baseline error, 1 for not run, p = 0.004" in sentence
    assert sentence.endswith("; where both passed: 1.31 times the tokens (3 cases), 0.50 times the time (4 cases)")


def test_ratios_of_as_many_cases_share_their_number() -> None:
    """The number of cases stands once where it is the same for everything that is compared."""
    ratios = Ratios(turns=MeanRatio(1.2, 4), cost_usd=MeanRatio(0.5, 4))
    (sentence,) = sentences(view(pair({(ONE, ONE): 4}, ratios=ratios)))
    assert sentence.endswith("; where both passed (4 cases): 1.20 times the turns, 0.50 times the cost")


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
    assert detectable_text(0.425) == "it could only have shown 42 points or more"
    few = weigh({(ONE, NONE): 2})
    assert few is not None
    assert lift_interval_text(few) == "too few cases for one on new cases"
