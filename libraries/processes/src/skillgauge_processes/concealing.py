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
        Paths of what could not be read or changed, and may still hold one. A folder that its owner had closed is open
        afterwards.
    """
    redactor = Redactor()
    for name, value in secrets.items():
        redactor.register(name, str(value))
    if not secrets:
        return ()
    remaining: list[str] = []
    waiting = [(folder, False)]
    while waiting:  # no recursion: an agent may nest folders as deep as it likes
        path, is_done = waiting.pop()
        try:
            if is_done or not _is_folder(path):
                _conceal_one(path, redactor, is_top=path == folder)
            else:
                waiting.append((path, True))
                waiting += [(Path(entry.path), False) for entry in _entries(path)]
        except OSError:
            remaining.append(redactor.redact(str(path)))
    return tuple(remaining)


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, which is opened first if its owner may open it."""
    mode = folder.stat().st_mode
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        folder.chmod(mode | stat.S_IRWXU)
    with os.scandir(folder) as entries:
        return list(entries)


def _conceal_one(path: Path, redactor: Redactor, *, is_top: bool) -> None:
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
    if not is_top and (name := redactor.redact(path.name)) != path.name:
        path.rename(path.with_name(name[:255]))


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Put another file in its place; in place of writing to it, since it may have a second name outside."""
    handle, new = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(new).chmod(stat.S_IMODE(mode))
    Path(new).replace(path)
