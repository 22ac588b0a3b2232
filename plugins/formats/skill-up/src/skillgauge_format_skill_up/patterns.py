r"""Patterns as Go reads them, rewritten for the engine that searches here, and back.

The two syntaxes look alike and differ where a verdict hangs on it: with Go `\b`, `\w`, `\d` and `\s` are ASCII, so that
`\bbug\b` is found between Chinese characters, and `$` is the very end of a text. Go knows neither lookaround nor back
references; where a pattern has some, skill-up refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

_TOKEN = re.compile(
    r"""
    \\Q(?P<quoted>.*?)(?:\\E|\Z)
    |\\x\{(?P<point>[0-9A-Fa-f]+)\}
    |(?P<property>\\[pP](?:\{\^?\w+\}|[A-Z]))
    |\\(?P<escaped>.)
    |(?P<class>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\])
    |\(\?(?P<on>[imsU]*)(?:-(?P<off>[imsU]+))?(?P<scope>[:)])
    |(?P<named>\(\?P?<\w+>)
    |(?P<strange>\(\?)
    |(?P<open>\()
    |(?P<close>\))
    |(?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\})\??)
    |(?P<end>\$)
    |(?P<plain>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_LEADING = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?\)")
_FLAGS = re.compile(r"\(\?([ims]+)\)")
_ASCII = frozenset("bBdDsSwW")
_KNOWN = frozenset("aftnrvxA")
"""Escapes that mean the same in both."""
_ASCII_CLASS = re.compile(r"\\[dDsSwW]")
_NAMED_CLASS = re.compile(r"\\.|\[:(?P<name>\^?\w+):\]", re.DOTALL)
_NAMED_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`\{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_REWRITTEN = re.compile(r"\(\?a:(?P<inner>\\[bBdDsSwW]|\[\^?\]?(?:\\.|[^\]\\])*\])\)|(?P<end>\\Z)|\\.", re.DOTALL)


def from_go(pattern: str) -> str:
    """Rewrite a pattern of Go, so that the same is found with it here.

    Raises:
        ValueError: Go refuses it, or has a meaning for it that cannot be written here.
    """
    on, at = "", 0
    while match := _LEADING.match(pattern, at):
        on = "".join(dict.fromkeys(on + match[1].replace("U", "")))
        on = "".join(flag for flag in on if flag not in (match[2] or ""))
        at = match.end()
    body = "".join(_Reader(is_multiline="m" in on).translated(pattern[at:]))
    return f"(?{on}){body}" if on else body


def to_go(pattern: str) -> str | None:
    """Return the pattern of Go that is read as this one, or as one of nearly the same meaning; `None` if none is."""

    def rewritten(match: re.Match[str]) -> str:
        return match["inner"] or (r"\z" if match["end"] else match[0])

    written = _REWRITTEN.sub(rewritten, pattern)
    try:
        from_go(written)
    except ValueError:
        return None
    return written


def any_of(patterns: Sequence[str]) -> str:
    """A pattern that finds what one of several would, each with the flags at its beginning for itself alone."""
    return patterns[0] if len(patterns) == 1 else "|".join(map(_scoped, patterns))


def any_text(texts: Sequence[str]) -> str:
    """A pattern that finds one of several texts."""
    return "|".join(map(re.escape, texts))


def texts_of(pattern: str) -> tuple[str, ...]:
    """Return the texts of which such a pattern finds one; nothing if it is another pattern, or there is one text."""
    parts = re.findall(r"(?:\\.|[^\\|])+", pattern, re.DOTALL)
    texts = tuple(re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL) for part in parts)
    return texts if len(texts) > 1 and any_text(texts) == pattern else ()


def _scoped(pattern: str) -> str:
    flags = _FLAGS.match(pattern)
    return f"(?{flags[1]}:{pattern[flags.end() :]})" if flags else f"(?:{pattern})"


class _Reader:
    """Reads a pattern from left to right, and knows where `^` and `$` are the ends of lines."""

    def __init__(self, *, is_multiline: bool) -> None:
        self._modes = [is_multiline]
        self._is_repeated = False
        self._rules: dict[str, Callable[[re.Match[str]], str]] = {
            "quoted": lambda token: re.escape(token["quoted"]),
            "point": _character,
            "escaped": _escape,
            "class": _class,
            "scope": self._group,
            "strange": _refuse_group,
            "end": lambda _: "$" if self._modes[-1] else r"\Z",
            "repeat": self._repeat,
        }

    def translated(self, pattern: str) -> Iterator[str]:
        """Yield each part of a pattern as it is written here."""
        for token in _TOKEN.finditer(pattern):
            kind = token.lastgroup or ""
            yield self._rules[kind](token) if kind in self._rules else _plain(token[0])
            self._is_repeated = kind == "repeat"
            if kind in ("open", "named"):
                self._modes.append(self._modes[-1])
            elif kind == "close" and len(self._modes) > 1:
                self._modes.pop()

    def _group(self, token: re.Match[str]) -> str:
        on, off = token["on"].replace("U", ""), (token["off"] or "").replace("U", "")
        if token["scope"] == ")":
            raise ValueError(f"{token[0]} stands in its middle: write it at the beginning, or as (?{token['on']}:...)")
        self._modes.append("m" in on or (self._modes[-1] and "m" not in off))
        return f"(?{on}{'-' if off else ''}{off}:"

    def _repeat(self, token: re.Match[str]) -> str:
        if self._is_repeated:
            raise ValueError(f"{token[0]} repeats what is repeated already, which Go does not allow")
        return token[0]


def _plain(text: str) -> str:
    # Go takes such a brace for itself; here it could begin the number of errors that a match may have.
    return rf"\{text}" if text in ("{", "}") else text


def _character(token: re.Match[str]) -> str:
    try:
        return re.escape(chr(int(token["point"], 16)))
    except (OverflowError, ValueError):
        raise ValueError(f"{token[0]} is no character") from None


def _refuse_group(_: re.Match[str]) -> str:
    raise ValueError("Go has no group of this kind: no lookaround, no comment, no condition")


def _escape(token: re.Match[str]) -> str:
    letter = token["escaped"]
    if letter in _ASCII:
        return rf"(?a:\{letter})"
    if letter == "z":
        return r"\Z"
    if letter.isascii() and letter.isalnum() and letter not in _KNOWN and letter != "0":
        raise ValueError(rf"\{letter} means nothing in a pattern of Go")
    return rf"\{letter}"


def _class(token: re.Match[str]) -> str:
    text = token["class"]

    def written_out(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return match[0]
        if name not in _NAMED_CLASSES:
            raise ValueError(f"the class {match[0]} cannot be written here")
        return _NAMED_CLASSES[name]

    ranges = _NAMED_CLASS.sub(written_out, text)
    if not _ASCII_CLASS.search(ranges):
        return ranges
    if re.search(r"\\[pP]", ranges):
        raise ValueError(f"{text} mixes ASCII classes with others, which cannot be written here")
    return f"(?a:{ranges})"
