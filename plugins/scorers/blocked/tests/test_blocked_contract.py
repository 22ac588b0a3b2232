"""The contract of scorers."""

from __future__ import annotations

from skillgauge.api import Block, Execution, Trajectory
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_blocked.plugin"
OPTIONS = {"tool": "Wr*", "by": "hook"}


def session(*blocks: Block) -> Execution:
    """A session in which these calls were stopped."""
    return Execution(text="done", trajectory=Trajectory(blocked=blocks))


def test_scorer() -> None:
    """The same session has the same score; one that tells nothing is ungraded."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[
            score_context(options=OPTIONS, execution=session(Block(tool="Write", by="hook"))),
            score_context(options={"expect": False}, execution=session()),
        ],
        failing=[
            score_context(options=OPTIONS, execution=session(Block(tool="Write", by="permission"))),
            score_context(options={}, execution=session()),
            score_context(options={"expect": False}, execution=session(Block(tool="Bash", by="sandbox"))),
        ],
        ungraded=[
            score_context(options=OPTIONS, execution=Execution(text="done")),
            score_context(options={"expect": False}, execution=Execution(trajectory=Trajectory())),
        ],
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"blocked": {}})
    check_light_import(MODULE)
