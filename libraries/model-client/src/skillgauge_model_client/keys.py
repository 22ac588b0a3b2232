"""Keys of model services: found among the secrets, checked, and kept out of what comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from urllib.parse import quote

from skillgauge.api import JsonValue, Problem, secret
from skillgauge_documents.immutables import immutable

_LENGTH = 6
"""A shorter one occurs by chance and cannot be kept out of results; the kernel draws the same line."""


@immutable
class Key:
    """A key with the name of the variable that holds it."""

    variable: str
    value: str = field(repr=False)

    may_hold_spaces: bool = False
    """Whether it is a whole header, such as `Bearer TOKEN`."""

    def problems(self) -> tuple[Problem, ...]:
        """Report everything that keeps the key from being used."""
        has_space = " " in self.value and not self.may_hold_spaces
        if len(self.value) < _LENGTH:
            why = f"has fewer than {_LENGTH} characters and could not be kept out of results"
        elif not self.value.isascii() or not self.value.isprintable() or has_space:
            why = "cannot be in a header"
        else:
            return ()
        what = "value of the header" if self.may_hold_spaces else "key"
        hint = f"Set {self.variable} to the {what} and nothing else."
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


@immutable
class Headers:
    """Further headers of each request, with values from the environment."""

    found: Mapping[str, Key]
    """By their names in lower case."""
    missing: Mapping[str, str]
    """Header -> variable that is not set."""

    @property
    def values(self) -> tuple[Key, ...]:
        """Everything that must not be in what comes back: each value, and the token in one such as `Bearer TOKEN`."""
        schemes = (key for key in self.found.values() if key.value.count(" ") == 1)
        tokens = (Key(key.variable, key.value.partition(" ")[2]) for key in schemes)
        return (*self.found.values(), *(token for token in tokens if len(token.value) >= _LENGTH))

    def beside(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Return the headers of a request with these; one of the same name takes the other's place."""
        others = {name: value for name, value in headers.items() if name.lower() not in self.found}
        return others | {name: key.value for name, key in self.found.items()}

    def problems(self, owner: str) -> tuple[Problem, ...]:
        """Report variables that are not set, and values that cannot be used.

        Args:
            owner: as messages name the plugin.
        """
        problems = [problem for key in self.found.values() for problem in key.problems()]
        if self.missing:
            names = ", ".join(f"{variable} (header {name})" for name, variable in self.missing.items())
            message = f"{owner} has no value for headers: {names} is not set"
            problems.append(Problem("judge.no-header", message, hint="Set it, or take the header out of the options."))
        return tuple(problems)


def find_headers(headers: Mapping[str, JsonValue]) -> Headers:
    """Look up the values of headers.

    Args:
        headers: name -> environment variable.
    """
    values = {
        name.lower(): (str(variable), (secret(str(variable)) or "").strip()) for name, variable in headers.items()
    }
    found = {name: Key(variable, value, may_hold_spaces=True) for name, (variable, value) in values.items() if value}
    return Headers(found, {name: variable for name, (variable, value) in values.items() if not value})
