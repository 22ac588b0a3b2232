"""The contract of scorers."""

from __future__ import annotations

from skillgauge.api import Execution
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_exact.plugin"
OPTIONS = {"value": "Jupiter"}


def test_scorer() -> None:
    """The same input has the same score, whatever else is scored."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[
            score_context("Jupiter", OPTIONS),
            score_context({"planet": "Jupiter"}, {"value": {"planet": "Jupiter"}}),
            score_context(options=OPTIONS, execution=Execution(text="Jupiter")),
        ],
        failing=[score_context({"result": "Saturn"}, OPTIONS), score_context(options=OPTIONS, execution=Execution())],
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"exact": OPTIONS})
    check_light_import(MODULE)
