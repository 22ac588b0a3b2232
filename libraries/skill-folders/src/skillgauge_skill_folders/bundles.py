"""Files of a skill that others need: input of a case, and what commands of validators call."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath

from skillgauge.api import FileSpec

from .folders import content_digest, files_of

DOCKERFILE = "Dockerfile"
_GIT = ".git"
REQUIREMENTS = "requirements.txt"
"""What a `Dockerfile` of a suite can copy: nothing else of the folder, which holds the answers."""


def contained(root: Path, written: str) -> Path | None:
    """Return the file that a suite's path means below a folder; `None` if it leaves the folder, directly or by a link.

    The file need not exist. What git keeps for itself is no part of the folder: its configuration holds the
    credentials of whoever cloned it, and a suite says what is shown to a model.
    """
    parts = PurePosixPath(written.replace("\\", "/")).parts
    if not parts or ".." in parts or PurePosixPath(written).is_absolute() or PureWindowsPath(written).is_absolute():
        return None
    try:
        path, here = (root / written).resolve(), root.resolve()
        path.exists()  # raises for a name that no file can have
    except (OSError, ValueError, RuntimeError):  # a NUL in it, or links in a circle
        return None
    if not path.is_relative_to(here) or _GIT in (part.lower() for part in path.relative_to(here).parts):
        return None
    return path


def bytes_of(path: Path, most: int) -> bytes | None:
    """The content of a regular file; `None` for pipes and devices, and for what is larger or cannot be read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except (OSError, ValueError):
        return None
    return data if len(data) <= most else None


def file_spec(source: Path, path: str) -> FileSpec:
    """A file on disk, to be put at `path` in a workspace, identified by its content."""
    executable = bool(source.stat().st_mode & 0o100)
    return FileSpec(path=path, source=str(source), executable=executable, digest=content_digest(source))


def image_files(folder: Path) -> tuple[FileSpec, ...]:
    """The `Dockerfile` of a folder with suites, and the requirements that it may copy; empty without a `Dockerfile`."""
    if not (folder / DOCKERFILE).is_file():
        return ()
    return tuple(file_spec(folder / name, name) for name in (DOCKERFILE, REQUIREMENTS) if (folder / name).is_file())


def named_files(root: Path, commands: Iterable[str]) -> list[str]:
    """Paths of the files of a folder that shell commands name, in the order in which they do."""
    names: dict[str, None] = {}
    folder = os.fspath(root)
    for command in commands:
        for word in _words(command):
            # Hardly any word is a file, and to follow all links of a path costs ten times what looking for it does.
            is_file = word and os.path.isfile(os.path.join(folder, word))  # noqa: PTH113, PTH118 - half a validation
            path = contained(root, word) if is_file else None
            if path is not None:
                names[path.relative_to(root.resolve()).as_posix()] = None
    return list(names)


def bundled_files(root: Path, commands: Sequence[str]) -> tuple[FileSpec, ...]:
    """Return the files of a skill that validators' commands need: those that they name, and all beside or below them.

    A file in the skill's own folder comes alone. The files keep their place, so that `python3 scripts/check.py` works
    in a workspace in which no skill is installed.
    """
    paths: dict[str, None] = {}
    for path in named_files(root, commands):
        folder = path.rpartition("/")[0]
        if folder:
            beside = [file for file in files_of(root / folder) if "__pycache__" not in file.split("/")]
            paths.update(dict.fromkeys(f"{folder}/{file}" for file in beside))
        paths[path] = None
    return tuple(file_spec(root / path, path) for path in sorted(paths))


def _words(command: str) -> list[str]:
    words = shell_words(command)
    if words is None:
        words = tuple(command.split())
    return [part for word in words for part in (word, word.partition("=")[2])]


@lru_cache(maxsize=4096)
def shell_words(command: str) -> tuple[str, ...] | None:
    """Return the words and operators of a shell command; `None` if a quotation is open, as `sh` will say."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return tuple(lexer)
    except ValueError:
        return None
