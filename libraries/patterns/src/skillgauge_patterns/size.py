"""The size of a pattern once its repetitions are written out, as the compiler does: found without compiling it."""

from __future__ import annotations

import re

_LONGEST = 2_000
"""Characters of a pattern that is looked at; what is longer is tried out."""
_COUNTED = re.compile(r"\{(\d*)(,?)(\d*)\}")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPED = re.compile(r"\\(?:[pPN]\{[^}]*\}|.)", re.DOTALL)
_APPROXIMATE = frozenset("eisd0123456789")
_ODD = re.compile(r"\[:|\(\?[A-Za-z0-9-]*x")
"""Named classes, which may be none, and comments: what they hide depends on more than their look."""


def size_of(pattern: str) -> int | None:
    """Elements of a pattern, at most; `None` if its form is too odd or too long to tell.

    Everything counts once, and as often as the repetitions around it say.
    """
    if len(pattern) > _LONGEST or _ODD.search(pattern):
        return None
    groups: list[int] = []
    whole = last = at = 0
    while at < len(pattern):
        sign = pattern[at]
        length = 1
        if sign == "(":
            groups.append(whole)
            whole = last = 0
        elif sign == ")":
            if not groups:
                return None
            last, whole = whole + 1, groups.pop()
            whole += last
        elif counted := _COUNTED.match(pattern, at):
            times = _most_times(counted)
            whole += last * (times - 1)
            last *= times
            length = len(counted[0])
        elif sign == "{" and pattern[at + 1 : at + 2] in _APPROXIMATE:
            return None
        else:
            length = _length_of_element(pattern, at)
            if sign not in "*+?":
                last = length
            whole += length
        at += length
    return whole + sum(groups)


def _most_times(counted: re.Match[str]) -> int:
    """Return how often a counted repetition repeats at most; once where it does not say."""
    return max(int(counted[1] or 0), int(counted[3] or 0), 1)


def _length_of_element(pattern: str, at: int) -> int:
    """Return the characters of a class, of an escaped sign, or of a single one."""
    element = _CLASS.match(pattern, at) or _ESCAPED.match(pattern, at)
    return len(element[0]) if element else 1
