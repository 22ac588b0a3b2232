"""Judges that make no panel."""

from __future__ import annotations

import pytest

from skillgauge.plan.checks.judges import panel_problems, unconfined_judges, unpaired_models
from skillgauge.types.trial import Identity

A, B, C = (Identity(name=name) for name in "abc")
A_WITH_MODEL = Identity(name="a", settings={"model": "m"})
EVEN, TWICE = "2 judges may have no majority", "the same judge twice is no panel"


@pytest.mark.parametrize(
    ("judges", "models", "expected"),
    [
        (0, 0, []),
        (2, 0, []),
        (0, 2, []),
        (3, 3, []),
        (3, 2, ["2 judge models for 3 judges"]),
        (1, 2, ["2 judge models for 1 judges"]),
    ],
)
def test_unpaired_models(judges: int, models: int, expected: list[str]) -> None:
    """Where both are named, each judge has its model."""
    problems = list(unpaired_models(judges, models))
    assert [problem.message for problem in problems] == expected
    assert {problem.code for problem in problems} <= {"usage.judges"}


@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        ((), []),
        ((A,), []),
        ((A, B, C), []),
        ((A, A_WITH_MODEL, B), []),
        ((A, B), [EVEN]),
        ((A, B, A), [TWICE]),
        ((A, A), [EVEN, TWICE]),
    ],
    ids=["none", "one", "three", "two models", "even", "twice", "both"],
)
def test_panel_problems(judges: tuple[Identity, ...], expected: list[str]) -> None:
    """A panel is an odd number of judges that differ."""
    problems = list(panel_problems(judges))
    assert [problem.message for problem in problems] == expected
    assert {problem.code for problem in problems} <= {"usage.judges"}


@pytest.mark.parametrize(
    ("judges", "untrusted", "expected"),
    [((), True, []), (("agent",), False, []), (("agent",), True, ["judge.unconfined"])],
    ids=["none", "trusted", "untrusted"],
)
def test_unconfined_judges(judges: tuple[str, ...], untrusted: bool, expected: list[str]) -> None:
    """No judge starts an agent's program outside of the sandbox in a run that trusts nothing."""
    problems = list(unconfined_judges(judges, untrusted=untrusted))
    assert [problem.code for problem in problems] == expected
