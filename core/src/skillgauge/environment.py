"""The only place that reads the process environment, and where secrets are asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Protocol


class Extensions(Protocol):
    """The extensions of a run, as far as secrets are concerned."""

    def resolve_secret(self, name: str) -> str | None:
        """The value of a secret, if an extension has it."""

    def keep_secret(self, name: str, value: str) -> None:
        """Keep a value out of everything that is written."""


_extensions: ContextVar[Callable[[], Extensions] | None] = ContextVar("extensions", default=None)


def host_environment() -> Mapping[str, str]:
    """The process environment, for those who build another one from it by an allow list, or look for settings."""
    return os.environ


def host_variable(name: str) -> str | None:
    """The value of an environment variable that holds no secret; `None` if it is not set."""
    return os.environ.get(name)


def files_at_home(names: Iterable[str]) -> tuple[str, ...]:
    """Those of some files below the user's home folder that are there; none is read."""
    from pathlib import Path  # noqa: PLC0415 - slow to import, and most commands look for no login

    home = os.environ.get("HOME")
    return tuple(name for name in names if home and Path(home, name).is_file())


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
    extensions = _extensions.get()
    resolved = extensions().resolve_secret(name) if extensions else None
    return (os.environ.get(name) if resolved is None else resolved) or None


def keep_secret(name: str, value: str) -> None:
    """Keep what a plugin was lent while it worked, such as a token, out of everything that is written from now on.

    Call it before the value is used, where `secret` could be called.

    Args:
        name: what stands in place of the value.
        value: as it is sent; one of fewer than 6 characters cannot be told from other text and is not hidden.
    """
    if extensions := _extensions.get():
        extensions().keep_secret(name, value)


_SECRET = r"(?i)(^|_)(API_?KEY|TOKEN|SECRET|PASSW(OR)?D|CREDENTIALS?|(?P<perhaps>KEY|PASSPHRASE|PAT))$"
"""Names of variables that hold secrets, whoever they are for; compiled when first used, as each start has this."""
_PASSWORD = r"://[^/\s:@]*:([^/\s@]+)@"
LEAST = 12
"""Characters of a value that is taken for a secret because of a name that other things have, too."""


def credentials() -> Iterator[tuple[str, str]]:
    """Variables that hold a secret by their names, whoever uses them, and passwords in addresses: name and value."""
    for name, value in os.environ.items():
        match = re.search(_SECRET, name)
        if match and not (match["perhaps"] and (len(value) < LEAST or os.path.exists(value))):  # noqa: PTH110 - pathlib is slow to import
            yield name, value
        yield from ((name, password) for password in re.findall(_PASSWORD, value))


_OPTION = r"(?i)(^|_)(API_?KEY|(ACCESS|PRIVATE|SECRET)_?KEY|TOKEN|SECRET|PASSW(OR)?D|CREDENTIALS?|AUTHORIZATION)$"
_TYPED = r"((Basic|Bearer|Token) )?[\w.~+/=:!-]+"
_VARIABLE = r"[A-Z][A-Z0-9_]*"


def is_credential(name: str, value: str) -> bool:
    """Tell by its name and its look whether the value of an option is a secret: no variable, file or placeholder.

    Args:
        name: of the option, or of a header.
        value: as it was typed.
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", name)
    if not re.search(_OPTION, words) or len(value) < LEAST or not re.fullmatch(_TYPED, value):
        return False
    return not (re.fullmatch(_VARIABLE, value) or value in os.environ or is_path_here(value))


def is_path_here(text: str) -> bool:
    """Tell whether a text is the absolute path of something on this machine."""
    return text.startswith("/") and os.path.exists(text)  # noqa: PTH110 - never raises


def ask_first(extensions: Callable[[], Extensions]) -> None:
    """Set the function that `secret` asks before the environment and `keep_secret` informs, in this context.

    Args:
        extensions: gives those of the run; called when the first secret is asked for, since it loads them.
    """
    _extensions.set(extensions)
