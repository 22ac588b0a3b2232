"""The contract of scorers."""

from __future__ import annotations

from skillgauge.api import Case, FileSpec
from skillgauge_testkit import (
    SCORERS,
    Maker,
    TemporarySandbox,
    check_light_import,
    check_plugin,
    check_scorer,
    score_context,
)

MODULE = "skillgauge_scorer_command.plugin"
CASE = Case(id="case", files=(FileSpec(path="out.txt", text="42\n"),))


def test_scorer() -> None:
    """Real commands in real workspaces have the same score each time, also many at once."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[
            score_context(options={"command": "grep -q 42 out.txt"}, case=CASE),
            score_context(options={"command": "exit 3", "expect_exit_code": 3}),
        ],
        failing=[
            score_context(options={"command": "grep -q 43 out.txt"}, case=CASE),
            score_context(options={"command": "grep -q 42 absent.txt", "fail_codes": (1, 2)}),
        ],
        ungraded=[
            score_context(options={"command": "grep -q 42 absent.txt"}),
            score_context(options={"command": "kill -9 $$"}),
            score_context(options={"command": "sleep 30", "timeout_s": 0.1}),
        ],
        sandbox=TemporarySandbox(),
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"command": {"command": "true"}})
    check_light_import(MODULE)
