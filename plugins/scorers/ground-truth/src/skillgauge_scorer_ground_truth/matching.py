"""The rule by which a text stands by itself in another."""

from __future__ import annotations

import re

_NUMBER_BEFORE = r"(?<!\d[.,])(?<![^\w]-)(?<!\A-)"
"""Not the fraction of a number, and not what a minus sign stands before."""
_NUMBER_AFTER = r"(?![.,]\d)"


def standing(text: str) -> re.Pattern[str]:
    """Finds a text that is no part of a longer word or number, whatever characters it begins and ends with.

    White space within it stands for any other, a line break for example: how a text is wrapped says nothing.

    >>> [bool(standing("5").search(one)) for one in ("5", "is 5.", "15", "0.5", "5.25", "-5", "a-5")]
    [True, True, False, False, False, False, True]
    >>> [bool(standing("-5").search(one)) for one in ("-5", "(-5)", "x-5")]
    [True, True, False]
    """
    words = text.split()
    first, last = words[0][0], words[-1][-1]
    before = r"(?<!\w)" if _is_word(first) or first in "+-" else ""
    after = r"(?!\w)" if _is_word(last) else ""
    if first.isdigit():
        before += _NUMBER_BEFORE
    if last.isdigit():
        after += _NUMBER_AFTER
    return re.compile(before + r"\s+".join(map(re.escape, words)) + after)


def between_boundaries(text: str) -> re.Pattern[str]:
    """Finds a text between two word boundaries, as BenchFlow does.

    >>> [bool(between_boundaries("5").search(one)) for one in ("5", "15", "0.5")]
    [True, False, True]
    >>> bool(between_boundaries("50%").search("50%"))
    False
    """
    return re.compile(rf"\b{re.escape(text.strip())}\b")


def _is_word(character: str) -> bool:
    return re.fullmatch(r"\w", character) is not None
