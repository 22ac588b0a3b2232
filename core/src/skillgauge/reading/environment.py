"""The only place that reads the process environment, and where secrets are asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar

Ask = Callable[[str], str | None]

_ask: ContextVar[Ask | None] = ContextVar("ask", default=None)


def host_environment() -> Mapping[str, str]:
    """The process environment, for those who build another one from it by an allow list, or look for settings."""
    return os.environ


def secret(name: str) -> str | None:
    """The value of a key, token or password: what an extension of this run gives, else the environment variable.

    Ask for it wherever you would read the variable, when it is checked and when it is used: an extension is asked once
    for each name, and what it gives is kept out of results.

    Args:
        name: of the environment variable that holds it where no extension does.

    Returns:
        The value; `None` if it is not known, or empty.

    Raises:
        PluginError: an extension failed.
    """
    ask = _ask.get()
    given = ask(name) if ask else None
    return (os.environ.get(name) if given is None else given) or None


_NAMES_A_SECRET = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)$", re.I)
_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
LEAST = 12
"""Characters of a value that is taken for a secret because of the name of its variable."""


def credentials() -> Iterator[tuple[str, str]]:
    """Variables that hold a secret by their names, whoever uses them, and passwords in addresses: name and value."""
    for name, value in os.environ.items():
        if _NAMES_A_SECRET.search(name) and len(value) >= LEAST and not os.path.exists(value):  # noqa: PTH110 - pathlib is slow to import
            yield name, value
        yield from ((name, password) for password in _PASSWORD.findall(value))


def ask_first(ask: Ask) -> None:
    """Whom `secret` asks before the environment, in this context from now on."""
    _ask.set(ask)
