"""Mechanical changes of files: shown as a diff, and written if the user asks for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path

from ..errors import Problem, SourceSpan, UsageError
from .linting import Fix

Change = tuple[SourceSpan, Fix]


def changed(changes: Iterable[Change]) -> dict[Path, tuple[str, str]]:
    """The files that would be other ones: what is in them now, and what would be."""
    by_file: dict[str, list[Change]] = {}
    for span, fix in changes:
        by_file.setdefault(span.file, []).append((span, fix))
    found = {}
    for name, own in sorted(by_file.items()):
        path = Path(name)
        text = path.read_bytes().decode("utf-8")
        after = _applied(text, own)
        if after != text:
            found[path] = (text, after)
    return found


def _applied(text: str, changes: Iterable[Change]) -> str:
    """The text with every change, from the last place to the first so that no place moves another."""
    placed = {(_found(text, span, fix), fix) for span, fix in changes}
    end = len(text)
    for place, fix in sorted(placed, key=lambda one: -one[0]):
        if place >= 0 and place + len(fix.before) <= end:  # two that overlap are one after the other
            text = text[:place] + fix.after + text[place + len(fix.before) :]
            end = place
    return text


def _found(text: str, span: SourceSpan, fix: Fix) -> int:
    lines = text.splitlines(keepends=True)[: (span.line or 1) - 1]
    return text.find(fix.before, sum(map(len, lines)) + (span.column or 1) - 1)


def diff_lines(files: dict[Path, tuple[str, str]]) -> Iterator[str]:
    """A unified diff of all."""
    for path, (before, after) in files.items():
        sides = (before.splitlines(), after.splitlines())
        yield from unified_diff(*sides, f"{path} (now)", f"{path} (fixed)", lineterm="")


def write(files: dict[Path, tuple[str, str]]) -> None:
    """Write all of them.

    Raises:
        UsageError: one cannot be written; the others are.
    """
    problems = []
    for path, (_, after) in files.items():
        try:
            path.write_bytes(after.encode("utf-8"))
        except OSError as error:
            problems.append(Problem("usage.unwritable", f"cannot write {str(path)!r}: {error.strerror}"))
    if problems:
        raise UsageError(problems)
