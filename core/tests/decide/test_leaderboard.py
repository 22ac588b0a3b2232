"""Engines and models side by side: nobody stands behind another without proof."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from skillgauge.decide.leaderboard import Board, boards
from skillgauge.stats import Repeats, weigh
from skillgauge.types.comparison import GroupKey, PairSummary
from skillgauge.types.result import Kept, RunInfo, RunState, RunView, SuiteValidity, Summary
from skillgauge.types.trial import PlanHead

RESCUED, BOTH, LOST = (Repeats(1, 1), Repeats(0, 1)), (Repeats(1, 1),) * 2, (Repeats(0, 1), Repeats(1, 1))
Lane = tuple[str, str | None]
"""Engine and model."""
Cases = tuple[int, int, int]
"""How many are rescued, how many both arms pass, how many are lost."""


def found(lanes: Mapping[Lane, Cases], *, valid: bool = True) -> tuple[Board, ...]:
    """The boards of a run of one suite."""
    pairs = []
    for (runner, model), (rescued, both, lost) in lanes.items():
        key = GroupKey("demo", "pdf", "with_skill", runner, model)
        evidence = weigh({case: n for case, n in ((RESCUED, rescued), (BOTH, both), (LOST, lost)) if n})
        pairs.append(PairSummary(candidate=key, baseline=key.in_arm("without_skill"), evidence=evidence))
    validity = (SuiteValidity(suite_id="demo", valid=valid, error_share=None),)
    summary = Summary.empty().model_copy(update={"pairs": tuple(pairs), "validity": validity})
    head = PlanHead(plan_id="p", suites=(), trial_count=0, runs=1, seed=0, runners=(), models=(), provenance={})
    return boards(RunView(RunInfo(run_id="r", state=RunState.FINISHED, started_at=0), head, summary, Kept(list)))


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
    assert board.standings[0].lift_text.startswith("+95.0 points (new cases: 95% interval +")
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


@given(st.lists(st.tuples(*[st.integers(0, 30)] * 3), min_size=2, max_size=6))
def test_places_follow_the_lifts(cases: list[Cases]) -> None:
    """No place is better than that of a higher lift with as many cases, the first has place 1, and ties are marked."""
    (board,) = found({(f"e{at}", None): one for at, one in enumerate(cases)})
    places = [one.place for one in board.standings if one.place is not None]
    lifts = [one.pair.lift for one in board.standings if one.pair.lift is not None]
    assert lifts == sorted(lifts, reverse=True)
    assert not places or min(places) == 1
    assert all(one.is_tied == (places.count(one.place) > 1) for one in board.standings if one.place)
