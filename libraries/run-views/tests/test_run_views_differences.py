"""Differences of texts: nothing is lost, and no text takes long."""

from __future__ import annotations

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from skillgauge_run_views.differences import COMPARED, CONTEXT, difference

HEAD = re.compile(r"@@ lines (\d+) to \d+, now \d+ to \d+ @@")
lines = st.lists(st.text("ab -+@", max_size=3), max_size=12)


def applied(told: str, before: list[str]) -> list[str]:
    """What a text becomes by a difference."""
    after, place = list[str](), 0
    for line in told.split("\n") if told else ():
        if found := HEAD.fullmatch(line):
            after += before[place : int(found[1]) - 1]
            place = int(found[1]) - 1
            continue
        if line[0] != "+":
            assert before[place] == line[1:]
            place += 1
        if line[0] != "-":
            after.append(line[1:])
    return after + before[place:]


@given(lines, lines, st.integers(0, 9))
def test_a_difference_makes_one_text_of_the_other(old: list[str], new: list[str], between: int) -> None:
    """Whatever is shown and left out, the old text and the difference are enough for the new one."""
    alike = [f"alike {number}" for number in range(between)]
    before, after = ([*side, *alike, *reversed(side)] for side in (old, new))
    told = difference("".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after))
    assert applied(told, before) == after


def test_what_is_alike_is_not_shown() -> None:
    """Lines far from any change; equal texts have no difference."""
    before = [str(number) for number in range(100)]
    told = difference("\n".join(before), "\n".join([*before[:50], "new", *before[51:]])).split("\n")
    assert told[0] == "@@ lines 48 to 54, now 48 to 54 @@"
    assert (len(told), "-50" in told, "+new" in told) == (1 + 2 * CONTEXT + 2, True, True)
    assert difference("a\nb", "a\nb\n") == ""


def test_many_lines_are_not_compared() -> None:
    """A text of more lines than could be compared in time is shown after the other, all of it."""
    source = random.Random(1)
    old, new = ([str(source.randrange(9)) for _ in range(COMPARED)] for _ in range(2))
    told = difference("\n".join(old), "\n".join(new)).split("\n")
    assert told == [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
