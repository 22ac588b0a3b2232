"""Keys of model services: found among the secrets, checked, and kept out of what comes back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from skillgauge.api import Problem, secret

_LENGTH = 6
"""A shorter one occurs by chance and cannot be kept out of results; the kernel draws the same line."""


@dataclass(frozen=True)
class Key:
    """A key with the name of the variable that holds it."""

    variable: str
    value: str = field(repr=False)

    def problems(self) -> tuple[Problem, ...]:
        """Report everything that keeps the key from being used."""
        if len(self.value) < _LENGTH:
            why = f"has fewer than {_LENGTH} characters and could not be kept out of results"
        elif not self.value.isascii() or not self.value.isprintable() or " " in self.value:
            why = "cannot be in a header"
        else:
            return ()
        hint = f"Set {self.variable} to the key and nothing else."
        return (Problem("judge.key", f"the value of environment variable {self.variable} {why}", hint=hint),)

    def out_of(self, text: str) -> str:
        """The text with the variable's name where the key was."""
        for form in dict.fromkeys((self.value, quote(self.value, safe=""), json.dumps(self.value)[1:-1])):
            text = text.replace(form, f"[redacted:{self.variable}]")
        return text


def find_key(variables: Sequence[str]) -> Key | None:
    """The key in the first of these secrets that is known."""
    pairs = ((name, (secret(name) or "").strip()) for name in variables)
    return next((Key(name, value) for name, value in pairs if value), None)
