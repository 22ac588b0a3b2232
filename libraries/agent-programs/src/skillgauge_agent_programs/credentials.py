"""How a program authenticates: a key of the environment, or the credential file of an existing login."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import Problem, host_environment

PLACEHOLDER = "placeholder-the-true-key-stays-outside-of-this-workspace"
"""For a program that insists on a key where a relay adds the true one, or where none is needed. Long and unlikely,
because some programs blank their key out wherever it occurs in their output."""
SHORTEST = 6
"""Characters of a key; a shorter one occurs by chance and cannot be kept out of results."""
_SHORTEST_OF_LOGIN = 16
_LOGIN_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Key:
    """A key, with the name of the variable that holds it."""

    variable: str
    value: str = field(repr=False)

    def problems(self) -> tuple[Problem, ...]:
        """What keeps it from being used."""
        if len(self.value) < SHORTEST:
            why = f"has fewer than {SHORTEST} characters and could not be kept out of results"
        elif not self.value.isascii() or not self.value.isprintable() or " " in self.value:
            why = "cannot be in a header"
        else:
            return ()
        hint = f"Set {self.variable} to the key and nothing else."
        return (Problem("engine.key", f"the value of environment variable {self.variable} {why}", hint=hint),)


@dataclass(frozen=True)
class Login:
    """The credential file of an existing login."""

    file: str
    """Relative to the user's home, and to the private one of a session."""
    source: Path

    def copy_into(self, home: Path) -> tuple[str, ...]:
        """Copy this one file, readable by nobody else, and return the secrets in it.

        Raises:
            OSError: it cannot be read or written.
        """
        content = self.source.read_bytes()[:_LOGIN_BYTES]
        target = home / self.file
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "wb") as copy:
            copy.write(content)
        return tuple(_secrets(content))


def find_key(variables: Sequence[str]) -> Key | None:
    """The key in the first of these variables that is set."""
    environment = host_environment()
    found = ((name, environment.get(name, "").strip()) for name in variables)
    return next((Key(name, value) for name, value in found if value), None)


def find_login(files: Sequence[str]) -> Login | None:
    """The first of these files that lies in the user's home. It is not opened."""
    home = host_environment().get("HOME", "")
    if not home:
        return None
    return next((Login(file, path) for file in files if (path := Path(home, file)).is_file()), None)


def _secrets(content: bytes) -> Iterator[str]:
    """Texts of a credential file that are long enough to be secrets."""
    try:
        found = [json.loads(content)]
    except (ValueError, RecursionError):
        return
    for value in found:  # grows meanwhile
        if isinstance(value, dict):
            found.extend(value.values())
        elif isinstance(value, list):
            found.extend(value)
        elif isinstance(value, str) and len(value) >= _SHORTEST_OF_LOGIN:
            yield value
