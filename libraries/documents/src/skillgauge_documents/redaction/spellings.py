"""Texts that must not be shown, found in others however they are spelt there, and replaced.

As they are, backwards, escaped as URLs, JSON, HTML and shells do it, in base64, base32 and hex, broken into lines, or
cut at an edge. Only given texts are found; this does not guess what looks like a secret.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import quote_plus

Content = TypeVar("Content", bytes, bytearray)

_BREAK = re.compile(r"(?:\s|\\[nrt])+")
"""Where a text may be broken into lines, escaped as in JSON or not."""
_SURE = 16
"""Characters that are no secret by chance even if line breaks are taken out."""
_PIECE = 8
"""Characters at an edge of a text that are taken for the rest of a secret, because the text was cut there."""
_CUT = 64
"""Characters of a text that may have been cut."""
_ESCAPE_SIGNS = "%&\\"
"""Characters with which the escapes of URLs, HTML, JSON and shells begin."""
_APART = "\0"
"""Joins texts, since it is neither a character of an escape nor one that a text may be broken with."""


class Spellings:
    """Replaces texts by a mark each, in texts and in bytes.

    Args:
        marks: by the text that each replaces.
    """

    def __init__(self, marks: Mapping[str, str] | None = None) -> None:
        self._marks = marks or {}

    @cached_property
    def _forms(self) -> dict[str, str]:
        """Made when they are first needed; where two texts share a form, it has the mark of the first."""
        return {form: mark for text, mark in reversed([*self._marks.items()]) for form in _forms(text)}

    @cached_property
    def _in_text(self) -> _Finder:
        return _Finder(self._forms, set("".join(self._marks)))

    @cached_property
    def _in_bytes(self) -> _Finder:
        marks = {form: _as_latin(mark) for form, mark in self._forms.items()}
        return _Finder(marks | {_as_latin(form): mark for form, mark in marks.items()}, set("".join(self._marks)))

    def may_be_in(self, texts: Collection[str], content: Collection[bytes | bytearray]) -> bool:
        """Tell whether something may be found in these texts or in this content; if not, nothing is.

        All texts are looked through at once: most values have many short ones, and nothing in any of them.
        """
        return self._in_text.may_be_in(texts) or self._in_bytes.may_be_in([each.decode("latin-1") for each in content])

    def replaced(self, text: str) -> str:
        """The text with marks in place of what was found; the same object if nothing was."""
        return self._in_text.replaced(text)

    def replaced_in_bytes(self, content: Content, *, masked: bool = False) -> Content:
        """The same of bytes; `masked` puts as many asterisks in place of each, so that nothing moves."""
        text = content.decode("latin-1")
        clean = self._in_bytes.replaced(text, masked=masked)
        return content if clean is text else type(content)(clean.encode("latin-1"))


class _Finder:
    """Finds forms in texts.

    Args:
        forms: what to put in place of each form.
        letters: of which what is looked for is made.
    """

    def __init__(self, forms: Mapping[str, str], letters: Collection[str]) -> None:
        # The longest first: one form can be part of another.
        self._all = tuple(sorted(forms.items(), key=lambda item: -len(item[0])))
        squeezed = [(_BREAK.sub("", form), mark) for form, mark in self._all]
        self._sure = [item for item in squeezed if len(item[0]) >= _SURE]
        self._escape, self._unescaped = _escapes(letters)
        self._forms = tuple(forms)
        self._sure_forms = tuple(form for form, _ in self._sure)
        self._edges = {edge for form in forms for edge in (form[:_PIECE], form[-_PIECE:])}
        self._shortest = min(map(len, forms), default=0)
        self._longest = max(map(len, forms), default=0)

    def may_be_in(self, texts: Collection[str]) -> bool:
        """See `Spellings`."""
        joined = _APART.join(texts)
        if _has(joined, self._forms) or self._is_escaped(joined):
            return True
        unbroken = _unbroken(joined)
        if unbroken != joined and _has(unbroken, self._sure_forms):
            return True
        ends = [end for text in texts if len(text) >= _CUT for end in (text[: self._longest], text[-self._longest :])]
        return _has(_APART.join(ends), self._edges)

    def replaced(self, text: str, *, masked: bool = False) -> str:
        """See `Spellings`."""
        if len(text) < self._shortest or not self.may_be_in((text,)):
            return text
        spans = [*_spans(text, self._all), *self._cut(text)]
        if len(text) >= _SURE and _spans(unbroken := _unbroken(text), self._sure) and unbroken != text:
            spans += _spans_behind(text, _BREAK, lambda _match: "", self._sure)
        if self._is_escaped(text):
            spans += _spans_behind(text, self._escape, self._unescaped, self._all)
        end, pieces = 0, list[str]()
        for start, stop, mark in sorted(spans, key=lambda span: (span[0], -span[1])):
            if stop > end:
                begin = max(start, end)
                pieces += (text[end:begin], "*" * (stop - begin) if masked else mark if start >= end else "")
                end = stop
        return "".join((*pieces, text[end:])) if spans else text

    def _is_escaped(self, text: str) -> bool:
        # A pattern looks at every character, and most texts have none of those with which an escape begins.
        return _has(text, _ESCAPE_SIGNS) and self._escape.search(text) is not None

    def _cut(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Return the rest of a form at the edges."""
        for form, mark in self._all if len(text) >= _CUT else ():
            at = text.find(form[:_PIECE], max(0, len(text) - len(form) + 1))
            if at >= 0 and form.startswith(text[at:]):
                yield at, len(text), mark
            at = text.rfind(form[-_PIECE:], 0, len(form) - 1) + _PIECE
            if at >= _PIECE and form.endswith(text[:at]):
                yield 0, at, mark


