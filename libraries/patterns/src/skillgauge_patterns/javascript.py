r"""Patterns as JavaScript reads them, rewritten for the engine that searches here.

The two syntaxes look alike and differ where a verdict hangs on it: `$` is the very end, `\d` and `\w` are ASCII, `\A`
and `(?i)` mean something else or nothing. The grammar is that of ECMA-262, section 22.2.1, with its Annex B.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .compiling import PatternError, refusal

FLAGS = "dgimsuvy"
"""Flags that JavaScript knows."""
_LAST = 0x10FFFF
_TERMINATORS = r"\n\r\u2028\u2029"
_WORD = "A-Za-z0-9_"
_BOUNDARY = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_NO_BOUNDARY = f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))"
_NEVER, _ANY = "(?!)", "(?s:.)"
_SPACES = ((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F))
_CLASSES: dict[str, tuple[tuple[int, int], ...]] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": (*_SPACES, (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_GROUP = re.compile(r"\((?:\?(?:(?P<plain>[:=!]|<[=!])|<(?P<name>[^>]*)>|(?P<on>[ims]*)(?:-(?P<off>[ims]*))?:))?")
_REPEAT = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_HEX = {"x": re.compile(r"[0-9A-Fa-f]{2}"), "u": re.compile(r"[0-9A-Fa-f]{4}")}
_POINT = re.compile(r"\{([0-9A-Fa-f]+)\}")
_LOW_SURROGATE = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_NAME = re.compile(r"<([^>]*)>")
_OCTAL = re.compile(r"[0-3]?[0-7]{1,2}")
_PROPERTY = re.compile(r"\{[A-Za-z0-9_=]+\}")


def from_javascript(pattern: str, flags: str = "") -> str:
    """Rewrite a pattern of JavaScript, so that `compiled` finds with it what JavaScript would find.

    Texts are compared by code point, while JavaScript compares by UTF-16 unit unless the flag `u` is set; `d` and `g`
    change nothing in what is found.

    Args:
        pattern: its source, without slashes around it.
        flags: letters of `FLAGS`.

    Returns:
        The pattern, with the flags in it.

    Raises:
        PatternError: JavaScript refuses the pattern or the flags, or the sets of flag `v` would be needed.
    """
    if len(set(flags)) != len(flags) or set(flags) - set(FLAGS) or {"u", "v"} <= set(flags):
        raise PatternError(f"flags {flags!r} are not those of a pattern in JavaScript: each of {FLAGS} once, u or v")
    if "v" in flags:
        raise PatternError("flag 'v', with its sets of sets, is not supported; use 'u' if the pattern needs no sets")
    body = "".join(_Reader(pattern, flags).alternatives())
    body = rf"\A(?:{body})" if "y" in flags else body
    return f"(?i:{body})" if "i" in flags else body


@dataclass(frozen=True)
class _Modes:
    """The meanings that can change within a group."""

    is_multiline: bool
    dots_match_all: bool

    @property
    def start(self) -> str:
        return f"(?<![^{_TERMINATORS}])" if self.is_multiline else r"\A"

    @property
    def end(self) -> str:
        return f"(?![^{_TERMINATORS}])" if self.is_multiline else r"\Z"

    @property
    def dot(self) -> str:
        return _ANY if self.dots_match_all else f"[^{_TERMINATORS}]"


class _Reader:
    """Reads a pattern from left to right, and yields it in the other syntax."""

    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern, self._at = pattern, 0
        self._is_unicode = "u" in flags
        self._modes = _Modes("m" in flags, "s" in flags)
        self._names: dict[str, int] = {}
        self._groups = 0
        for opening in _openings(pattern):
            self._groups += 1
            if opening is not None:
                if opening in self._names or not opening.replace("$", "_").isidentifier():
                    raise self._refused(f"group name {opening!r} is taken or is no name")
                self._names[opening] = self._groups

    def alternatives(self, *, is_group: bool = False) -> Iterator[str]:
        """Yield up to the end of the pattern, or of the group."""
        while self._at < len(self._pattern):
            sign = self._pattern[self._at]
            if sign == ")":
                if not is_group:
                    raise self._refused("a ')' closes nothing")
                return
            if sign == "|":
                self._at += 1
                yield "|"
            else:
                yield from self._term(sign)
        if is_group:
            raise self._refused("a '(' is not closed")

    def _term(self, sign: str) -> Iterator[str]:
        self._at += 1
        if sign in "^$":
            yield self._modes.start if sign == "^" else self._modes.end
        elif sign == "\\" and self._next() in ("b", "B"):
            yield _BOUNDARY if self._next() == "b" else _NO_BOUNDARY
            self._at += 1
        elif sign in "*+?" or (sign == "{" and self._repeat_at(self._at - 1)):
            raise self._refused(f"nothing stands before {sign!r}")
        else:
            atom, may_repeat = self._group() if sign == "(" else (self._atom(sign), True)
            yield atom
            yield from self._repeats() if may_repeat else ()

    def _atom(self, sign: str) -> str:
        if sign == ".":
            return self._modes.dot
        if sign == "[":
            return self._class()
        if sign == "\\":
            return self._escape()
        if self._is_unicode and sign in "{}]":
            raise self._refused(f"a lone {sign!r} needs a backslash under flag 'u'")
        return _literal(ord(sign))

    def _group(self) -> tuple[str, bool]:
        """Return the group, and tell whether it may be repeated; lookbehinds may not."""
        match = _GROUP.match(self._pattern, self._at - 1)
        assert match is not None  # it begins with a bracket, and all else may be absent
        if match.end() == self._at and self._next() == "?":
            raise self._refused("there is no such group in JavaScript; flags stand apart, as in flags: i")
        self._at, modes = match.end(), self._modes
        plain = match["plain"]
        opening = f"(?{plain}" if plain else "("
        if match["on"] is not None:
            opening = self._modified(match["on"], match["off"] or "")
        inner = "".join(self.alternatives(is_group=True))
        self._at, self._modes = self._at + 1, modes
        may_repeat = plain not in ("<=", "<!") and not (self._is_unicode and plain in ("=", "!"))
        return f"{opening}{inner})", may_repeat

    def _modified(self, on: str, off: str) -> str:
        """Change the modes for a group, and return how it opens."""
        modes, letters = self._modes, on + off
        if not letters or len(set(letters)) != len(letters):
            raise self._refused("the modifiers of a group name each of i, m and s once at most")
        self._modes = replace(
            modes,
            is_multiline="m" in on or (modes.is_multiline and "m" not in off),
            dots_match_all="s" in on or (modes.dots_match_all and "s" not in off),
        )
        return "(?i:" if "i" in on else "(?-i:" if "i" in off else "(?:"

    def _repeats(self) -> Iterator[str]:
        sign = self._next()
        if repeat := self._repeat_at(self._at):
            low, comma, high = repeat.groups()
            if high and int(high) < int(low):
                raise self._refused(f"{repeat[0]} counts downwards")
            self._at = repeat.end()
            yield f"{{{low}{comma or ''}{high or ''}}}"
        elif sign and sign in "*+?":
            self._at += 1
            yield sign
        else:
            return
        if self._next() == "?":
            self._at += 1
            yield "?"

    def _repeat_at(self, at: int) -> re.Match[str] | None:
        return _REPEAT.match(self._pattern, at)

    def _escape(self) -> str:
        """Return what follows a backslash outside of a class."""
        sign = self._character()
        if sign in "123456789":
            return self._reference(sign)
        if sign == "k" and (self._names or self._is_unicode):
            match = _NAME.match(self._pattern, self._at)
            if match is None or match[1] not in self._names:
                raise self._refused("\\k names no group of the pattern")
            self._at = match.end()
            return _back_reference(self._names[match[1]])
        ranges = self._class_escape(sign)
        if isinstance(ranges, str):
            return ranges
        return _literal(self._point(sign)) if ranges is None else f"[{_written(ranges)}]"

    def _reference(self, first: str) -> str:
        digits = first + (re.compile(r"\d*").match(self._pattern, self._at) or [""])[0]
        if int(digits) <= self._groups:
            self._at += len(digits) - 1
            return _back_reference(int(digits))
        if self._is_unicode:
            raise self._refused(f"\\{digits} refers to no group")
        return _literal(self._octal(first))

    def _octal(self, first: str) -> int:
        """Return the old octal form, which begins with the digit that was read; 8 and 9 are themselves."""
        match = _OCTAL.match(self._pattern, self._at - 1)
        if match is None:
            return ord(first)
        self._at = match.end()
        return int(match[0], 8)

    def _class_escape(self, sign: str) -> tuple[tuple[int, int], ...] | str | None:
        r"""Return the ranges of `\d` and its like, the text of a property; `None` for anything else."""
        if sign.lower() in _CLASSES:
            ranges = _CLASSES[sign.lower()]
            return ranges if sign.islower() else tuple(_complement(ranges))
        if self._is_unicode and sign in "pP":
            match = _PROPERTY.match(self._pattern, self._at)
            if match is None:
                raise self._refused(f"\\{sign} names no property")
            self._at = match.end()
            return f"\\{sign}{match[0]}"
        return None

    def _point(self, sign: str) -> int:
        """Return the code point of an escape that stands for one character."""
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        if sign == "c" and self._next().isascii() and self._next().isalpha():
            return ord(self._character()) % 32
        if sign in _HEX and (point := self._hex(sign)) is not None:
            return point
        if sign == "0" and not self._next().isdecimal():
            return 0
        if not self._is_unicode:
            if sign == "c":
                self._at -= 1
                return ord("\\")
            return self._octal(sign) if sign in "01234567" else ord(sign)
        if sign in _SYNTAX:
            return ord(sign)
        raise self._refused(f"\\{sign} means nothing under flag 'u'")

    def _hex(self, sign: str) -> int | None:
        if sign == "u" and self._is_unicode and (match := _POINT.match(self._pattern, self._at)):
            self._at = match.end()
            if int(match[1], 16) > _LAST:
                raise self._refused(f"there is no character {match[1]}")
            return int(match[1], 16)
        match = _HEX[sign].match(self._pattern, self._at)
        if match is None:
            return None
        self._at, point = match.end(), int(match[0], 16)
        low = _LOW_SURROGATE.match(self._pattern, self._at) if 0xD800 <= point < 0xDC00 else None
        if low is None:
            return point
        self._at = low.end()
        return 0x10000 + (point - 0xD800) * 0x400 + int(low[1], 16) - 0xDC00

    def _class(self) -> str:
        is_negated = self._next() == "^"
        self._at += is_negated
        parts: list[str] = []
        while self._next() != "]":
            low = self._member()
            if self._next() != "-" or self._pattern[self._at + 1 : self._at + 2] in ("]", ""):
                parts.append(low if isinstance(low, str) else _literal(low))
                continue
            self._at += 1
            parts.append(self._range(low, self._member()))
        self._at += 1
        if not parts:
            return _ANY if is_negated else _NEVER
        return f"[{'^' if is_negated else ''}{''.join(parts)}]"

    def _range(self, low: int | str, high: int | str) -> str:
        if isinstance(low, str) or isinstance(high, str):
            if self._is_unicode:
                raise self._refused("a class of characters bounds no range")
            return "".join(one if isinstance(one, str) else _literal(one) for one in (low, ord("-"), high))
        if high < low:
            raise self._refused("a range of characters goes backwards")
        return f"{_literal(low)}-{_literal(high)}"

    def _member(self) -> int | str:
        """Return a character of a class, or the text of a class within it."""
        sign = self._character()
        if sign != "\\":
            return ord(sign)
        sign = self._character()
        if sign == "b":
            return 8
        if sign == "-" and self._is_unicode:
            return ord(sign)
        if sign == "B" and self._is_unicode:
            raise self._refused("\\B means nothing in a class")
        ranges = self._class_escape(sign)
        if isinstance(ranges, str):
            return ranges
        return self._point(sign) if ranges is None else _written(ranges)

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _character(self) -> str:
        if self._at >= len(self._pattern):
            raise self._refused("it ends too early")
        self._at += 1
        return self._pattern[self._at - 1]

    def _refused(self, why: str) -> PatternError:
        return refusal(self._pattern, f"{why} (character {self._at})")


def _openings(pattern: str) -> Iterator[str | None]:
    """Yield the capturing groups of a pattern, each by its name or as `None`."""
    at, is_class = 0, False
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif sign in "[]":
            is_class = sign == "["
        elif sign == "(" and not is_class:
            match = _GROUP.match(pattern, at)
            if match and match["name"] is not None:
                yield match["name"]
            elif pattern[at + 1 : at + 2] != "?":
                yield None
        at += 1


def _literal(point: int) -> str:
    text = chr(point)
    return text if text.isalnum() or point > 0x7F else f"\\x{point:02x}"


def _back_reference(group: int) -> str:
    """Refer to a group; one that took no part is empty in JavaScript, and stops the search elsewhere."""
    return f"(?({group})\\{group}|)"


def _written(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"{_literal(low)}-{_literal(high)}" for low, high in ranges)


def _complement(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start = 0
    for low, high in sorted(ranges):
        yield start, low - 1
        start = high + 1
    yield start, _LAST
