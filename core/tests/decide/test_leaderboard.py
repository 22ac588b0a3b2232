"""Engines and models side by side: nobody stands behind another without proof."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from skillgauge.decide.leaderboard import Board, boards
from skillgauge.types.result import RunView, SuiteValidity

from ..report.test_pairs import trial, view

RESCUED, BOTH, LOST = "pf", "pp", "fp"
"""The letters of a case with the skill and without it."""
Lane = tuple[str, str | None]
"""Engine and model."""
Cases = tuple[int, int, int]
"""How many are rescued, how many both arms pass, how many are lost."""


def found(lanes: Mapping[Lane, Cases], *, valid: bool = True) -> tuple[Board, ...]:
    """The boards of a run of one suite."""
    cases = {lane: [RESCUED] * rescued + [BOTH] * both + [LOST] * lost for lane, (rescued, both, lost) in lanes.items()}
    return boards(run_of(cases, valid=valid))


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
    assert [(one.name, one.place_text) for one in board.standings] == [
        ("claude · m", "1"),
        ("codex · m", "2"),
        ("api · m", "–"),
    ]
    assert board.headline == "pdf: the lift is greatest with claude · m (+95.0 points)"
    assert board.standings[0].lift_text.startswith("+95.0 points (these cases: 95% interval +")
    assert board.standings[2].lift_text == "nothing compared"


def test_what_cannot_be_told_apart_shares_a_place() -> None:
    """Few cases never make an order, however different the lifts; the numbers are shown all the same."""
    (board,) = found({("codex", "small"): (0, 4, 0), ("codex", "large"): (4, 0, 0)})
    assert [(one.name, one.place_text) for one in board.standings] == [("large", "1 ="), ("small", "1 =")]
    assert board.headline == (
        "pdf: with which engine the lift is greatest cannot be told of large, small (+100.0 points to +0.0 points)"
    )
    (board,) = found({("codex", None): (1, 1, 0), ("claude", None): (1, 1, 0)})
    assert board.headline.endswith("claude, codex (+50.0 points)")


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
    (board,) = boards(run_of(cases))
    assert [(one.name, one.place_text, one.passed_text) for one in board.standings] == [
        ("weak", "1", "100.0% (place 1 =)"),
        ("strong", "2", "100.0% (place 1 =)"),
    ]


def test_the_same_cases_tell_more_than_two_intervals() -> None:
    """Five cases of which one engine rescues all and the other none; each lift by itself might be anything."""
    (board,) = boards(run_of({("one", None): [RESCUED] * 7, ("other", None): ["ff"] * 7}))
    assert [(one.name, one.place_text) for one in board.standings] == [("one", "1"), ("other", "2")]
    (pair, other) = (standing.pair.evidence for standing in board.standings)
    assert pair is not None
    assert other is not None
    assert pair.interval is None, "too few cases for an interval on new ones"


def test_orders_that_are_not_there_are_rarely_seen() -> None:
    """Four engines that are alike, 200 runs: at most 5 % have any order; of a true difference most is found."""
    chance = random.Random(4)

    def case(lift: float) -> str:
        return "".join("p" if chance.random() < rate else "f" for rate in (0.3 + lift, 0.3))

    wrong = found_of_all = 0
    for _ in range(200):
        alike = {(name, None): [case(0.3) for _ in range(12)] for name in "abcd"}
        (board,) = boards(run_of(alike))
        wrong += any(one.by_lift and one.by_lift.number > 1 for one in board.standings)
        apart = {("good", None): [case(0.7) for _ in range(20)], ("idle", None): [case(0.0) for _ in range(20)]}
        (board,) = boards(run_of(apart))
        found_of_all += [one.name for one in board.standings if one.place_text == "1"] == ["good"]
    assert wrong <= 10
    assert found_of_all >= 120


@given(st.lists(st.tuples(*[st.integers(0, 8)] * 3), min_size=2, max_size=4))
def test_places_follow_the_lifts(cases: list[Cases]) -> None:
    """The order is that of the lifts, somebody is first, and ties are marked."""
    (board,) = found({(f"e{at}", None): one for at, one in enumerate(cases)})
    places = [one.by_lift for one in board.standings if one.by_lift]
    lifts = [one.pair.lift for one in board.standings if one.pair.lift is not None]
    assert lifts == sorted(lifts, reverse=True)
    assert not places or min(place.number for place in places) == 1
    numbers = [place.number for place in places]
    assert all(place.is_tied == (numbers.count(place.number) > 1) for place in places)
