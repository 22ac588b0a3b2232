"""What `exit-code` decides, and the contract of scorers."""

from __future__ import annotations

import asyncio

from skillgauge.api import Execution, ScoreStatus
from skillgauge_scorer_exit_code.options import ExitCodeOptions
from skillgauge_scorer_exit_code.scorer import ExitCodeScorer
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_exit_code.plugin"


def test_scorer() -> None:
    """The same exit code has the same score, whatever else is scored."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[
            score_context(options={}, execution=Execution(exit_code=0)),
            score_context(options={"codes": [0, 2]}, execution=Execution(exit_code=2)),
        ],
        failing=[score_context(options={"codes": [0]}, execution=Execution(exit_code=1, stderr="no such file"))],
    )


def test_failure_quotes_the_end_of_stderr() -> None:
    """The last words of a process are those that say why."""
    execution = Execution(exit_code=3, stderr="x" * 1000 + " unknown column")
    score = asyncio.run(ExitCodeScorer(ExitCodeOptions()).score(score_context(options={}, execution=execution)))
    assert score.reason.startswith("Exit code 3, expected 0: …")
    assert score.reason.endswith("unknown column")


def test_no_exit_code_is_ungraded() -> None:
    """An agent's session has none, and nobody failed for that."""
    context = score_context(options={}, execution=Execution(text="done"))
    assert asyncio.run(ExitCodeScorer(ExitCodeOptions()).score(context)).status is ScoreStatus.UNGRADED


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "scorers")
    check_light_import(MODULE)
