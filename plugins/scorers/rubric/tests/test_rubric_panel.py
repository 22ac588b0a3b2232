"""Several judges: what most of all seats say, how they split, and what a missing vote means."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.api import JudgeReply, Score, ScoreStatus, Usage
from skillgauge_scorer_rubric.panel import decide
from skillgauge_scorer_rubric.reading import Answer, Evidence, Finding

from .conftest import ScriptedJudge, holds, number, score

DOWN = JudgeReply(text=None, error="auth: HTTP 401")
CLAIMS: dict[str, Any] = {"claims": ["It names Saturn.", "It is short."]}


def panel(*replies: JudgeReply | str, **options: Any) -> Score:
    """The score of a panel that answers so."""
    first, *others = (ScriptedJudge(reply, name=f"judge-{at}") for at, reply in enumerate(replies))
    return score(first, others=others, **options)


def ten(value: float, tokens: int | None = None) -> JudgeReply:
    """A number with a reason."""
    usage = None if tokens is None else Usage(input_tokens=tokens)
    return JudgeReply(text=number(value, f"says {value}"), model=f"m-{value}", usage=usage)


@pytest.mark.parametrize(
    ("numbers", "middle", "status", "reason"),
    [
        ((2, 6, 9), 0.6, ScoreStatus.PASSED, "2 of 3 judges pass it, at a median of 6 of 10: says 6"),
        ((2, 4.9, 10), 0.49, ScoreStatus.FAILED, "1 of 3 judges pass it, at a median of 4.9 of 10: says 2"),
    ],
)
def test_numbers(numbers: tuple[float, ...], middle: float, status: ScoreStatus, reason: str) -> None:
    """The median counts, which passes exactly if most judges pass; each judge's answer is in the evidence."""
    found = panel(*(ten(value, 5) for value in numbers))
    assert (found.status, found.value, found.reason) == (status, pytest.approx(middle), reason)
    assert found.usage == Usage(input_tokens=15)
    assert isinstance(found.evidence, dict)
    seats = found.evidence["panel"]
    assert isinstance(seats, tuple)
    assert [(seat["judge"], seat["model"], seat["value"]) for seat in seats] == [
        (f"judge-{at}", f"m-{value}", pytest.approx(value / 10)) for at, value in enumerate(numbers)
    ]
    passing = sum(value >= 5 for value in numbers)
    assert found.evidence["votes"] == {"yes": passing, "no": 3 - passing, "missing": 0}


def test_claims_are_decided_one_by_one() -> None:
    """Each claim has its own majority, with the split and the evidence of one of those who agree."""
    found = panel(
        holds(True, False, absent="a"), holds(True, True, absent="b"), holds(False, True, absent="c"), **CLAIMS
    )
    assert (found.status, found.value, found.reason) == (ScoreStatus.PASSED, 1.0, "2 of 2 claims are true")
    assert isinstance(found.evidence, dict)
    told = found.evidence["answers"]
    assert isinstance(told, tuple)
    assert [(one["votes"], one["absent"]) for one in told] == [({"yes": 2, "no": 1, "missing": 0}, at) for at in "ab"]


def test_a_missing_vote_that_could_change_nothing() -> None:
    """Two of three who agree are a majority of all seats, whatever the third would have said; the reason tells it."""
    found = panel(ten(8), DOWN, ten(9))
    assert (found.status, found.value) == (ScoreStatus.PASSED, pytest.approx(0.85))
    assert found.reason.endswith("(1 of 3 judges did not answer)")
    assert isinstance(found.evidence, dict)
    assert found.evidence["votes"] == {"yes": 2, "no": 0, "missing": 1}
    seats = found.evidence["panel"]
    assert isinstance(seats, tuple)
    assert seats[1] == {
        "judge": "judge-1",
        "reply": None,
        "model": None,
        "calls": 1,
        "failure": "the judge failed: auth: HTTP 401",
    }


@pytest.mark.parametrize(
    ("replies", "options"),
    [
        ((ten(8), DOWN, ten(2)), {}),
        ((DOWN, DOWN, ten(8)), {}),
        ((DOWN, DOWN, DOWN), {}),
        ((holds(True, True), holds(True, False), DOWN), CLAIMS),
    ],
)
def test_a_missing_vote_that_could_decide(replies: tuple[JudgeReply | str, ...], options: dict[str, Any]) -> None:
    """Without a majority of all seats on everything the check is ungraded, and the reason names who was silent."""
    found = panel(*replies, **options)
    assert (found.status, found.value) == (ScoreStatus.UNGRADED, None)
    assert "the panel has no majority, since" in found.reason
    assert ": the judge failed: auth: HTTP 401" in found.reason
    assert isinstance(found.evidence, dict)


def test_a_remembered_answer_costs_nothing() -> None:
    """What a model has answered before takes nothing away from what is known of the others."""
    remembered = ten(6).model_copy(update={"cached": True})
    assert panel(ten(2, 5), remembered, ten(9, 5)).usage == Usage(input_tokens=10)


def test_a_check_that_names_a_model_asks_one_judge() -> None:
    """The others do not serve that model."""
    second = ScriptedJudge()
    found = score(ScriptedJudge("8"), others=[second, second], model="m-1")
    assert (found.status, second.requests) == (ScoreStatus.PASSED, [])


@settings(deadline=None)
@given(st.lists(st.booleans() | st.none(), min_size=1, max_size=9).filter(lambda votes: len(votes) % 2 == 1))
def test_no_missing_vote_could_change_a_decision(votes: list[bool | None]) -> None:
    """Decided is what stays the same however the silent ones vote; with all votes there is always a decision."""
    there = [vote for vote in votes if vote is not None]
    answers = [Answer(float(vote), findings=(Finding(vote, Evidence("r")),)) for vote in there]
    decision = decide(answers, len(votes), 1.0)
    possible = set()
    for filled in (True, False):
        whole = [filled if vote is None else vote for vote in votes]
        possible.add(sum(whole) * 2 > len(whole))
    assert decision.is_decided is (len(possible) == 1)
    if decision.is_decided:
        assert decision.passes is possible.pop()


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=9),
    st.floats(0, 1),
    st.integers(0, 8),
)
def test_median_and_majority_agree(values: list[float], passes_at: float, silent: int) -> None:
    """Wherever there is a decision, the value passes by the threshold exactly if the decision does."""
    seats = len(values) + silent
    decision = decide([Answer(value) for value in values], seats + (seats + 1) % 2, passes_at)
    if decision.is_decided:
        assert decision.passes is (decision.value >= passes_at)
