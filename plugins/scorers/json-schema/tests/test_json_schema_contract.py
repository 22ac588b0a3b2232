"""The contract of scorers."""

from __future__ import annotations

import pytest

from skillgauge.api import Execution, JsonObject
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_json_schema.plugin"
OPTIONS: JsonObject = {
    "schema": {"type": "object", "required": ("name",), "properties": {"name": {"const": "Jupiter"}}}
}


@pytest.mark.requirement("ES-SCORE-005")
def test_scorer() -> None:
    """The same input has the same score, whatever else is scored."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[
            score_context({"name": "Jupiter"}, OPTIONS),
            score_context('{"name": "Jupiter"}', OPTIONS),
            score_context(options=OPTIONS, execution=Execution(text='{"name": "Jupiter"}')),
        ],
        failing=[score_context({"name": "Saturn"}, OPTIONS), score_context(options=OPTIONS, execution=Execution())],
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"json-schema": OPTIONS})
    check_light_import(MODULE)
