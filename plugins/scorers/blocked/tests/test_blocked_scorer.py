"""Tool calls that were stopped."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError

from skillgauge.api import Block, Execution, JsonObject, Score, ScoreStatus, Trajectory
from skillgauge_scorer_blocked.options import BlockedOptions
from skillgauge_scorer_blocked.scorer import BlockedScorer
from skillgauge_testkit import score_context

WRITE = Block(tool="Write", by="hook", event="PreToolUse")


def score(options: JsonObject, *blocks: Block) -> Score:
    """The score of a session in which these calls were stopped."""
    execution = Execution(trajectory=Trajectory(blocked=blocks))
    return asyncio.run(
        BlockedScorer(BlockedOptions.model_validate(options)).score(score_context(options=options, execution=execution))
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"tool": "Write"}, {"tool": "W*"}, {"by": "hook"}, {"event": "PreToolUse", "by": "hook", "tool": "?rite"}],
)
def test_every_condition_fits(options: JsonObject) -> None:
    """A block that fits all conditions passes."""
    assert score(options, Block(tool="Bash", by="sandbox"), WRITE).status is ScoreStatus.PASSED


@pytest.mark.parametrize("options", [{"tool": "write"}, {"by": "permission"}, {"event": "PostToolUse"}])
def test_one_condition_does_not_fit(options: JsonObject) -> None:
    """A block that misses one condition is not the expected one, and the reason names it."""
    found = score(options, WRITE)
    assert found.status is ScoreStatus.FAILED
    assert "Write (by hook" in found.reason


@pytest.mark.parametrize(
    ("event", "shown"),
    [("PreToolUse", "by hook at PreToolUse"), (None, "by hook at an event that the engine does not name")],
)
def test_the_event_is_named_where_it_is_asked_for(event: str | None, shown: str) -> None:
    """R3-M6: a check of an event that failed does not read as if the call had been stopped as expected."""
    found = score({"tool": "Write", "event": "PostToolUse"}, WRITE.model_copy(update={"event": event}))
    assert found.reason == f"No call of a tool 'Write' at PostToolUse was stopped; stopped were Write ({shown})"


def test_none_may_be_stopped() -> None:
    """The expectation can be turned round, for the same conditions."""
    assert score({"expect": False, "tool": "Bash"}, WRITE).status is ScoreStatus.PASSED
    found = score({"expect": False}, WRITE)
    assert (found.status, found.reason) == (ScoreStatus.FAILED, "Write (by hook), and no call was to be stopped")
    assert found.evidence == {"blocked": ({"tool": "Write", "by": "hook", "event": "PreToolUse"},)}


def test_options_are_checked() -> None:
    """Nobody else stops calls, and nothing unknown is accepted."""
    for options in ({"by": "luck"}, {"tool": ""}, {"expected": True}):
        with pytest.raises(ValidationError):
            BlockedOptions.model_validate(options)
