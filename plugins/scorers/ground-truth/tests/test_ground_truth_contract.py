"""The contract of scorers."""

from __future__ import annotations

from skillgauge.api import Execution
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_ground_truth.plugin"
OPTIONS = {"text": "Jupiter"}


def test_scorer() -> None:
    """The same input has the same score, whatever else is scored."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[
            score_context("It is Jupiter.", OPTIONS),
            score_context(options=OPTIONS, execution=Execution(text="Jupiter")),
        ],
        failing=[score_context("Saturn", OPTIONS), score_context(options=OPTIONS, execution=Execution())],
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"ground-truth": OPTIONS})
    check_light_import(MODULE)
