"""A limit without a unit is asked about where agents run."""

from __future__ import annotations

import pytest

from skillgauge.plan.checks.limits import bare_timeout


@pytest.mark.parametrize(
    ("timeout_s", "is_bare", "runs_agents", "written"),
    [
        (0.3, True, True, "300"),
        (0.0015, True, True, "1.5"),
        (0.3, True, False, None),
        (0.3, False, True, None),
        (None, True, True, None),
        (None, False, False, None),
    ],
)
def test_bare_timeout(timeout_s: float | None, is_bare: bool, runs_agents: bool, written: str | None) -> None:
    """Only a bare number for agents is a problem, and the hint has both spellings."""
    problems = list(bare_timeout(timeout_s, is_bare=is_bare, runs_agents=runs_agents))
    expected = (
        []
        if written is None
        else [
            (
                "usage.timeout",
                f"--timeout {written} has no unit, and a session of an agent lasts minutes",
                f"Write --timeout {written}ms or --timeout {written}s.",
            )
        ]
    )
    assert [(problem.code, problem.message, problem.hint) for problem in problems] == expected
