"""The outcomes of a case in two arms, in words."""

from __future__ import annotations

from skillgauge.api.report import Outcome

_OUTCOMES = {
    Outcome.FLIP_TO_PASS: "rescued",
    Outcome.PASS_KEPT: "both pass",
    Outcome.FAIL_KEPT: "both fail",
    Outcome.FLIP_TO_FAIL: "lost",
    Outcome.ERROR: "error",
}


def outcome_text(outcome: Outcome | None) -> str:
    """Name the outcome of a case in the candidate arm beside the baseline arm; `None`: one of them was not run."""
    return "not compared" if outcome is None else _OUTCOMES[outcome]
