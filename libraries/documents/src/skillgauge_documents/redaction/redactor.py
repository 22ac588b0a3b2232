"""Keep the values of secrets out of everything that is stored or shown.

Only values that were registered are found; this does not guess what looks like a secret.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TypeVar

from ..texts import texts_and_content, with_texts
from ..values import texts_in
from .spellings import Spellings

MIN_LENGTH = 6
"""Shorter values are refused: they occur by chance, and replacing them would garble results."""
MIN_LENGTH_IN_FILE = 16
"""Of a text in a credential file: shorter ones there are names and kinds rather than secrets."""

T = TypeVar("T")


class Redactor:
    """Replaces secrets by `[redacted:NAME]`; costs nothing while none is registered."""

    def __init__(self) -> None:
        self._spellings = Spellings()
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
        self._spellings = Spellings({value: f"[redacted:{name}]" for name, value in self.values.items()})

    def register_document(self, name: str, content: bytes) -> None:
        """Hide every text of a credential file that is long enough to be a secret; of one that is no JSON, nothing."""
        with suppress(ValueError, RecursionError):
            texts = [text for text in texts_in(json.loads(content)) if len(text) >= MIN_LENGTH_IN_FILE]
            for number, secret in enumerate(texts):
                self.register(f"{name}-{number}", secret)

    def redact(self, value: T) -> T:
        """The value without secrets; the same object if it contains none.

        It may be a string, bytes, or anything made of mappings (keys too), lists, tuples, pydantic models and
        dataclasses.
        """
        spellings = self._spellings
        if not self.values:
            return value
        if type(value) is not str and not spellings.may_be_in(*texts_and_content(value)):
            return value
        return with_texts(value, spellings.replaced, spellings.replaced_in_bytes)

    def masked(self, content: bytes) -> bytes:
        """Content with asterisks over its secrets: nothing in it moves, so that a file which is no text stays whole."""
        return self._spellings.replaced_in_bytes(content, masked=True)
