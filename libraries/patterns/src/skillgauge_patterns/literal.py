"""Patterns in parts that scorers have options for: texts, and whether upper and lower case differ."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FLAGS = re.compile(r"\(\?([a-zA-Z]+)\)")
FOLDS = "i"
"""The flag that makes upper and lower case the same."""
_PARTS = re.compile(r"\\(?P<escaped>[^A-Za-z0-9])|(?P<plain>[^\\.^$*+?{}\[\]()|])|(?P<or>\|)", re.DOTALL)


def alternatives(pattern: str) -> tuple[str, ...]:
    """Return the texts of which a pattern finds any, in their order; nothing if it asks for more, or for no text.

    The inverse of `"|".join(map(re.escape, texts))`, and of a part of it.
    """
    texts, position = [""], 0
    while position < len(pattern):
        part = _PARTS.match(pattern, position)
        if part is None:
            return ()
        if part["or"]:
            texts.append("")
        else:
            texts[-1] += part["escaped"] or part["plain"]
        position = part.end()
    return tuple(texts) if all(texts) else ()


def unfolded(patterns: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return patterns without the flag `i` at their start, and whether upper and lower case differ.

    Patterns of which some have it and some have not are returned as they are.
    """
    flags = [match[1] if (match := _FLAGS.match(pattern)) else "" for pattern in patterns]
    if not patterns or not all(FOLDS in letters for letters in flags):
        return tuple(patterns), True
    pairs = zip(patterns, flags, strict=True)
    return tuple(_with_flags(pattern[len(f"(?{letters})") :], letters) for pattern, letters in pairs), False


def _with_flags(pattern: str, letters: str) -> str:
    others = letters.replace(FOLDS, "")
    return f"(?{others}){pattern}" if others else pattern


def folded(pattern: str) -> str:
    """Return a pattern with the flag `i` at its start: the inverse of `unfolded`."""
    flags = _FLAGS.match(pattern)
    if flags is None:
        return f"(?{FOLDS}){pattern}"
    return pattern if FOLDS in flags[1] else f"(?{FOLDS}{flags[1]}){pattern[flags.end() :]}"
