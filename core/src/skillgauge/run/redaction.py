"""Keep the values of secrets out of everything that is stored or shown.

Only values that were registered are found; this does not guess what looks like a secret.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from ..types.frozen import FrozenDict

MIN_LENGTH = 6
"""Shorter values are refused: they occur by chance, and replacing them would garble results."""
MIN_LENGTH_IN_FILE = 16
"""Of a text in a credential file: shorter ones there are names and kinds rather than secrets."""

T = TypeVar("T")


class Redactor:
    """Replaces secrets by `[redacted:NAME]`; costs nothing while none is registered."""

    def __init__(self) -> None:
        self._texts: tuple[tuple[str, str], ...] = ()
        self._bytes: tuple[tuple[bytes, bytes], ...] = ()
        self.values: dict[str, str] = {}
        """What was registered, by name."""

    def register(self, name: str, value: str) -> None:
        """Hide a value from now on, as it is and percent-encoded, in base64 and escaped as in JSON.

        Raises:
            ValueError: the value is too short to be told from other text.
        """
        if len(value) < MIN_LENGTH:
            raise ValueError(
                f"the value of {name} has fewer than {MIN_LENGTH} characters and cannot be kept out of results"
            )
        while self.values.setdefault(name, value) != value:
            name += "+"  # two login files may be called alike
        found = dict(self._texts) | dict.fromkeys(_forms(value), f"[redacted:{name}]")
        # The longest first: one form can be part of another.
        self._texts = tuple(sorted(found.items(), key=lambda item: -len(item[0])))
        self._bytes = tuple((form.encode(errors="surrogateescape"), mark.encode()) for form, mark in self._texts)

    def register_document(self, name: str, content: bytes) -> None:
        """Hide every text of a credential file that is long enough to be a secret; of one that is no JSON, nothing."""
        for number, secret in enumerate(_texts(content)):
            self.register(f"{name}-{number}", secret)

    def redact(self, value: T) -> T:
        """The value without secrets; the same object if it contains none.

        It may be a string, bytes, or anything made of mappings (keys too), lists, tuples, pydantic models and
        dataclasses.
        """
        return cast("T", self._clean(value)) if self._texts else value

    def masked(self, content: bytes) -> bytes:
        """Content with asterisks over its secrets: nothing in it moves, so that a file which is no text stays whole."""
        for code, _ in self._bytes:
            if code in content:
                content = content.replace(code, b"*" * len(code))
        return content

    def _clean(self, value: Any) -> Any:
        kind = type(value)
        if kind in (str, bytes, bytearray):
            for secret, mark in self._texts if kind is str else self._bytes:
                if secret in value:
                    value = value.replace(secret, mark)
        elif isinstance(value, Mapping):
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


def _forms(value: str) -> Iterator[str]:
    """How a value may be spelt in output."""
    yield value
    for encode in (quote, quote_plus):
        for safe in ("", "/"):
            encoded = encode(value, safe=safe, errors="surrogateescape")
            yield encoded
            yield re.sub("%..", lambda match: match.group().lower(), encoded)
    for ascii_only in (True, False):
        yield json.dumps(value, ensure_ascii=ascii_only)[1:-1]
    code = value.encode(errors="surrogateescape")
    for encode_bytes in (base64.b64encode, base64.urlsafe_b64encode):
        for offset in range(3):  # where it begins inside of what was encoded; all but its edges looks the same
            text = encode_bytes(bytes(offset) + code).decode().rstrip("=")
            first = -(-offset * 8 // 6)
            last = (offset + len(code)) * 8 // 6
            yield text[first:last]
