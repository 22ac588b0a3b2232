"""The files that are sessions, of those that the user names, and their readers. Nothing else is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import EmptySelection, FoundSession, Problem, SessionReader, SkillgaugeError, SourceSpan, UsageError
from skillgauge.api.run import Invocation, session_readers

_ENDINGS = frozenset({".jsonl", ".json"})
"""Of files that are looked at in a folder; a file that is named may have any."""


@dataclass(frozen=True)
class SessionFile:
    """A session in its file, which is read when somebody needs it, so that one at a time is in memory."""

    path: Path
    reader: SessionReader

    def read(self) -> FoundSession:
        """Read it.

        Raises:
            SkillgaugeError: it is damaged, or cannot be read.
        """
        try:
            return self.reader.read(self.path.resolve())
        except (OSError, ValueError) as error:
            raise UsageError(_problem("grade.damaged", str(error) or type(error).__name__, self.path)) from error


@dataclass
class Sessions:
    """The sessions at the places that the user named, by their paths."""

    files: tuple[SessionFile, ...]
    problems: list[Problem]
    """Files in a folder that could not be read; further ones are added when they are read."""

    def read(self) -> Iterator[tuple[SessionFile, FoundSession]]:
        """Read one session after the other; a damaged one becomes a problem and is passed over.

        Raises:
            EmptySelection: not one of them can be read.
        """
        count = 0
        for file in self.files:
            try:
                session = file.read()
            except SkillgaugeError as error:
                self.problems += error.problems
            else:
                count += 1
                yield file, session
        if not count:
            raise UsageError(self.problems)


def find_sessions(call: Invocation, paths: Sequence[Path]) -> Sessions:
    """Find the sessions at some places.

    Args:
        call: the command line.
        paths: files, and folders that are searched to the bottom; absolute.

    Raises:
        UsageError: a place does not exist, a file that was named is no session, or nobody here reads any.
        EmptySelection: there is no session in the folders.
    """
    readers = session_readers(call.registry)
    if not readers:
        hint = "Install the engine of the program that kept them, such as skillgauge-engine-claude-code."
        raise UsageError(Problem("grade.no-reader", "no installed engine reads sessions", hint=hint))
    problems: list[Problem] = []
    unreadable: list[Problem] = []
    files: dict[Path, SessionFile] = {}
    for path in paths:
        is_folder = path.is_dir()
        for file in _below(path) if is_folder else (path,):
            try:
                reader = _reader_of(file, readers.values())
            except OSError as error:
                target = unreadable if is_folder else problems
                target.append(_problem("grade.unreadable", error.strerror or str(error), file))
                continue
            if reader is not None:
                files.setdefault(file.resolve(), SessionFile(file, reader))
            elif not is_folder:
                hint = f"Sessions are read of: {', '.join(sorted(readers))}."
                problems.append(_problem("grade.no-session", "no session that an agent's program kept", file, hint))
    UsageError.raise_for(problems)
    if not files:
        if unreadable:
            raise UsageError(unreadable)
        places = ", ".join(str(path) for path in paths)
        hint = f"Sessions are read of: {', '.join(sorted(readers))}."
        raise EmptySelection(Problem("grade.empty", f"there is no session in {places}", hint=hint))
    return Sessions(tuple(files.values()), unreadable)


def _below(folder: Path) -> Iterable[Path]:
    """Files in a folder and below that may hold sessions, in the order of their names; links are not followed."""
    paths = (path for path in folder.rglob("*") if path.suffix in _ENDINGS and not path.is_symlink() and path.is_file())
    return sorted(paths)


def _reader_of(path: Path, readers: Iterable[SessionReader]) -> SessionReader | None:
    place = path.resolve(strict=True)  # a link that the user names is meant
    return next((reader for reader in readers if reader.claims(place)), None)


def _problem(code: str, message: str, path: Path, hint: str = "") -> Problem:
    return Problem(code, message, span=SourceSpan(str(path)), hint=hint)
