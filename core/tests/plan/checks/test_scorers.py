"""Problems of cases and their checks, each once."""

from __future__ import annotations

import pytest

from skillgauge.errors import Origin, Problem
from skillgauge.plan.checks.scorers import scorer_problems

HERE, THERE = Origin("a.yaml"), Origin("b.yaml")
ABSENT = Problem("plugin.not-installed", "scorer 'x' is not installed", origin=HERE)
ABSENT_THERE = Problem("plugin.not-installed", "scorer 'x' is not installed", origin=THERE)
OTHER_ABSENT = Problem("plugin.not-installed", "scorer 'y' is not installed", origin=THERE)
IDLE = Problem("suite.no-check", "case 'c' asserts nothing", origin=HERE)
IDLE_THERE = Problem("suite.no-check", "case 'c' asserts nothing", origin=THERE)


@pytest.mark.parametrize(
    ("problems", "expected"),
    [
        ([], []),
        ([IDLE, ABSENT], [IDLE, ABSENT]),
        ([ABSENT, ABSENT_THERE], [ABSENT]),
        ([ABSENT, OTHER_ABSENT], [ABSENT, OTHER_ABSENT]),
        ([IDLE, IDLE_THERE], [IDLE, IDLE_THERE]),
        ([IDLE, ABSENT, IDLE], [IDLE, ABSENT]),
    ],
    ids=["none", "different kinds", "one scorer", "two scorers", "two files", "the same place"],
)
def test_scorer_problems(problems: list[Problem], expected: list[Problem]) -> None:
    """A missing scorer is reported at its first check, other problems at each place, all in their order."""
    assert list(scorer_problems(problems)) == expected
