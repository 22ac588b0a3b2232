"""Patterns for the files of a skill that are installed, as the Go library doublestar has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

_TOKEN = re.compile(
    r"(?P<folders>(?<![^/])\*\*/)|(?P<below>/\*\*\Z)|(?P<everything>\A\*\*\Z)|(?P<name>\*+)|(?P<sign>\?)"
    r"|\[(?P<negated>[!^]?)(?P<characters>(?:\\.|[^\]\\])+)\]|(?P<open>\{)|(?P<close>\})|(?P<comma>,)"
    r"|\\(?P<escaped>.)|(?P<plain>.)",
    re.DOTALL,
)
_MEANINGS = {
    "folders": "(?:[^/]+/)*",
    "below": "(?:/.*)?",
    "everything": ".*",
    "name": "[^/]*",
    "sign": "[^/]",
    "open": "(?:",
    "close": ")",
}


def glob(pattern: str) -> Callable[[str], bool]:
    """Tell whether a path with forward slashes matches: `*` stays in one folder, `**` spans any, `{a,b}` chooses.

    Raises:
        ValueError: it is no such pattern.
    """
    try:
        matches = re.compile("".join(_translated(pattern)), re.DOTALL)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no pattern for files: {error}") from error
    return lambda path: matches.fullmatch(path) is not None


def _translated(pattern: str) -> Iterator[str]:
    depth = 0
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup or ""
        if kind == "characters":
            yield f"[{'^/' if token['negated'] else ''}{token['characters']}]"
        elif kind == "comma":
            yield "|" if depth else ","
        elif kind in _MEANINGS:
            depth += (kind == "open") - (kind == "close")
            yield _MEANINGS[kind]
        else:
            yield re.escape(token[kind])


def left_out(paths: Iterable[str], include: Sequence[str], exclude: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of a folder's files that are not installed; who excludes a folder excludes all that is in it.

    Args:
        paths: of all files, relative to the folder.
        include: patterns of what is installed; none stands for everything.
        exclude: patterns of what is not, although it is included.

    Raises:
        ValueError: one of them is no pattern.
    """
    included, excluded = [glob(one) for one in include], [glob(one) for one in exclude]

    def is_installed(path: str) -> bool:
        places = [path, *(str(folder) for folder in PurePosixPath(path).parents[:-1])]
        if any(matches(place) for matches in excluded for place in places):
            return False
        return not included or any(matches(path) for matches in included)

    return tuple(path for path in paths if not is_installed(path))
