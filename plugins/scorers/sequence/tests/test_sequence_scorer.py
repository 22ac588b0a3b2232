"""The contract of scorers, and what an order is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge.api import EventKind, Execution, FiredSkill, ScoreStatus, Trajectory, TrajectoryEvent
from skillgauge_scorer_sequence.options import SequenceOptions
from skillgauge_scorer_sequence.scorer import SequenceScorer, f1
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_sequence.plugin"
OPTIONS = {"tools": ("Read", "Bash")}
NAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)


def session(tools: Sequence[str] = (), skills: Sequence[str] | None = None) -> Execution:
    """An agent that called tools, with some talk between, and loaded skills."""
    events = [
        event
        for name in tools
        for event in (
            TrajectoryEvent(kind=EventKind.TOOL_CALL, name=name),
            TrajectoryEvent(kind=EventKind.TOOL_RESULT, name=name),
        )
    ]
    fired = None if skills is None else tuple(FiredSkill(name=name, how="invoked") for name in skills)
    return Execution(trajectory=Trajectory(events=tuple(events), skills_fired=fired))


def status_of(options: dict[str, Any], execution: Execution) -> tuple[ScoreStatus, float | None]:
    """What a check comes to."""
    context = score_context(options=options, execution=execution)
    score = asyncio.run(SequenceScorer(SequenceOptions(**options)).score(context))
    return score.status, score.value


def test_scorer() -> None:
    """The same input has the same score, whatever else is scored."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[score_context(options=OPTIONS, execution=session(["Read", "Grep", "Bash"]))],
        failing=[score_context(options=OPTIONS, execution=session(["Bash", "Read"]))],
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"sequence": OPTIONS})
    check_light_import(MODULE)


@pytest.mark.parametrize(
    ("order", "done", "passes"),
    [
        ("exact", "ab", True),
        ("exact", "acb", False),
        ("exact", "ba", False),
        ("exact", "", False),
        ("in-order", "cacbc", True),
        ("in-order", "ba", False),
        ("in-order", "a", False),
        ("any", "cba", True),
        ("any", "aa", False),
    ],
)
@pytest.mark.parametrize("what", ["tools", "skills"])
def test_orders(what: str, order: str, done: str, passes: bool) -> None:
    """Of tools and of skills alike."""
    status, value = status_of({what: ("a", "b"), "order": order}, session(**{what: list(done)}))
    assert (status is ScoreStatus.PASSED) is passes
    assert value == 1 if passes else value is not None and value < 1


def test_a_name_counts_as_often_as_it_is_expected() -> None:
    """One call is not two."""
    assert status_of({"tools": ("a", "a"), "order": "any"}, session("a"))[0] is ScoreStatus.FAILED
    assert status_of({"tools": ("a", "a"), "order": "in-order"}, session("a"))[0] is ScoreStatus.FAILED
    assert status_of({"tools": ("a", "a"), "order": "any"}, session("aba"))[0] is ScoreStatus.PASSED


@pytest.mark.parametrize(
    ("options", "execution"),
    [(OPTIONS, Execution()), ({"skills": ("a",)}, Execution()), ({"skills": ("a",)}, session("a"))],
)
def test_what_nobody_tells_is_no_fail(options: dict[str, Any], execution: Execution) -> None:
    """Without a record there is no verdict."""
    assert status_of(options, execution)[0] is ScoreStatus.UNGRADED


@given(NAMES, NAMES)
def test_stricter_orders_pass_less(expected: list[str], done: list[str]) -> None:
    """What is exact is in order, and what is in order is there."""
    passed = [
        status_of({"tools": tuple(expected), "order": order}, session(done))[0] is ScoreStatus.PASSED
        for order in ("exact", "in-order", "any")
    ]
    assert passed == sorted(passed)


@given(NAMES, NAMES)
def test_f1(expected: list[str], done: list[str]) -> None:
    """By its definition, and 1 exactly for the same names."""
    common = sum(min(expected.count(name), done.count(name)) for name in set(expected))
    precision, recall = common / len(done), common / len(expected)
    assert f1(expected, done) == pytest.approx(2 * precision * recall / (precision + recall) if common else 0)
    assert (f1(expected, done) == 1) is (sorted(expected) == sorted(done))


@pytest.mark.parametrize("options", [{}, {"tools": ("a",), "skills": ("b",)}])
def test_one_kind_of_names(options: dict[str, Any]) -> None:
    """A check is about tools or about skills."""
    with pytest.raises(ValidationError, match="either tools or skills"):
        SequenceOptions(**options)
