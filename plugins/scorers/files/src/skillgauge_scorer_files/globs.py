"""Paths with wildcards."""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def glob(pattern: str) -> Callable[[str], bool]:
    """Tell whether a path with forward slashes matches: `*` and `?` stay in one folder, `**/` spans any folders."""
    plain = "/".join(part for part in pattern.split("/") if part not in ("", "."))
    parts = (_MEANINGS.get(token, re.escape(token)) for token in _TOKENS.findall(plain))
    compiled = re.compile("".join(parts), re.DOTALL)
    return lambda path: compiled.fullmatch(path) is not None
