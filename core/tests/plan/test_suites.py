"""Names of suites that several formats have."""

from __future__ import annotations

import pytest

from skillgauge.errors import SuiteError
from skillgauge.plan.suites import _require_one_of_each_name, _told_apart
from skillgauge.types.suite import Suite


def suites(*formats: str) -> tuple[Suite, ...]:
    """Suites of one name, each of its format."""
    return tuple(Suite(id="boat", name="boat", format=one, root=f"/{one}") for one in formats)


@pytest.mark.parametrize("formats", [("a", "b"), ("b", "a")])
def test_formats_with_the_same_name_are_told_apart(formats: tuple[str, str]) -> None:
    """The first by name keeps it, in whatever order they were found."""
    apart = {suite.format: (suite.id, suite.name) for suite in _told_apart(suites(*formats))}
    assert apart == {"a": ("boat", "boat"), "b": ("boat:b", "boat:b")}


def test_one_format_with_the_same_name_twice_is_an_error() -> None:
    """Nothing tells those apart."""
    with pytest.raises(SuiteError, match="several suites are called 'boat'"):
        _require_one_of_each_name(_told_apart(suites("a", "a")))
