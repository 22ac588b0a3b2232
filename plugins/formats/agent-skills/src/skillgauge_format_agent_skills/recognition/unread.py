"""Files that are named like suites and are none: nothing of them is passed over in silence."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skillgauge.api import Case, Origin, Problem, Severity, SuiteError
from skillgauge.api.run import install_hint

from .nearest import unknown_of
from .shapes import Foreign
from .sources import document_of, read_source, unread_of

_NAMED = 5
"""Files that a notice names."""


def unknown_shape(path: Path) -> Problem:
    """Say why a file that is named like a suite is none."""
    unknown = unknown_of(document_of(path))
    origin = Origin(str(path)) if path.suffix == ".jsonl" else Origin(str(path), unknown.pointer)
    return Problem("suite.unknown-shape", unknown.message, origin=origin, hint=unknown.hint)


def not_read(skill: Path, cases: Iterable[Case], suites_seen: set[Path]) -> tuple[Problem, ...]:
    """Report files that look like suites and are none: their questions are not asked.

    Args:
        skill: its folder.
        cases: all of it that were read; their input is no suite.
        suites_seen: files that were read.
    """
    used = {Path(file.source).resolve() for case in cases for file in case.files if file.source is not None}
    files = [path for path in unread_of(skill) if path.resolve() not in suites_seen | used and _is_none(path)]
    if not files:
        return ()
    names = ", ".join(path.relative_to(skill).as_posix() for path in files[:_NAMED])
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    message = f"not read, since no shape of a suite is in it: {names}{more}"
    hint = "docs/dialects.md has the shapes that are read."
    return (Problem("suite.not-read", message, origin=Origin(str(files[0])), hint=hint, severity=Severity.WARNING),)


def _is_none(path: Path) -> bool:
    """Tell whether a file is no suite of any known kind."""
    try:
        return path.suffix == ".md" or read_source(path) is None
    except SuiteError:
        return True


def missing_plugin(foreign: Foreign, origin: Origin) -> Problem:
    """Say that a file belongs to a format that is not installed, and how to get it."""
    message = f"this is {foreign.what}, and no installed format reads it"
    hint = install_hint("shapes", foreign.mark)
    if not hint.startswith("pip"):
        hint = "skillgauge publishes no format for it; to write one: skillgauge plugins new format NAME"
    return Problem("plugin.not-installed", message, origin=origin, hint=hint)
