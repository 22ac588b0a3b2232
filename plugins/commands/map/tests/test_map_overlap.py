"""The likeness of descriptions: what it measures, and that it is a measure at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_command_map.overlap import Likeness, shared_words, words_of

TEXTS = st.dictionaries(
    st.text("abcd", min_size=1, max_size=3), st.text("abcdefg ", max_size=40), min_size=2, max_size=6
)


@given(TEXTS)
def test_likeness_is_symmetric_and_bounded(texts: dict[str, str]) -> None:
    """It lies between 0 and 1, is the same in both directions, and 1 for a text and itself unless that has no word."""
    likeness = Likeness(texts)
    for first in texts:
        for second in texts:
            share = likeness.of(first, second)
            assert 0 <= share <= 1
            assert share == pytest.approx(likeness.of(second, first))
        if words_of(texts[first]):
            assert likeness.of(first, first) == pytest.approx(1)


@given(TEXTS, st.floats(0, 1))
def test_pairs_are_those_above_the_least(texts: dict[str, str], least: float) -> None:
    """Every two texts that are so alike come once, the most alike first."""
    likeness = Likeness(texts)
    pairs = likeness.pairs(least)
    assert [pair[2] for pair in pairs] == sorted((pair[2] for pair in pairs), reverse=True)
    names = sorted(texts)
    expected = {frozenset((one, two)) for one in names for two in names if one < two and likeness.of(one, two) >= least}
    assert {frozenset(pair[:2]) for pair in pairs} == expected
    assert len(pairs) == len(expected)


def test_rare_words_count_more_than_common_ones() -> None:
    """Words that every description has make no two of them alike; a rare word in common does."""
    texts = {f"skill {number}": f"Use when the user asks for topic{'abcdefgh'[number]}" for number in range(8)}
    texts |= {"left": "Use when the user asks for invoices", "right": "Use when the user asks for an invoice"}
    likeness = Likeness(texts)
    assert likeness.of("left", "right") > 0.7
    assert likeness.of("skill 0", "skill 1") < 0.4
    assert likeness.pairs(0.7) == [("right", "left", likeness.of("left", "right"))]


def test_words_lose_their_endings_and_names_fall_apart() -> None:
    """Inflected forms are one word, short words keep their ends, and names are compared by their parts."""
    assert words_of("Converting converted CONVERTS gas bus") == ["convert", "convert", "convert", "gas", "bus"]
    assert words_of("invoice invoices query queries") == ["invoic", "invoic", "queri", "queri"]
    assert shared_words(("csv-clean", "csv_cleaning")) == 1
    assert shared_words(("csv-clean", "mail-clean")) == pytest.approx(1 / 3)
    assert shared_words(("", "")) == 0
