"""Runs that are kept nowhere."""

from __future__ import annotations

import pytest

from skillgauge.errors import Severity
from skillgauge.plan.checks.stores import unkept_run


@pytest.mark.parametrize(
    ("location", "installed", "is_given", "warns"),
    [
        ("runs.db", (), False, True),
        ("runs.db", ("sqlite",), False, False),
        ("runs.db", (), True, False),
        (None, (), False, False),
        (None, ("sqlite",), False, False),
    ],
    ids=["none installed", "installed", "chosen by the user", "in memory", "in memory, installed"],
)
def test_unkept_run(location: str | None, installed: tuple[str, ...], is_given: bool, warns: bool) -> None:
    """Only a default place that no store serves is a warning."""
    problems = list(unkept_run(location, installed, is_given=is_given))
    assert [(problem.code, problem.severity) for problem in problems] == [("store.none", Severity.WARNING)] * warns