def _has(text: str, parts: Iterable[str]) -> bool:
    for part in parts:  # noqa: SIM110 - in half of the time of `any`, for every text of a run
        if part in text:
            return True
    return False


def _unbroken(text: str) -> str:
    return "".join((re.sub(r"\\[nrt]", "", text) if "\\" in text else text).split())


def _spans(text: str, forms: Iterable[tuple[str, str]]) -> list[tuple[int, int, str]]:
    """Yield the places of forms in a text, and the text to put there."""
    spans = []
    for form, mark in forms:
        at = text.find(form)
        while at >= 0:
            spans.append((at, at + len(form), mark))
            at = text.find(form, at + len(form))
    return spans


def _spans_behind(
    text: str, pattern: re.Pattern[str], shown: Callable[[re.Match[str]], str], forms: Iterable[tuple[str, str]]
) -> list[tuple[int, int, str]]:
    """Yield the places of forms in a text if the matching part is read as something else."""
    spans = _spans(pattern.sub(shown, text), forms)
    if not spans:
        return []
    places: list[tuple[int, int]] = []  # of each character that is read
    end = 0
    for match in pattern.finditer(text):
        places += ((at, at + 1) for at in range(end, match.start()))
        places += [match.span()] * len(shown(match))
        end = match.end()
    places += ((at, at + 1) for at in range(end, len(text)))
    return [(places[start][0], places[stop - 1][1], mark) for start, stop, mark in spans]


def _escapes(letters: Collection[str]) -> tuple[re.Pattern[str], Callable[[re.Match[str]], str]]:
    """Return a pattern for these letters as URLs, JSON, HTML and shells escape them, and the way back to a letter."""
    codes = {unit for letter in letters for unit in letter.encode(errors="surrogateescape")}
    table = {spelt: chr(code) for code in codes for spelt in (f"%{code:02x}", f"\\x{code:02x}")}
    for letter in letters:
        units = letter.encode("utf-16-be", "surrogatepass").hex()
        table["".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))] = letter
        table |= {f"&#x{ord(letter):x};": letter, f"&#{ord(letter)};": letter}
        short = json.dumps(letter)[1:-1] if letter.isspace() else f"\\{letter}"
        table |= {} if letter.isalnum() else {short.lower(): letter}  # there are signs in two cases: Ⓐ and ⓐ
    tree: dict[str, Any] = {}
    for spelt in table:
        place = tree
        for character in spelt:
            place = place.setdefault(character, {})
    pattern = re.compile(_pattern(tree) if table else r"(?!)", re.IGNORECASE)
    return pattern, lambda match: table[match.group().lower()]


def _pattern(tree: Mapping[str, Any]) -> str:
    """A regular expression for the words of a tree that begins with their first letters; no word begins another."""
    last = "".join(map(re.escape, (letter for letter, rest in tree.items() if not rest)))
    others = [re.escape(letter) + _pattern(rest) for letter, rest in tree.items() if rest]
    return f"(?:{'|'.join([*([f'[{last}]'] if last else []), *others])})"


def _as_latin(text: str) -> str:
    """The bytes of a text, each as one character."""
    return text.encode(errors="surrogateescape").decode("latin-1")


def _forms(value: str) -> Iterator[str]:
    """Return the spellings that a value may have in output; escapes are read before."""
    code = value.encode(errors="surrogateescape")
    yield value
    yield value[::-1]
    yield from (code.decode("latin-1"), code.hex(), code.hex().upper(), quote_plus(code))
    for encode, bits, offsets in ((base64.b64encode, 6, 3), (base64.urlsafe_b64encode, 6, 3), (base64.b32encode, 5, 5)):
        for offset in range(offsets):  # where it begins inside of what was encoded; all but its edges looks the same
            text = encode(bytes(offset) + code).decode().rstrip("=")
            whole = text[-(-offset * 8 // bits) : (offset + len(code)) * 8 // bits]
            yield whole
            if bits == 5:
                yield whole.lower()
