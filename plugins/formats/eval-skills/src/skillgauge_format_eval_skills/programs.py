"""The program of a skill: what its command names, and a digest that changes exactly when its code may have changed."""

from __future__ import annotations

import hashlib
import os
import posixpath
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from skillgauge.api import Origin, digest
from skillgauge_documents.immutables import immutable

from .findings import Findings

PROGRAM_SUFFIXES = frozenset(
    {".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".php", ".sh", ".pl", ".java", ".jar", ".class"}
)
"""Files with these endings are code, wherever they lie below the skill's folder."""
_SKIPPED = frozenset({"__pycache__", "node_modules", "reports", "tests"})


@immutable
class Word:
    """A word of a skill's command, with its place."""

    text: str
    origin: Origin

    @property
    def path(self) -> str | None:
        """The part of it that may be a path: the word itself, or the value of `--option=value`."""
        if self.text.startswith("-"):
            return self.text.partition("=")[2] or None
        return None if "://" in self.text else self.text


def words_of(command: str, origin: Origin) -> list[Word]:
    """A command line as the shell would divide it; nothing if a quotation is open, which the adapter reports."""
    try:
        return [Word(text, origin) for text in shlex.split(command)]
    except ValueError:
        return []


def check_command(words: Sequence[Word], root: Path, findings: Findings) -> None:
    """Note arguments that leave the skill's folder, and a script that is not there.

    The program itself may be any that the user has installed; whether it exists is the adapter's question.
    """
    script: Word | None = None
    for position, word in enumerate(words):
        path = word.path
        if path is None or (position == 0 and PurePosixPath(path).is_absolute()):
            continue
        if _leaves(path):
            message = f"{path!r} leads out of the skill's folder"
            hint = "Keep what the skill needs beside its skill.json, and name it relative to that."
            findings.error("escaping-path", message, word.origin, hint)
        elif position and script is None and PurePosixPath(path).suffix in PROGRAM_SUFFIXES:
            script = word
    if script and not (root / str(script.path)).is_file():
        message = f"missing entrypoint: there is no {script.path!r} beside the skill.json"
        findings.error("missing-entrypoint", message, script.origin, "Write the program, or correct its name.")


def _leaves(path: str) -> bool:
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute():
        return True
    return posixpath.normpath(path.replace("\\", "/")).split("/")[0] == ".."


def code_digest(root: Path, definition: Iterable[Path], words: Sequence[Word]) -> str:
    """Digest over a skill's definition files and code.

    Code is what the command names and every file with a program's ending below the folder, except in folders that
    are hidden, hold installed packages, tests or reports. Data files are left out: skills write such files when they
    run, and running a skill does not make it another skill.
    """
    named = {root / word.path for word in words if word.path and not _leaves(word.path)}
    files = {*definition, *_programs(root), *(path for path in named if path.is_file())}
    return digest([(os.path.relpath(path, root), _content_id(path)) for path in sorted(files)])


def _programs(root: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        names[:] = [
            name
            for name in names
            if name not in _SKIPPED and name[0] != "." and not Path(folder, name, "pyvenv.cfg").exists()
        ]
        yield from (Path(folder, name) for name in files if PurePosixPath(name).suffix in PROGRAM_SUFFIXES)


def _content_id(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:  # a dangling link, for example: its absence is content too
        return f"unreadable: {error.strerror}"
