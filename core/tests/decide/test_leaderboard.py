"""Engines and models side by side: nobody stands behind another without proof."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.decide.leaderboard import RankedBy, Ranking, rankings
from skillgauge.report.summary import summarize
from skillgauge.stats import RARE
from skillgauge.types.results.runs import RunView, case_order
from skillgauge.types.results.summaries import SuiteValidity

from ..report.test_pairs import trial, view

RESCUED, BOTH, LOST = "pf", "pp", "fp"
"""The letters of a case with the skill and without it."""
Lane = tuple[str, str | None]
"""Engine and model."""
Cases = tuple[int, int, int]
"""How many are rescued, how many both arms pass, how many are lost."""


def by_lift(view: RunView) -> tuple[Ranking, ...]:
    """The rankings by lift."""
    return tuple(ranking for ranking in rankings(view) if ranking.by is RankedBy.LIFT)


def by_passes(view: RunView) -> Ranking:
    """The one ranking by pass rate."""
    (ranking,) = (ranking for ranking in rankings(view) if ranking.by is RankedBy.PASS_RATE)
    return ranking


def found(lanes: Mapping[Lane, Cases], *, valid: bool = True) -> tuple[Ranking, ...]:
    """The rankings by lift of a run of one suite."""
    cases = {lane: [RESCUED] * rescued + [BOTH] * both + [LOST] * lost for lane, (rescued, both, lost) in lanes.items()}
    return by_lift(run_of(cases, valid=valid))


def run_of(cases: Mapping[Lane, Sequence[str]], *, valid: bool = True) -> RunView:
    """A run of one suite; of each lane the letters of its cases, with the skill and without it."""
    results = [
        trial(index, arm, 1, letter, runner=runner, model=model)
        for (runner, model), pairs in cases.items()
        for index, letters in enumerate(pairs)
        for arm, letter in zip(("with", "without"), letters, strict=True)
    ]
    results += [
        trial(0, arm, 1, "e", runner=runner, model=model)
        for (runner, model), pairs in cases.items()
        for arm in ("with", "without")
        if not pairs
    ]
    made = view(results)
    validity = (SuiteValidity(suite_id="demo", valid=valid, error_share=None),)
    pairs = tuple(pair.model_copy(update={"is_valid": None}) for pair in made.summary.pairs)
    return replace(made, summary=made.summary.model_copy(update={"validity": validity, "pairs": pairs}))


def test_who_is_shown_to_be_better_stands_first() -> None:
    """Order and headline; whoever was not compared comes last and has no place."""
    lanes = {("codex", "m"): (1, 19, 0), ("claude", "m"): (19, 1, 0), ("api", "m"): (0, 0, 0)}
    (board,) = found(lanes)
    assert [(rank.name, rank.place_text) for rank in board.ranks] == [
        ("claude · m", "1"),
        ("codex · m", "2"),
        ("api · m", "–"),
    ]
    assert board.headline == "pdf: the lift is greatest with claude · m (+95.0 points)"
    assert board.ranks[0].value_text.startswith("+95.0 points (these cases: 95% interval +")
    assert board.ranks[2].value_text == "nothing compared"


def test_what_cannot_be_told_apart_shares_a_place() -> None:
    """Few cases never make an order, however different the lifts; the numbers are shown all the same."""
    (board,) = found({("codex", "small"): (0, 4, 0), ("codex", "large"): (4, 0, 0)})
    assert [(rank.name, rank.place_text) for rank in board.ranks] == [("large", "1 ="), ("small", "1 =")]
    assert board.headline == (
        "pdf: which of large, small has the greatest lift cannot be told (+100.0 points to +0.0 points)"
    )
    (board,) = found({("codex", None): (1, 1, 0), ("claude", None): (1, 1, 0)})
    assert board.headline.endswith("which of claude, codex has the greatest lift cannot be told (+50.0 points)")


def test_one_engine_alone_or_an_invalid_suite_has_no_board() -> None:
    """There is nobody to stand beside, or nothing that proves anything."""
    assert found({("codex", "m"): (1, 1, 0)}) == ()
    assert found({("codex", "m"): (1, 1, 0), ("codex", "n"): (1, 1, 0)}, valid=False) == ()


def test_nothing_compared_at_all() -> None:
    """It is said instead of a place."""
    (board,) = found({("a", None): (0, 0, 0), ("b", None): (0, 0, 0)})
    assert board.headline == "pdf: nothing was compared with any engine"


def test_engines_are_ranked_by_what_passes_as_well() -> None:
    """One lifts more, since it fails without the skill; the other passes as much with it."""
    cases = {("weak", None): [RESCUED] * 12, ("strong", None): [BOTH] * 12}
    view = run_of(cases)
    (board,) = by_lift(view)
    assert [(rank.name, rank.place_text) for rank in board.ranks] == [("weak", "1"), ("strong", "2")]
    passes = by_passes(view)
    assert [(rank.name, rank.place_text) for rank in passes.ranks] == [("strong", "1 ="), ("weak", "1 =")]
    assert passes.headline == ("pdf: which of strong, weak has the highest pass rate of with cannot be told (100.0%)")
    assert passes.ranks[0].value_text.startswith("100.0% (95% interval ")
    assert passes.heads == ("Place", "Engine", "Pass rate of with", "Behind the first")


def test_an_engine_behind_the_first_has_its_difference_with_bounds() -> None:
    """Over the cases that both have; the bounds exclude 0 exactly where the places say so."""
    view = run_of({("good", None): [BOTH] * 20, ("bad", None): ["ff"] * 20, ("fair", None): [BOTH] * 19 + ["ff"]})
    good, fair, bad = by_passes(view).ranks
    assert (good.place, fair.place, bad.place) == (1, 1, 3)
    assert good.behind is None
    assert fair.behind is not None
    assert bad.behind is not None
    assert (fair.behind.first, fair.behind.difference, fair.behind.n) == ("good", pytest.approx(-0.05), 20)
    assert fair.behind.lower is not None
    assert fair.behind.upper is not None
    assert fair.behind.lower < 0 <= fair.behind.upper
    assert bad.behind.upper is not None
    assert bad.behind.upper < 0
    assert bad.behind_text.startswith("-100.0 points (-100.0 to ")


def test_pass_rates_are_ranked_without_a_baseline() -> None:
    """A benchmark asks what passes with the skill, and may have no other arm; lifts are then not spoken of."""
    letters = {"good": "p" * 12, "bad": "f" * 12}
    results = [
        trial(index, "with", 1, letter, runner=runner, model=None)
        for runner, of_runner in letters.items()
        for index, letter in enumerate(of_runner)
    ]
    made = view(results)
    heads = tuple(suite.model_copy(update={"arms": ("with",)}) for suite in made.head.suites)
    head = made.head.model_copy(update={"suites": heads})
    summary = summarize(head, sorted(results, key=case_order), figures=lambda _suite: {})
    made = replace(made, head=head, summary=summary)
    assert by_lift(made) == ()
    assert [(rank.name, rank.place_text) for rank in by_passes(made).ranks] == [("good", "1"), ("bad", "2")]
    (pair,) = made.summary.engines
    assert (pair.baseline, pair.lift, pair.passed_n) == (None, None, 12)


def test_cases_without_a_verdict_on_one_side_count_for_neither() -> None:
    """Differences are over the cases that both engines have."""
    cases = {("one", None): [BOTH] * 10, ("other", None): ["ee"] * 2 + [BOTH] * 8}
    (pair,) = run_of(cases).summary.engines
    assert (pair.n, pair.passed_n, pair.passed) == (8, 8, 0.0)


def test_a_document_without_adjusted_chances_is_ranked_alike() -> None:
    """Records of before tell the chance of each comparison alone."""
    view = run_of({("good", None): [BOTH] * 20, ("bad", None): ["ff"] * 20, ("fair", None): [BOTH] * 19 + ["ff"]})
    removed = {"lift_adjusted": None, "passed_adjusted": None, "lift_interval": None, "passed_interval": None}
    engines = tuple(pair.model_copy(update=removed) for pair in view.summary.engines)
    before = replace(view, summary=view.summary.model_copy(update={"engines": engines}))
    for now, then in zip(rankings(view), rankings(before), strict=True):
        assert [rank.place for rank in now.ranks] == [rank.place for rank in then.ranks]
        assert all(rank.behind is None or rank.behind.lower is None for rank in then.ranks)


def test_the_same_cases_tell_more_than_two_intervals() -> None:
    """Seven cases of which one engine rescues all and the other none; each lift by itself might be anything."""
    view = run_of({("one", None): [RESCUED] * 7, ("other", None): ["ff"] * 7})
    (board,) = by_lift(view)
    assert [(rank.name, rank.place_text) for rank in board.ranks] == [("one", "1"), ("other", "2")]
    evidence = [pair.evidence for pair in view.summary.pairs]
    assert all(weighed is not None and weighed.interval is None for weighed in evidence), (
        "too few cases for one on new ones"
    )


@pytest.mark.slow
def test_orders_that_are_not_there_are_rarely_seen() -> None:
    """Four engines that are alike, 200 runs: at most 5 % have any order; of a true difference most is found."""
    chance = random.Random(4)

    def case(lift: float) -> str:
        return "".join("p" if chance.random() < rate else "f" for rate in (0.3 + lift, 0.3))

    wrong = found_of_all = 0
    for _ in range(200):
        alike = {(name, None): [case(0.3) for _ in range(12)] for name in "abcd"}
        (board,) = by_lift(run_of(alike))
        wrong += any(rank.place and rank.place > 1 for rank in board.ranks)
        apart = {("good", None): [case(0.7) for _ in range(20)], ("idle", None): [case(0.0) for _ in range(20)]}
        (board,) = by_lift(run_of(apart))
        found_of_all += [rank.name for rank in board.ranks if rank.place_text == "1"] == ["good"]
    assert wrong <= 10
    assert found_of_all >= 120


@given(st.lists(st.tuples(*[st.integers(0, 8)] * 3), min_size=2, max_size=4))
def test_places_follow_the_lifts(cases: list[Cases]) -> None:
    """The order is that of the lifts, somebody is first, and ties are marked."""
    (board,) = found({(f"e{at}", None): one for at, one in enumerate(cases)})
    ranks = [rank for rank in board.ranks if rank.place is not None]
    values = [rank.value or 0.0 for rank in ranks]
    assert values == sorted(values, reverse=True)
    numbers = [rank.place for rank in ranks]
    assert not numbers or min(number for number in numbers if number) == 1
    assert all(rank.is_tied == (numbers.count(rank.place) > 1) for rank in ranks)
    for rank in ranks:
        if rank.behind and rank.behind.lower is not None and rank.behind.upper is not None:
            assert rank.behind.lower <= rank.behind.difference <= rank.behind.upper
            assert (rank.behind.chance <= RARE) == (not rank.behind.lower <= 0 <= rank.behind.upper)
