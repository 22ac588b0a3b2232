"""The contract of scorers, and what counts as used."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import EventKind, Execution, Trajectory, TrajectoryEvent, Usage
from skillgauge_scorer_usage.options import UsageOptions
from skillgauge_scorer_usage.scorer import UsageScorer
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_usage.plugin"
OPTIONS = {"tool_calls": 2}
CALL = TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash")
RAN = Execution(
    trajectory=Trajectory(events=(CALL, TrajectoryEvent(kind=EventKind.MESSAGE, text="so"), CALL), turns=3),
    usage=Usage(input_tokens=70, output_tokens=30, cost_usd=0.25),
    duration_s=4.5,
)
BUSY = Execution(trajectory=Trajectory(events=(CALL,) * 3))


def test_scorer() -> None:
    """The same input has the same score, whatever else is scored."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[score_context(options=OPTIONS, execution=RAN)],
        failing=[score_context(options=OPTIONS, execution=BUSY)],
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"usage": OPTIONS})
    check_light_import(MODULE)


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({"tool_calls": 2, "turns": 3, "tokens": 100, "duration_s": 4.5, "cost_usd": 0.25}, 1.0),
        ({"tool_calls": 1}, 0.0),
        ({"turns": 2}, 0.0),
        ({"tokens": 99}, 0.0),
        ({"duration_s": 4}, 0.0),
        ({"cost_usd": 0.24}, 0.0),
        ({"tool_calls": 2, "cost_usd": 0}, 0.5),
        ({"tool_calls": 2, "tokens": 99}, 0.5),
        ({"tool_calls": 0, "tokens": 99, "turns": 2, "duration_s": 9}, 0.25),
    ],
)
def test_each_limit(options: dict[str, Any], value: float) -> None:
    """The limit itself is allowed; the value is the share of the limits that were kept."""
    score = asyncio.run(UsageScorer(UsageOptions(**options)).score(score_context(options=options, execution=RAN)))
    assert (score.status == "passed") is (value == 1)
    assert score.value == value


@pytest.mark.parametrize("name", ["tool_calls", "turns", "tokens", "duration_s", "cost_usd"])
@pytest.mark.parametrize("limit", [0, 9])
def test_what_nobody_tells_is_no_zero(name: str, limit: int) -> None:
    """An engine that does not tell gets no verdict."""
    options = {name: limit}
    score = asyncio.run(
        UsageScorer(UsageOptions.model_validate(options)).score(score_context(options=options, execution=Execution()))
    )
    assert score.status == "ungraded"


def test_costs_are_told() -> None:
    """The sum and its limit, in the reason and as evidence; tokens without a price are no cost of zero."""
    options = {"cost_usd": 0.2}
    scorer = UsageScorer(UsageOptions.model_validate(options))
    score = asyncio.run(scorer.score(score_context(options=options, execution=RAN)))
    assert score.reason == "0.25 US dollars, 0.2 allowed"
    assert score.evidence == {"tool_calls": 2, "turns": 3, "tokens": 100, "duration_s": 4.5, "cost_usd": 0.25}
    unpriced = Execution(usage=Usage(input_tokens=1, output_tokens=1))
    score = asyncio.run(scorer.score(score_context(options=options, execution=unpriced)))
    assert (score.status, score.reason) == ("ungraded", "Nobody tells how many US dollars it took")


def test_a_check_limits_something() -> None:
    """One without a limit could not fail."""
    with pytest.raises(ValidationError, match="at least one limit"):
        UsageOptions()
