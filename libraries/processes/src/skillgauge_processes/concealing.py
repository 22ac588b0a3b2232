"""Take secrets out of a folder that is left behind for inspection."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import JsonValue, Redactor


def conceal(folder: Path, secrets: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Replace secrets in all files below a folder, in their names too, by `[redacted:NAME]`.

    In a file that is no text asterisks are put over them. A link with one in its text is removed.
    Nothing outside is changed, whatever links lead there. What is compressed or encrypted is not looked into.

    Args:
        folder: where no process is at work any more.
        secrets: name to value.

    Returns:
        Paths of what could not be read or changed, and may still hold one.
    """
    redactor = Redactor()
    for name, value in secrets.items():
        redactor.register(name, str(value))
    left = []
    for place, folders, files in os.walk(folder, topdown=False) if secrets else ():
        for name in (*files, *folders):
            path = Path(place, name)
            try:
                _conceal_one(path, redactor)
            except OSError:
                left.append(redactor.redact(str(path)))
    return tuple(left)


def _conceal_one(path: Path, redactor: Redactor) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        text = str(path.readlink())
        if redactor.redact(text) != text:
            path.unlink()
            return
    elif stat.S_ISREG(mode):
        if not mode & stat.S_IRUSR:
            path.chmod(mode | stat.S_IRUSR)
        content = path.read_bytes()
        clean = redactor.masked(content) if b"\0" in content else redactor.redact(content)
        if clean is not content:
            _replace(path, clean, mode)
    if (name := redactor.redact(path.name)) != path.name:
        path.rename(path.with_name(name[:255]))


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Put another file in its place; in place of writing to it, since it may have a second name outside."""
    handle, new = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(new).chmod(stat.S_IMODE(mode))
    Path(new).replace(path)
