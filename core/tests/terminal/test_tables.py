"""Tables fit whatever terminal there is, and lose nothing by it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.terminal.tables import columns, table_lines, wrap

CELLS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=60)
TABLES = st.integers(1, 8).flatmap(
    lambda size: st.tuples(
        st.lists(CELLS, min_size=size, max_size=size),
        st.lists(st.lists(CELLS, min_size=size, max_size=size), max_size=4),
    )
)


@given(TABLES, st.integers(40, 200))
def test_no_line_is_wider_than_the_terminal(table: tuple[list[str], list[list[str]]], width: int) -> None:
    """From 40 columns to 200, whatever the cells hold; every word of every row is there."""
    heads, rows = table
    lines = list(table_lines(heads, rows, width))
    assert all(columns(line) <= width for line in lines)
    letters = "".join(lines).replace(" ", "")
    for row in rows:
        for cell in row:
            assert all(letter in letters for letter in cell if letter.isalnum())


def test_a_wide_terminal_changes_nothing() -> None:
    """Columns are as wide as their widest cell, and no line ends in blanks."""
    lines = list(table_lines(["Name", "What"], [["a", "b"], ["longer", ""]], None))
    assert lines == ["Name    What", "a       b", "longer"]


def test_the_widest_column_gives_way_first() -> None:
    """A long summary is wrapped before a name is."""
    rows = [["claude-code", "Runs sessions of an agent of that name in a sandbox"]]
    assert list(table_lines(["Name", "Summary"], rows, 40)) == [
        "Name         Summary",
        "claude-code  Runs sessions of an agent",
        "             of that name in a sandbox",
    ]


def test_too_many_columns_become_a_list() -> None:
    """A line for each cell that holds anything, with the title of its column, and a blank between two rows."""
    heads = [f"Column {number}" for number in range(6)]
    lines = list(table_lines(heads, [["one", "two", "", "four", "five", "six"], ["1", "2", "3", "4", "5", "6"]], 40))
    assert lines[:3] == ["Column 0: one", "Column 1: two", "Column 3: four"]
    assert "" in lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("日本語日本語", ["日本", "語日", "本語"]),
        ("abcdef", ["abcde", "f"]),
        ("a bcdefgh i", ["a", "bcdef", "gh i"]),
    ],
)
def test_what_cannot_be_broken_between_words(text: str, lines: list[str]) -> None:
    """It is broken anywhere; wide characters take two columns."""
    assert wrap(text, 5) == lines
