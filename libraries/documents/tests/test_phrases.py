"""Numbers and lists as people read them, one form for each."""

from __future__ import annotations

import pytest

from skillgauge_documents.phrases import (
    counted,
    decimal,
    duration,
    listed,
    moment,
    percent,
    points,
    short_time,
    signed_points,
)


def test_numbers() -> None:
    """One form for each kind; what is unknown is a dash, never 0."""
    assert [percent(value) for value in (None, 0.0, 0.125, 1.0)] == ["–", "0.0%", "12.5%", "100.0%"]
    assert [percent(value) for value in (1999 / 2000, 0.0004, 0.9994)] == [">99.9%", "<0.1%", "99.9%"]
    assert [duration(value) for value in (None, 0.0005, 0.421, 1.0, 75.25)] == [
        "–",
        "0 ms",
        "421 ms",
        "1.0 s",
        "75.2 s",
    ]
    assert [decimal(value) for value in (None, 0.5, 2)] == ["–", "0.50", "2.00"]
    assert [counted(count, "case") for count in (0, 1, 2, 1000)] == ["0 cases", "1 case", "2 cases", "1,000 cases"]
    assert moment(0) == "1970-01-01 00:00:00 UTC"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("5 minutes", "5m"),
        ("5min", "5m"),
        (" 30 Secs. ", "30s"),
        ("500 ms", "500ms"),
        ("2 milliseconds", "2ms"),
        ("1.5 hours", "90m"),
        ("2h", "120m"),
        ("5", ""),
        ("five minutes", ""),
        ("5 months", ""),
        ("0 minutes", ""),
        ("5 minutes or so", ""),
        ("\u0665 minutes", ""),
    ],
)
def test_a_time_that_is_written_out(text: str, word: str) -> None:
    """It becomes one word with a unit that programs know; what is no time becomes none."""
    assert short_time(text) == word


def test_lists() -> None:
    """The first names, and how many more."""
    assert listed(["a", "b\x1b"]) == "a, b\N{REPLACEMENT CHARACTER}"
    assert listed("abcd", limit=2) == "a, b and 2 more"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "+0.0"), (-1e-17, "+0.0"), (-0.0004, "+0.0"), (-0.0006, "-0.1"), (0.25, "+25.0"), (1, "+100.0")],
)
def test_a_difference_that_is_rounded_to_nothing_has_a_plus(share: float, text: str) -> None:
    """A sum of shares that is nothing may come out a little below it."""
    assert signed_points(share) == text
    assert points(share) == f"{text} points"
