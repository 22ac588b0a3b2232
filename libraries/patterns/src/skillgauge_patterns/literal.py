"""Patterns that ask for nothing but texts, and the texts."""

from __future__ import annotations

import re

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
