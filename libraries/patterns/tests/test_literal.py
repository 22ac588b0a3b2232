"""Patterns are taken apart and put together again, and mean the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_patterns import PatternError, alternatives, compiled, folded, from_javascript, in_python, unfolded

TEXTS = st.text(min_size=1, max_size=6)


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_texts_come_out_of_their_pattern(texts: list[str]) -> None:
    """A pattern that was made of texts gives them again, whatever signs are in them."""
    assert alternatives("|".join(map(re.escape, texts))) == tuple(texts)


@pytest.mark.parametrize("pattern", ["", "a|", "a.b", "[ab]", "a+", r"\d", r"\Aa", "(a)", "a$", r"a\n", "a\\"])
def test_what_asks_for_more_than_texts_has_none(pattern: str) -> None:
    """Signs of a pattern, and texts that are empty, are no texts to look for."""
    assert alternatives(pattern) == ()


@given(st.sampled_from(["a", "(?s)a.b", "(?m)^a", "[a-z]+"]))
def test_ignored_case_is_an_option(pattern: str) -> None:
    """The flag is taken from the start of a pattern, other flags stay, and it is put there again."""
    assert unfolded((pattern,)) == ((pattern,), True)
    (plain,), heeds_case = unfolded((folded(pattern),))
    assert (plain, heeds_case) == (pattern, False)
    assert folded(folded(pattern)) == folded(pattern)


def test_patterns_that_disagree_stay_as_they_are() -> None:
    """One option cannot say it of some patterns alone."""
    assert unfolded(("(?i)a", "b")) == (("(?i)a", "b"), True)
    assert unfolded(()) == ((), True)


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("a+[0-9]", "a+[0-9]"),
        (r"it\'s \- 'x'", r"it\'s \- 'x'"),
        ("^a", r"\Aa"),
        ("a$", r"a\Z"),
        (r"a\$", r"a\$"),
        ("a.c", None),
        (r"\d", None),
        (r"\Aa", None),
        ("^a|b$|^c", None),
    ],
)
def test_patterns_of_javascript_as_they_are_written_here(pattern: str, written: str | None) -> None:
    """A pattern that needs nothing of JavaScript keeps its spelling, but for the signs around it."""
    assert in_python(pattern) == written


@given(st.from_regex(r"[ab^$ '.\\|+-]{0,6}", fullmatch=True), st.text(alphabet="ab^$ '.\n|+-", max_size=8))
def test_both_spellings_find_the_same(pattern: str, text: str) -> None:
    """What is written here finds in every text just what JavaScript would find."""
    try:
        written = in_python(pattern)
    except PatternError:
        return
    if written is not None:
        found = [match.span() for match in compiled(written).finditer(text)]
        assert found == [match.span() for match in compiled(from_javascript(pattern)).finditer(text)]
