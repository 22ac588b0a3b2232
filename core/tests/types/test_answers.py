"""What was answered, and its text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.types.answers import Answer, AnswerStyle
from skillgauge.types.suite import Check
from skillgauge.types.trial import Execution
from skillgauge_documents import TextStyle, freeze, text_of

KEYS = AnswerStyle(keys=("result", "answer"))


@pytest.mark.parametrize(
    ("execution", "style", "value"),
    [
        (Execution(output="a", text="b"), AnswerStyle(), "a"),
        (Execution(text="b"), AnswerStyle(), "b"),
        (Execution(), AnswerStyle(), None),
        (Execution(output={"result": 1}), AnswerStyle(), {"result": 1}),
        (Execution(output={"answer": 2, "result": 1}), KEYS, 1),
        (Execution(output={"result": None, "answer": 2}), KEYS, None),
        (Execution(output={"other": 2}), KEYS, {"other": 2}),
        (Execution(output=[{"result": 1}]), KEYS, ({"result": 1},)),
        (Execution(text='{"result": 1}'), KEYS, '{"result": 1}'),
    ],
)
def test_what_was_answered(execution: Execution, style: AnswerStyle, value: object) -> None:
    """The output rules over the text, and of an object the first key that the format names."""
    assert execution.answer(style).value == value


@pytest.mark.parametrize(
    ("value", "plain", "json_style", "string_style"),
    [
        ("as it is\n", "as it is\n", "as it is\n", "as it is\n"),
        (None, "", "null", "null"),
        (True, "true", "true", "true"),
        (25.0, "25.0", "25", "25"),
        ({"ä": [1.0, "x"]}, '{"ä":[1.0,"x"]}', '{"ä":[1,"x"]}', "[object Object]"),
        ([1.0, None, [2, 3]], "[1.0,null,[2,3]]", "[1,null,[2,3]]", "1,,2,3"),
        ([], "[]", "[]", ""),
    ],
)
def test_text_in_each_style(value: Any, plain: str, json_style: str, string_style: str) -> None:
    """Text stays; anything else is JSON, or as JavaScript writes it."""
    styles = TextStyle.JSON, TextStyle.JAVASCRIPT_JSON, TextStyle.JAVASCRIPT
    assert [Answer(freeze(value), style).text for style in styles] == [plain, json_style, string_style]


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists))
@pytest.mark.slow
def test_json_in_the_style_of_javascript_is_json(value: object) -> None:
    """Whatever the style of its numbers is, the text reads back as the value."""
    text = text_of(freeze([value]), TextStyle.JAVASCRIPT_JSON)
    assert json.loads(text, parse_int=float) == [value]


def test_text_is_read_as_json() -> None:
    """Text is read; a value is taken as it is; what is no JSON is said."""
    assert Answer('{"a": [1]}').as_json() == {"a": (1,)}
    assert Answer((1, 2)).as_json() == (1, 2)
    assert Answer(None).as_json() is None
    for text in ("no JSON", "NaN", "[Infinity]", ""):
        with pytest.raises(ValueError, match=r"JSON|Expecting"):
            Answer(text).as_json()


def test_style_is_part_of_what_a_check_asserts() -> None:
    """Another style is another check; a check without one has the digest that it always had."""
    plain, styled = Check(id="c", scorer="exact"), Check(id="c", scorer="exact", answer=KEYS)
    assert plain.digest != styled.digest
    assert plain.scorer_digest == styled.scorer_digest


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
    assert text_of(value, TextStyle.JAVASCRIPT) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_texts_read_back(value: float) -> None:
    """The text of a number is that number."""
    assert float(text_of(value, TextStyle.JAVASCRIPT)) == value
