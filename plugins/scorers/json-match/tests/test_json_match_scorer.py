"""Structures that match, and those that do not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge.api import Score, ScoreStatus, freeze
from skillgauge_scorer_json_match.options import JsonMatchOptions
from skillgauge_scorer_json_match.scorer import JsonMatchScorer
from skillgauge_testkit import score_context

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def score(value: Any, output: Any, **options: Any) -> Score:
    """The score of an output."""
    chosen = JsonMatchOptions.model_validate({"value": value, **options})
    return asyncio.run(JsonMatchScorer(chosen).score(score_context(output)))


@pytest.mark.parametrize(
    ("value", "output", "whole", "part"),
    [
        ({"a": 1}, {"a": 1}, True, True),
        ({"a": 1}, {"a": 1, "b": 2}, False, True),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, False, True),
        ([{"a": 1}], [{"a": 1, "b": 2}], False, True),
        ({}, {"a": 1}, False, True),
        ({"a": None}, {}, False, False),
        ({"a": None}, {"a": None}, True, True),
        ({"a": 1}, {}, False, False),
        ([1, 2], [1, 2, 3], False, False),
        ([1, 2], [2, 1], False, False),
        ([], {}, False, False),
        (2, 2.0, True, True),
        (True, 1, False, False),
        (0, False, False, False),
        ("2", 2, False, False),
        ({"a": 2}, '{"a": 2}', True, True),
        ({"a": 2}, ' {"a": 2.0, "b": 1}\n', False, True),
        ({"a": 2}, "no JSON", False, False),
        ({"a": 2}, "[object Object]", False, False),
        (None, None, True, True),
        ("a", '"a"', True, True),
        ("a", "a", False, False),
        (10**400, 1.5, False, False),
    ],
)
def test_whole_and_in_part(value: object, output: object, whole: bool, part: bool) -> None:
    """Keys beyond the value are allowed in a subset only; everything else is the same in both."""
    assert score(value, output).status is (ScoreStatus.PASSED if whole else ScoreStatus.FAILED)
    assert score(value, output, subset=True).status is (ScoreStatus.PASSED if part else ScoreStatus.FAILED)


@pytest.mark.parametrize(
    ("value", "output", "passes"),
    [
        (1.0, 1.01, True),
        (1.0, 1.02, False),
        ({"a": [10]}, {"a": [10.01]}, True),
        (True, 1.0, False),
        (10**400, 1.5, False),
        (10**400, 10**400 + 1, False),
        ("1.0", "1.01", False),
    ],
)
def test_tolerance(value: object, output: object, passes: bool) -> None:
    """Numbers may be off by the tolerance, at any depth; nothing else may be."""
    output = json.dumps(output) if isinstance(output, str) else output
    status = ScoreStatus.PASSED if passes else ScoreStatus.FAILED
    assert score(value, output, tolerance=0.0101).status is status


def test_a_number_may_be_off_by_the_whole_tolerance() -> None:
    """The bound itself is allowed."""
    assert score(1, 1.5, tolerance=0.5).status is ScoreStatus.PASSED


def test_reason_names_the_places() -> None:
    """Each difference has its JSON pointer; ten are told."""
    found = score({"a/b": [1, {"c": "x"}], "d": 1}, {"a/b": [2, {"c": "y"}], "e": 0})
    assert found.reason == (
        '/a~1b/0: expected 1 but got 2; /a~1b/1/c: expected "x" but got "y"; /d: is missing; expected 1; '
        "/e: was not expected"
    )
    assert found.evidence["differences"][0] == {"path": "/a~1b/0", "difference": "expected 1 but got 2"}
    assert score(1, 2).reason == "the output: expected 1 but got 2"
    assert score([1, 2], [1]).reason == "the output: expected 2 items but got 1"
    many = score(list(range(50)), list(range(1, 51)))
    assert many.reason.count("expected") == 10
    assert many.reason.endswith("; and more")


@given(VALUES)
def test_a_value_matches_itself(value: object) -> None:
    """Whatever JSON value is expected, the same answer passes, as a value and as text."""
    frozen = freeze(value)
    if not isinstance(value, str):
        assert score(frozen, frozen).status is ScoreStatus.PASSED
    assert score(frozen, json.dumps(value)).status is ScoreStatus.PASSED


def test_options_are_checked() -> None:
    """The value is required, a tolerance is no negative number, and nothing unknown is accepted."""
    for bad in ({}, {"value": 1, "tolerance": -1}, {"value": 1, "ignore": []}):
        with pytest.raises(ValidationError):
            JsonMatchOptions.model_validate(bad)
