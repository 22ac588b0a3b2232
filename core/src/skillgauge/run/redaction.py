"""Keep the values of secrets out of everything that is stored or shown.

Only values that were registered are found; this does not guess what looks like a secret.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import quote_plus

from pydantic import BaseModel

from ..types.frozen import FrozenDict

MIN_LENGTH = 6
"""Shorter values are refused: they occur by chance, and replacing them would garble results."""
MIN_LENGTH_IN_FILE = 16
"""Of a text in a credential file: shorter ones there are names and kinds rather than secrets."""

T = TypeVar("T")


_BREAK = re.compile(r"(?:\s|\\[nrt])+")
"""Where a text may be broken into lines, escaped as in JSON or not."""
_SURE = 16
"""Characters that are no secret by chance even if line breaks are taken out."""
_PIECE = 8
"""Characters at an edge of a text that are taken for the rest of a secret, because the text was cut there."""
_CUT = 64
"""Characters of a text that may have been cut."""


class _Spellings:
    """Finds the spellings of secrets in texts.

    Args:
        found: what to put in place of each.
        letters: of which the secrets are made.
    """

    def __init__(self, found: Mapping[str, str], letters: Iterable[str] = ()) -> None:
        # The longest first: one form can be part of another.
        self.all = tuple(sorted(found.items(), key=lambda item: -len(item[0])))
        squeezed = [(_BREAK.sub("", form), mark) for form, mark in self.all]
        self._sure = [item for item in squeezed if len(item[0]) >= _SURE]
        self._escape, self._unescaped = _escapes(set(letters))
        self._shortest = min((len(form) for form, _ in self.all), default=0)

    def replaced(self, text: str, *, masked: bool = False) -> str:
        """The text without secrets, the same object if there is none; `masked` puts as many asterisks over them."""
        if len(text) < self._shortest:
            return text
        spans = [*_spans(text, self.all), *self._cut(text)]
        unbroken = re.sub(r"\\[nrt]", "", text) if "\\" in text else text
        if len(text) >= _SURE and _spans(unbroken := "".join(unbroken.split()), self._sure) and unbroken != text:
            spans += _spans_behind(text, _BREAK, lambda _match: "", self._sure)
        if self._escape.search(text):
            spans += _spans_behind(text, self._escape, self._unescaped, self.all)
        end, pieces = 0, list[str]()
        for start, stop, mark in sorted(spans, key=lambda span: (span[0], -span[1])):
            if stop > end:
                begin = max(start, end)
                pieces += (text[end:begin], "*" * (stop - begin) if masked else mark if start >= end else "")
                end = stop
        return "".join((*pieces, text[end:])) if spans else text

    def _cut(self, text: str) -> Iterator[tuple[int, int, str]]:
        """What is left of a secret at the edges."""
        for form, mark in self.all if len(text) >= _CUT else ():
            at = text.find(form[:_PIECE], max(0, len(text) - len(form) + 1))
            if at >= 0 and form.startswith(text[at:]):
                yield at, len(text), mark
            at = text.rfind(form[-_PIECE:], 0, len(form) - 1) + _PIECE
            if at >= _PIECE and form.endswith(text[:at]):
                yield 0, at, mark


def _spans(text: str, forms: Iterable[tuple[str, str]]) -> list[tuple[int, int, str]]:
    """Where forms stand in a text, and what to put there."""
    found = []
    for form, mark in forms:
        at = text.find(form)
        while at >= 0:
            found.append((at, at + len(form), mark))
            at = text.find(form, at + len(form))
    return found


def _spans_behind(
    text: str, pattern: re.Pattern[str], shown: Callable[[re.Match[str]], str], forms: Iterable[tuple[str, str]]
) -> list[tuple[int, int, str]]:
    """Where forms stand in a text if what matches is read as something else."""
    found = _spans(pattern.sub(shown, text), forms)
    if not found:
        return []
    places: list[tuple[int, int]] = []  # of each character that is read
    end = 0
    for match in pattern.finditer(text):
        places += ((at, at + 1) for at in range(end, match.start()))
        places += [match.span()] * len(shown(match))
        end = match.end()
    places += ((at, at + 1) for at in range(end, len(text)))
    return [(places[start][0], places[stop - 1][1], mark) for start, stop, mark in found]


def _escapes(letters: Collection[str]) -> tuple[re.Pattern[str], Callable[[re.Match[str]], str]]:
    """What matches these letters as URLs, JSON, HTML and shells escape them, and what gives the letter for a match."""
    codes = {unit for one in letters for unit in one.encode(errors="surrogateescape")}
    table = {spelt: chr(code) for code in codes for spelt in (f"%{code:02x}", f"\\x{code:02x}")}
    for one in letters:
        units = one.encode("utf-16-be", "surrogatepass").hex()
        table["".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))] = one
        table |= {f"&#x{ord(one):x};": one, f"&#{ord(one)};": one}
        short = json.dumps(one)[1:-1] if one.isspace() else f"\\{one}"
        table |= {} if one.isalnum() else {short: one}
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


class Redactor:
    """Replaces secrets by `[redacted:NAME]`; costs nothing while none is registered."""

    def __init__(self) -> None:
        self._texts = self._bytes = _Spellings({})
        self.values: dict[str, str] = {}
        """What was registered, by name."""

    def register(self, name: str, value: str) -> None:
        """Hide a value from now on: as it is, backwards, escaped, in base64, base32 and hex, broken into lines or cut.

        Raises:
            ValueError: the value is too short to be told from other text.
        """
        if len(value) < MIN_LENGTH:
            raise ValueError(
                f"the value of {name} has fewer than {MIN_LENGTH} characters and cannot be kept out of results"
            )
        if value in self.values.values():
            return  # under another name
        while self.values.setdefault(name, value) != value:
            name += "+"  # two login files may be called alike
        found = dict.fromkeys(_forms(value), f"[redacted:{name}]") | dict(self._texts.all)
        letters = "".join(self.values.values())
        self._texts = _Spellings(found, letters)
        marks = {form: _as_latin(mark) for form, mark in found.items()}
        self._bytes = _Spellings(marks | {_as_latin(form): mark for form, mark in marks.items()}, letters)

    def register_document(self, name: str, content: bytes) -> None:
        """Hide every text of a credential file that is long enough to be a secret; of one that is no JSON, nothing."""
        for number, secret in enumerate(_texts(content)):
            self.register(f"{name}-{number}", secret)

    def redact(self, value: T) -> T:
        """The value without secrets; the same object if it contains none.

        It may be a string, bytes, or anything made of mappings (keys too), lists, tuples, pydantic models and
        dataclasses.
        """
        return cast("T", self._clean(value)) if self.values else value

    def masked(self, content: bytes) -> bytes:
        """Content with asterisks over its secrets: nothing in it moves, so that a file which is no text stays whole."""
        return self._replaced(content, masked=True)

    def _replaced(self, content: bytes, *, masked: bool = False) -> bytes:
        text = content.decode("latin-1")
        clean = self._bytes.replaced(text, masked=masked)
        return content if clean is text else clean.encode("latin-1")

    def _clean(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._texts.replaced(value)
        if kind in (bytes, bytearray):
            clean = self._replaced(value)
            return value if clean is value else kind(clean)
        if isinstance(value, Mapping):
            pairs = [(self._clean(key), self._clean(item)) for key, item in value.items()]
            if any(key is not old or item is not value[old] for (key, item), old in zip(pairs, value, strict=True)):
                return FrozenDict(pairs) if isinstance(value, FrozenDict) else dict(pairs)
        elif kind in (tuple, list):
            items = [self._clean(item) for item in value]
            if any(new is not old for new, old in zip(items, value, strict=True)):
                return kind(items)
        elif isinstance(value, BaseModel):
            changed = self._changed(value, type(value).model_fields)
            return value.model_copy(update=changed) if changed else value
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            changed = self._changed(value, [field.name for field in dataclasses.fields(value)])
            return dataclasses.replace(value, **changed) if changed else value
        return value

    def _changed(self, value: object, names: Iterable[str]) -> dict[str, Any]:
        pairs = ((name, getattr(value, name)) for name in names)
        return {name: new for name, old in pairs if (new := self._clean(old)) is not old}


def _texts(content: bytes) -> Iterator[str]:
    """The long texts of a JSON document."""
    try:
        found = [json.loads(content)]
    except (ValueError, RecursionError):
        return
    for value in found:  # grows meanwhile
        if isinstance(value, dict):
            found.extend(value.values())
        elif isinstance(value, list):
            found.extend(value)
        elif isinstance(value, str) and len(value) >= MIN_LENGTH_IN_FILE:
            yield value


def _as_latin(text: str) -> str:
    """The bytes of a text, each as one character."""
    return text.encode(errors="surrogateescape").decode("latin-1")


def _forms(value: str) -> Iterator[str]:
    """How a value may be spelt in output; what is escaped is read before."""
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
