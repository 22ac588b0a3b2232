"""The contract of scorers."""

from __future__ import annotations

from skillgauge.api import Execution
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_json_match.plugin"
OPTIONS = {"value": {"planet": "Jupiter", "moons": [1, 2.0]}}


def test_scorer() -> None:
    """The same input has the same score, whatever else is scored."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[
            score_context({"planet": "Jupiter", "moons": [1.0, 2]}, OPTIONS),
            score_context('{"planet": "Jupiter", "moons": [1, 2]}', OPTIONS),
            score_context({"planet": "Jupiter", "more": 1}, {"value": {"planet": "Jupiter"}, "subset": True}),
            score_context(options={"value": None}, execution=Execution(text="null")),
        ],
        failing=[
            score_context({"planet": "Saturn", "moons": [1, 2]}, OPTIONS),
            score_context("Jupiter", OPTIONS),
            score_context(options=OPTIONS, execution=Execution()),
        ],
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"json-match": OPTIONS})
    check_light_import(MODULE)
