"""Expressions of `-k` mean what they say, and what is none is refused with its reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.errors import UsageError
from skillgauge.evaluation.selection import Choice, fits, matcher
from skillgauge.types.suite import Case


@pytest.mark.parametrize(
    ("expression", "is_meant"),
    [
        ("csv", True),
        ("CSV", True),
        ("json", False),
        ("not json", True),
        ("csv and slow", True),
        ("csv and json", False),
        ("json or slow", True),
        ("csv and not slow", False),
        ("not csv or slow", True),
        ("not (csv or slow)", False),
        ("json or csv and slow", True),
        ("(json or csv) and not nothing", True),
        ("'report of' and csv", True),
        ('"or"', True),
        ("not not csv", True),
    ],
)
def test_what_an_expression_means(expression: str, is_meant: bool) -> None:
    """Words are looked for in id, name and tags, whatever their case; `not` binds closest, then `and`."""
    assert fits([expression], "17", "report of CSV", "slow") is is_meant


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("", "a word is missing"),
        ("and", "a word is missing before 'and'"),
        ("csv and", "a word is missing at its end"),
        ("(csv", "a bracket is never closed"),
        ("csv)", "')' is left over"),
        ("csv json", "'json' is left over"),
        ("not", "a word is missing at its end"),
        ("'csv", "a quotation mark is never closed"),
    ],
)
def test_what_is_no_expression(expression: str, why: str) -> None:
    """The message names the fault and shows how one is written."""
    with pytest.raises(UsageError) as caught:
        matcher(expression)
    (problem,) = caught.value.problems
    assert problem.code == "usage.keyword"
    assert why in problem.message
    assert "-k 'csv and not" in (problem.hint or "")


@given(st.lists(st.sampled_from(["a", "b", "and", "or", "not", "(", ")", '"x y"']), max_size=9).map(" ".join))
def test_every_text_is_an_expression_or_refused(expression: str) -> None:
    """Python reads what it accepts in the same way, with each word for what it is found in."""
    try:
        found = matcher(expression)("a")
    except UsageError:
        return
    python = expression.replace('"x y"', "b").replace("and", "&").replace("not", "~").replace("a", "True")
    assert found is eval(python.replace("&", "and").replace("~", "not").replace("b", "False"))


def test_all_parts_of_a_choice_have_to_fit() -> None:
    """Globs, tags, expressions and named cases narrow each other."""
    case = Case(id="17", name="report of csv", tags=("slow",))
    assert Choice(keywords=("csv", "slow")).admits(case)
    assert not Choice(keywords=("csv", "json")).admits(case)
    assert not Choice(cases=("18",), keywords=("csv",)).admits(case)
    assert not Choice(only=frozenset()).admits(case)
    assert not Choice().is_given
    assert Choice(keywords=("csv",)).is_given
    assert Choice(only=frozenset()).is_given
