"""The ways in which a program authenticates: a key of the environment, or the credential file of an existing login."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import Problem, Redactor, host_environment, secret

PLACEHOLDER = "placeholder-the-true-key-stays-outside-of-this-workspace"
"""For a program that insists on a key where a relay adds the true one, or where none is needed. Long and unlikely,
because some programs blank their key out wherever it occurs in their output."""
SHORTEST = 6
"""Characters of a key; a shorter one occurs by chance and cannot be kept out of results."""
KEY_DESCRIPTOR = 3
"""Where a program finds a key that is handed to it by `handed_over`."""
_HAND_OVER = (
    f'unset key; IFS= read -r key; exec 9<&0; printf %s "$key" | {{ exec {KEY_DESCRIPTOR}<&0 0<&9 9<&-; exec "$@"; }}'
)
_SECRET_LINE = re.compile(
    rb"^[ \t]*([\w.-]*(?:key|secret|token|password)[\w.-]*)[ \t]*=[ \t]*(\S+)[ \t\r]*$", re.I | re.M
)
"""A line of a file of settings that holds a secret, as in `~/.aws/credentials`."""
_LOGIN_BYTES = 1024 * 1024
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NO_LINK


@dataclass(frozen=True)
class Key:
    """A key, with the name of the variable that holds it."""

    variable: str
    value: str = field(repr=False)

    def problems(self) -> tuple[Problem, ...]:
        """Report everything that keeps the key from being used."""
        if len(self.value) < SHORTEST:
            why = f"has fewer than {SHORTEST} characters and could not be kept out of results"
        elif not self.value.isascii() or not self.value.isprintable() or " " in self.value:
            why = "cannot be in a header"
        else:
            return ()
        hint = f"Set {self.variable} to the key and nothing else."
        return (Problem("engine.key", f"the value of environment variable {self.variable} {why}", hint=hint),)


def handed_over(key: Key, argv: Sequence[str], stdin: bytes) -> tuple[tuple[str, ...], bytes]:
    """Make the launch of a program that reads its key from a file descriptor: in no environment, argument or file.

    Args:
        key: for the program alone.
        argv: the program with its arguments.
        stdin: what it reads.

    Returns:
        What to start in place of it, and what to write to that.
    """
    return ("sh", "-c", _HAND_OVER, "sh", *argv), key.value.encode() + b"\n" + stdin


@dataclass(frozen=True)
class Login:
    """The credential file of an existing login."""

    file: str
    """Relative to the user's home, and to the private one of a session."""
    source: Path

    def copy_into(self, home: Path) -> bytes:
        """Copy this one file, readable by nobody else, and return what is in it.

        Raises:
            OSError: it cannot be read or written.
        """
        content = self.source.read_bytes()[:_LOGIN_BYTES]
        target = home / self.file
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
        with os.fdopen(descriptor, "wb") as copy:
            copy.write(content)
        return content

    def take_back(self, home: Path) -> bytes:
        """Remove the copy and return what is in it by now: a program may have renewed a token.

        No link is followed, since one that the agent made could lead to the user's own file.
        """
        *folders, name = Path(self.file).parts
        with suppress(OSError), ExitStack() as opened:
            folder = os.open(home, _FOLDER)
            opened.callback(os.close, folder)
            for part in folders:
                folder = os.open(part, _FOLDER, dir_fd=folder)
                opened.callback(os.close, folder)
            opened.callback(os.unlink, name, dir_fd=folder)
            with open(name, "rb", opener=lambda path, _flags: os.open(path, _READ, dir_fd=folder)) as copy:
                return copy.read(_LOGIN_BYTES) if stat.S_ISREG(os.fstat(copy.fileno()).st_mode) else b""
        return b""


def find_key(variables: Sequence[str]) -> Key | None:
    """The key in the first of these secrets that is known."""
    pairs = ((name, (secret(name) or "").strip()) for name in variables)
    return next((Key(name, value) for name, value in pairs if value), None)


def find_login(files: Sequence[str]) -> Login | None:
    """The first of these files that lies in the user's home. It is not opened."""
    home = host_environment().get("HOME", "")
    if not home:
        return None
    return next((Login(file, path) for file in files if (path := Path(home, file)).is_file()), None)


def hide_credentials(clean: Redactor, name: str, content: bytes) -> None:
    """Keep what a credential file holds out of results, be it JSON or lines of names and values.

    Args:
        clean: takes secrets out of results.
        name: of the file, which stands in place of its secrets.
        content: of the file.
    """
    clean.register_document(name, content)
    for variable, value in _SECRET_LINE.findall(content):
        if len(value) >= SHORTEST:
            clean.register(f"{name}-{variable.decode()}", value.decode("utf-8", "replace"))


@contextmanager
def lent(logins: Sequence[Login], home: Path, clean: Redactor) -> Iterator[None]:
    """Copies of logins in the private home, for as long as the program runs: nothing after it has any use for them.

    Args:
        logins: to be copied.
        home: the private one.
        clean: takes what is in them out of results.

    Raises:
        OSError: one cannot be copied.
    """
    copies: list[tuple[Login, bytes]] = []
    try:
        for login in logins:
            copies.append((login, login.copy_into(home)))
            hide_credentials(clean, login.source.name, copies[-1][1])
        yield
    finally:
        for login, content in copies:
            returned = login.take_back(home)
            if returned != content:  # the program has renewed it
                hide_credentials(clean, f"new-{login.source.name}", returned)
