"""The differences between two texts, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

CONTEXT = 3
"""Lines around a change that are shown."""
COMPARED = 2_000
"""Lines of both texts together that are compared; texts of more are shown one after the other, since comparing them may
take a time that grows with the product of their lengths."""


def difference(old: str, new: str) -> str:
    """The lines that differ, with `-` before those of the old text and `+` before those of the new, and some around.

    A text whose last line has no end is not told from one whose last line has one.
    """
    before, after = old.splitlines(), new.splitlines()
    if not before or not after or len(before) + len(after) > COMPARED:
        return "\n".join((*(f"-{line}" for line in before), *(f"+{line}" for line in after)))
    return "\n".join(_unified(before, after))


def _unified(before: list[str], after: list[str]) -> Iterator[str]:
    for group in SequenceMatcher(None, before, after).get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ lines {first[1] + 1} to {last[2]}, now {first[3] + 1} to {last[4]} @@"
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[old_start:old_end])
                continue
            yield from (f"-{line}" for line in before[old_start:old_end])
            yield from (f"+{line}" for line in after[new_start:new_end])
