"""Equality of texts, as eval-skills has it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge.api import DIRECT, Case, Check, Execution, Score, ScoreContext, ScoreStatus, freeze
from skillgauge_scorer_exact.javascript import as_text
from skillgauge_scorer_exact.options import ExactOptions
from skillgauge_scorer_exact.scorer import ExactScorer


def score(value: Any, output: Any = None, *, text: str | None = None, **options: Any) -> Score:
    """The score of an output or an agent's text."""
    check = Check(id="c", scorer="exact")
    context = ScoreContext(check=check, case=Case(id="c"), execution=Execution(output=output, text=text), arm=DIRECT)
    return asyncio.run(ExactScorer(ExactOptions(value=value, **options)).score(context))


@pytest.mark.parametrize(
    ("value", "output"),
    [
        ("25.0", "25.0"),
        ("25.0", {"result": "25.0"}),
        ("25", 25.0),
        (25, 25.0),
        ("5", {"result": 5}),
        ("a", {"output": "a", "answer": "b"}),
        ("a", {"answer": "a", "other": "b"}),
        ("r", {"answer": "a", "result": "r"}),
        ("null", {"result": None, "output": "x"}),
        ("true", True),
        (False, {"result": "false"}),
        (None, {"result": None}),
        ("1,2", [1, 2]),
        ([1, [2, None]], "1,2,"),
        ("[object Object]", {"other": 1}),
        ({"a": 1}, {"result": {"b": 2}}),
        (" a\n", "\ufeff\u00a0a"),
        ("", {"result": "  "}),
        ("ß", "ß"),
    ],
)
@pytest.mark.requirement("ES-SCORE-001")
def test_equal(value: object, output: object) -> None:
    """Values that read alike in JavaScript are equal, wherever in the answer they stand."""
    assert score(value, output).status is ScoreStatus.PASSED


@pytest.mark.parametrize(
    ("value", "output"),
    [
        ("25.0", 25.0),
        ("a", "A"),
        ("a", {"text": "a"}),
        ("1", "1.0"),
        ("\u00e9", "e\u0301"),
        ("a", "a b"),
        ("a", None),
        ("\x1ca", "a"),
    ],
)
def test_different(value: object, output: object) -> None:
    """Numbers as text are not computed, accents not normalised, and only what JavaScript trims is trimmed."""
    assert score(value, output).status is ScoreStatus.FAILED
    assert score(value, output).value == 0


@pytest.mark.requirement("ES-SCORE-002")
def test_case_can_be_ignored() -> None:
    """Upper and lower case differ unless the check says otherwise."""
    assert score("Paris", {"result": "PARIS"}).status is ScoreStatus.FAILED
    assert score("Paris", {"result": "PARIS"}, case_sensitive=False).status is ScoreStatus.PASSED


def test_answer_of_an_agent_is_its_text() -> None:
    """Where there is no output, the final text is compared; an output rules over it."""
    assert score("done", text="done\n").status is ScoreStatus.PASSED
    assert score("done", {"result": "no"}, text="done").status is ScoreStatus.FAILED


def test_reason_says_what_was_expected_and_got() -> None:
    """The reason is that of the original, with evidence beside it."""
    found = score("4", {"result": 5})
    assert found.reason == 'Expected "4" but got "5"'
    assert found.evidence == {"expected": "4", "actual": "5"}


def test_long_values_are_cut_and_the_difference_is_named() -> None:
    """A reason stays readable and still says where to look."""
    found = score("A" * 300 + "b", "a" * 300, case_sensitive=False)
    cut = "… (101 more characters)"
    assert found.reason == (
        f'Expected "{"A" * 200}{cut}" but got "{"a" * 200}… (100 more characters)"'
        "; the first difference is at character 301"
    )
    assert score("x" * 201, "xy").reason.endswith("; the first difference is at character 2")


def test_options_are_checked() -> None:
    """The value is required, and nothing unknown is accepted."""
    with pytest.raises(ValidationError):
        ExactOptions.model_validate({})
    with pytest.raises(ValidationError):
        ExactOptions.model_validate({"value": 1, "caseSensitive": False})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (100.0, "100"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1.25e22, "-1.25e+22"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-9, "1.5e-9"),
        (123456789.125, "123456789.125"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (2**70, "1180591620717411303424"),
    ],
)
def test_numbers_are_written_as_in_javascript(value: float, text: str) -> None:
    """Known answers of JavaScript's String(); whole numbers keep all their digits, which JavaScript cannot."""
    assert as_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_texts_read_back(value: float) -> None:
    """The text of a number is that number."""
    assert float(as_text(value)) == value


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_a_value_equals_itself(value: object) -> None:
    """Whatever JSON value is expected, an answer that is the same passes."""
    assert score(freeze(value), {"result": value}).status is ScoreStatus.PASSED
