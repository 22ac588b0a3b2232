"""The user's key, with which the runs in a store are signed: made once, kept beside his own configuration."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

from ..environment import host_environment
from ..errors import Problem, Severity, UsageError
from ..run.stored_run import StoreKey
from .config_files import user_path
from .configuration import STORE_KEY

LEAST = 32
"""Characters of the variable: as many as a random number of 128 bits has in hexadecimal."""
_FILE = "store.key"
_BYTES = 32


class UserKey:
    """The key of this user; looked for, or made, when it is first needed.

    Args:
        warn: takes why runs of this command cannot be recognised by later ones.
    """

    def __init__(self, warn: Callable[[Problem], None]) -> None:
        self._warn = warn
        self._key: StoreKey | None = None

    def find(self) -> StoreKey | None:
        """The key, if there is one.

        Raises:
            UsageError: the variable holds too short a key.
        """
        self._key = self._key or _of_variable(host_environment()) or _of_file(key_file(), self._warn)
        return self._key

    def make(self) -> StoreKey:
        """The key; a new one if there is none, which is for this command alone where it cannot be kept.

        Raises:
            UsageError: as `find`.
        """
        self._key = self.find() or _new_key(key_file(), self._warn)
        return self._key


def key_file() -> Path | None:
    """Return the file that holds the key; `None` without a home."""
    path = user_path(host_environment())
    return path.with_name(_FILE) if path else None


def _of_variable(environ: Mapping[str, str]) -> StoreKey | None:
    text = environ.get(STORE_KEY, "")
    if not text:
        return None
    if len(text) < LEAST:
        message = f"{STORE_KEY} has {len(text)} characters; it needs {LEAST} or more, which nobody can guess"
        raise UsageError(Problem("store.key", message, hint="Make one with: openssl rand -hex 32"))
    return StoreKey(sha256(text.encode()).digest())


def _of_file(path: Path | None, warn: Callable[[Problem], None]) -> StoreKey | None:
    if path is None or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            secret = file.read(_BYTES + 1)
    except OSError as error:
        warn(_unusable(path, str(error)))
        return None
    if why := _why_unsafe(about):
        warn(_unusable(path, why))
        return None
    if len(secret) != _BYTES:
        warn(_unusable(path, f"it holds no key of {_BYTES} bytes"))
        return None
    return StoreKey(secret)


def _why_unsafe(about: os.stat_result) -> str:
    """Return the reason why others may know, or have chosen, the contents of a file."""
    if os.name == "nt":  # there, modes say nothing of who may read
        return ""
    if about.st_uid != os.geteuid():
        return "it belongs to another user"
    if about.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return "other users may read or change it"
    return ""


def _unusable(path: Path, why: str) -> Problem:
    message = f"the key that your runs are signed with cannot be used: {why} ({path})"
    hint = "Remove the file, and a new key is made; runs that were signed with the old one are not resumed."
    return Problem("store.key", message, hint=hint, severity=Severity.WARNING)


def _new_key(path: Path | None, warn: Callable[[Problem], None]) -> StoreKey:
    secret = secrets.token_bytes(_BYTES)
    if path is None:
        warn(_unkept("there is no home folder"))
        return StoreKey(secret)
    if os.path.lexists(path):  # what is there was found to be unusable, and the user knows
        return StoreKey(secret)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(prefix=f".{_FILE}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secret)
            _publish(Path(partial), path)
        finally:
            Path(partial).unlink(missing_ok=True)
    except OSError as error:
        warn(_unkept(str(error)))
        return StoreKey(secret)
    return _of_file(path, warn) or StoreKey(secret)


def _publish(partial: Path, path: Path) -> None:
    """Give a whole file its name, unless another command has been faster: its key is as good."""
    try:
        os.link(partial, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not path.exists():
            partial.replace(path)


def _unkept(why: str) -> Problem:
    message = f"the key that runs are signed with cannot be kept ({why}), so no later command can resume this run"
    hint = f"Make the folder of your configuration writable, set XDG_CONFIG_HOME, or set {STORE_KEY}."
    return Problem("store.key", message, hint=hint, severity=Severity.WARNING)
