"""Equality of texts, as eval-skills has it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge.api import DIRECT, Case, Check, Execution, Score, ScoreContext, ScoreStatus, TextStyle, freeze
from skillgauge.api.report import AnswerStyle
from skillgauge_scorer_exact.options import ExactOptions
from skillgauge_scorer_exact.scorer import ExactScorer

EVAL_SKILLS = AnswerStyle(keys=("result", "output", "answer"), text=TextStyle.JAVASCRIPT)
"""How eval-skills reads an answer."""
PLAIN = AnswerStyle()


def score(value: Any, output: Any = None, *, text: str | None = None, **options: Any) -> Score:
    """The score of an output or an agent's text, as eval-skills reads it."""
    return scored(EVAL_SKILLS, value, output, text=text, **options)


def scored(style: AnswerStyle, value: Any, output: Any = None, *, text: str | None = None, **options: Any) -> Score:
    """The score of what a format reads in a style of its own."""
    check = Check(id="c", scorer="exact", answer=style)
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
        ({"a": 1}, {"result": {"a": 1.0}}),
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


@pytest.mark.parametrize(
    ("value", "output"),
    [
        ({"a": 2}, {"a": 1, "b": [1, 2]}),
        ({"a": 2}, {"result": {"a": 3}}),
        ({"zz": 0}, {"other": True}),
        ({"a": 1}, "[object Object]"),
        ([{"a": 1}], [{"a": 2}]),
        ([{"a": 1}], "[object Object]"),
        ([1, {"a": 1}], "1,[object Object]"),
    ],
)
def test_objects_are_compared_as_structures(value: object, output: object) -> None:
    """An object means its content, also where all objects read alike in JavaScript."""
    found = score(value, output)
    assert found.status is ScoreStatus.FAILED
    assert "[object Object]" not in found.evidence["expected"]


@pytest.mark.parametrize(
    ("value", "output", "same"),
    [
        ({"total": 42}, '{"total": 42.0}', True),
        ({"total": 42}, {"total": 42, "more": 1}, False),
        ({"total": 42}, "[object Object]", False),
        ({"total": True}, {"total": 1}, False),
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, True),
        ({"a": None}, {}, False),
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        ([1, 2], [1, 2, 3], False),
        ([1, 2], "1,2", False),
        (25, 25.0, True),
        (25, " 25 ", True),
        (25, "twenty-five", False),
        (None, None, True),
        (True, "true", True),
        (0, False, False),
        ("25", 25, True),
        ("25", 25.0, False),
        ('{"result":"x"}', {"result": "x"}, True),
        ("x", {"result": "x"}, False),
        ("", None, True),
    ],
)
def test_other_formats_compare_text_with_text_and_values_with_values(value: object, output: object, same: bool) -> None:
    """Without a style of the format nothing is as in JavaScript: what is no text is compared as a structure."""
    assert scored(PLAIN, value, output).status is (ScoreStatus.PASSED if same else ScoreStatus.FAILED)


def test_case_can_be_ignored_inside_of_structures() -> None:
    """Texts in a structure follow the same option; keys do not."""
    assert scored(PLAIN, {"a": "X"}, {"a": "x"}).status is ScoreStatus.FAILED
    assert scored(PLAIN, {"a": "X"}, {"a": "x"}, case_sensitive=False).status is ScoreStatus.PASSED
    assert scored(PLAIN, {"A": "x"}, {"a": "x"}, case_sensitive=False).status is ScoreStatus.FAILED


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
    assert score("x" * 200, "y").reason == f'Expected "{"x" * 200}" but got "y"'


def test_text_nested_too_deeply_is_a_wrong_answer() -> None:
    """An output that cannot be read as JSON fails, whatever keeps it from being read."""
    assert scored(PLAIN, [], "[" * 100_000).status is ScoreStatus.FAILED


def test_options_are_checked() -> None:
    """The value is required, and nothing unknown is accepted."""
    with pytest.raises(ValidationError):
        ExactOptions.model_validate({})
    with pytest.raises(ValidationError):
        ExactOptions.model_validate({"value": 1, "caseSensitive": False})


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_a_value_equals_itself(value: object) -> None:
    """Whatever JSON value is expected, an answer that is the same passes."""
    assert score(freeze(value), {"result": value}).status is ScoreStatus.PASSED
