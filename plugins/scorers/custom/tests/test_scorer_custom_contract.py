"""The contract of scorers."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.api import Execution, JsonObject
from skillgauge_testkit import (
    SCORERS,
    Maker,
    TemporarySandbox,
    check_light_import,
    check_plugin,
    check_scorer,
    score_context,
)

MODULE = "skillgauge_scorer_custom.plugin"


@pytest.mark.slow
@pytest.mark.requirement("ES-SCORE-007")
def test_scorer(tmp_path: Path) -> None:
    """The same input has the same score, whatever else is scored."""
    file = tmp_path / "planet.py"
    file.write_text("def score(output, expected):\n    return 'Jupiter' in str(output)\n")
    options: JsonObject = {"path": str(file), "timeout_s": 60.0}
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[score_context("Jupiter", options)],
        failing=[score_context(options=options, execution=Execution(text="Saturn"))],
        sandbox=TemporarySandbox(),
        patience_s=120,
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"custom": {"path": "json:dumps"}})
    check_light_import(MODULE)
