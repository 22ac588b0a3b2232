"""A token, and how it is kept out of what a service answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillgauge.api import JsonValue

MIN_LENGTH = 6
"""A shorter one occurs by chance, and replacing it would garble answers; the kernel draws the same line."""


@dataclass(frozen=True)
class Token:
    """A secret with the name of the variable that holds it."""

    variable: str
    value: str = field(repr=False)

    def out_of(self, value: JsonValue) -> JsonValue:
        """The value with the variable's name where the token was."""
        if len(self.value) < MIN_LENGTH:
            return value
        if isinstance(value, str):
            return self.out_of_text(value)
        if isinstance(value, tuple):
            return tuple(self.out_of(item) for item in value)
        if isinstance(value, Mapping):
            return {self.out_of_text(key): self.out_of(item) for key, item in value.items()}
        return value

    def out_of_text(self, text: str) -> str:
        """The text with the variable's name where the token was."""
        return text if len(self.value) < MIN_LENGTH else text.replace(self.value, f"[redacted:{self.variable}]")
