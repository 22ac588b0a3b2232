"""The contract of scorers, and what counts as a call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import (
    DIRECT,
    Case,
    Check,
    EventKind,
    Execution,
    ScoreContext,
    ScoreStatus,
    Trajectory,
    TrajectoryEvent,
)
from skillgauge_scorer_tool_call.options import ToolCallOptions
from skillgauge_scorer_tool_call.scorer import ToolCallScorer
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_tool_call.plugin"
OPTIONS = {"words": ("convert.py",)}
RAN = Execution(
    text="done",
    trajectory=Trajectory(
        events=(
            TrajectoryEvent(kind=EventKind.MESSAGE, text="I could run lint.py"),
            TrajectoryEvent(
                kind=EventKind.TOOL_CALL, name="Bash", data={"command": 'python "scripts/convert.py" --all'}
            ),
            TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Edit", data={"edits": [{"path": "a.md", "line": 7}]}),
        )
    ),
)
IDLE = Execution(text="done", trajectory=Trajectory())


def test_scorer() -> None:
    """The same input has the same score, whatever else is scored."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[score_context(options=OPTIONS, execution=RAN)],
        failing=[score_context(options=OPTIONS, execution=IDLE)],
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"tool-call": OPTIONS})
    check_light_import(MODULE)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"tool": "Bash"}, "passed"),
        ({"tool": "Bash", "words": ["convert.py", "--all"]}, "passed"),
        ({"tool": "Edit", "words": ["convert.py"]}, "failed"),
        ({"words": ["vert.py"]}, "failed"),
        ({"words": ["lint.py"]}, "failed"),
        ({"words": ["a.md", "7"]}, "passed"),
        ({"tool": "Write", "called": False}, "passed"),
        ({"tool": "Bash", "called": False}, "failed"),
        ({"tool_pattern": "^ba"}, "passed"),
        ({"tool_pattern": "^ash"}, "failed"),
        ({"tool_pattern": "edit|write", "called": False}, "failed"),
        ({"arguments": {"command": r"convert\.py.*--all"}}, "passed"),
        ({"arguments": {"command": "lint"}}, "failed"),
        ({"arguments": {"edits": r"a\.md"}}, "passed"),
        ({"arguments": {"path": r"a\.md"}}, "failed"),
        ({"tool_pattern": "bash", "arguments": {"command": "--all"}, "words": ["convert.py"]}, "passed"),
        ({"tool_pattern": "edit", "arguments": {"command": "--all"}}, "failed"),
        ({"tool_pattern": ".", "at_least": 2}, "passed"),
        ({"tool_pattern": ".", "at_least": 3}, "failed"),
        ({"tool_pattern": ".", "at_most": 1}, "failed"),
        ({"tool_pattern": ".", "at_least": 1, "at_most": 2}, "passed"),
        ({"tool": "Write", "at_most": 0}, "passed"),
        ({"tool": "Bash", "at_least": 0}, "passed"),
        ({"input_pattern": r'^\{"edits":\[\{"path":"a\.md","line":7\}\]\}$'}, "passed"),
        ({"tool": "Bash", "input_pattern": '"edits"'}, "failed"),
        ({"tool_pattern": r"^Bash$", "syntax": "javascript"}, "passed"),
        ({"tool": "Bash", "input_pattern": r"\Apython", "syntax": "javascript"}, "failed"),
        ({"tool": "Bash", "before": {"tool": "Edit"}}, "passed"),
        ({"tool": "Edit", "before": {"tool": "Bash"}}, "failed"),
        ({"tool": "Bash", "before": {"tool": "Bash"}}, "failed"),
        ({"tool": "Bash", "before": {"tool": "Write"}}, "failed"),
        ({"tool": "Write", "before": {"tool": "Edit"}}, "failed"),
        ({"tool": "Bash", "before": {"tool": "Edit", "input_pattern": "b.md"}}, "failed"),
    ],
)
def test_calls(options: dict[str, Any], status: str) -> None:
    """One call has to fit as a whole; words that were only said are no call."""
    check = Check(id="c", scorer="tool-call")
    context = ScoreContext(check=check, case=Case(id="c"), execution=RAN, arm=DIRECT)
    score = asyncio.run(ToolCallScorer(ToolCallOptions.model_validate(options)).score(context))
    assert score.status == status


def test_unknown_calls_are_ungraded() -> None:
    """Silence of an engine is no verdict."""
    context = ScoreContext(
        check=Check(id="c", scorer="tool-call"), case=Case(id="c"), execution=Execution(), arm=DIRECT
    )
    score = asyncio.run(ToolCallScorer(ToolCallOptions(tool="Bash")).score(context))
    assert score.status is ScoreStatus.UNGRADED


def test_a_check_that_says_nothing() -> None:
    """Any call at all is no check."""
    with pytest.raises(ValidationError, match="a tool or something"):
        ToolCallOptions()


def test_numbers_are_told() -> None:
    """A reader sees how many calls there were and how many were wanted."""
    context = ScoreContext(check=Check(id="c", scorer="tool-call"), case=Case(id="c"), execution=RAN, arm=DIRECT)
    options = ToolCallOptions(tool_pattern=".", at_most=1)
    score = asyncio.run(ToolCallScorer(options).score(context))
    assert score.reason == "2 calls of '.', where at most 1 were expected"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tool": "a", "called": False, "at_most": 1}, "exclude each other"),
        ({"tool": "a", "at_most": 0, "at_least": 1}, "no number passes"),
        ({"tool": "a", "at_most": 0, "before": {"tool": "b"}}, "comes before none"),
        ({"tool": "a", "before": {}}, "a tool or something"),
    ],
)
def test_numbers_that_nothing_can_meet(options: dict[str, Any], message: str) -> None:
    """They are refused before anything runs."""
    with pytest.raises(ValidationError, match=message):
        ToolCallOptions.model_validate(options)


@pytest.mark.parametrize("options", [{"tool_pattern": "("}, {"arguments": {"command": "("}}, {"input_pattern": "("}])
def test_patterns_are_checked_before_anything_runs(options: dict[str, Any]) -> None:
    """One that is not valid is refused."""
    with pytest.raises(ValidationError, match="missing \\)"):
        ToolCallOptions.model_validate(options)


def test_a_pattern_that_never_ends_gives_no_verdict() -> None:
    """It is given up, and the check is ungraded."""
    hard = TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", data={"command": "a" * 60 + "b"})
    context = ScoreContext(
        check=Check(id="c", scorer="tool-call"),
        case=Case(id="c"),
        execution=Execution(trajectory=Trajectory(events=(hard,))),
        arm=DIRECT,
    )
    options = ToolCallOptions(arguments={"command": "^(a|aa)+$"})
    score = asyncio.run(ToolCallScorer(options).score(context))
    assert score.status is ScoreStatus.UNGRADED
