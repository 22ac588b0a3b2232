"""From suites to files of another format, with everything that is lost on the way; nothing is written here."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from skillgauge.api import Origin, Problem, Severity, SkillgaugeError, Suite, SuiteFormat
from skillgauge.api.run import Invocation

from .differences import Meaning, unnamed_losses
from .meaning import MeaningOfOptions

MAX_NAME = 80


@dataclass(frozen=True)
class Converted:
    """A suite in another format."""

    suite: Suite
    files: tuple[tuple[str, bytes], ...]
    """Relative path and content."""
    losses: tuple[Problem, ...]
    refusals: tuple[Problem, ...] = ()
    """Why the result is of no use; then nothing may be written."""


def convert(call: Invocation, suite: Suite, name: str, format_: SuiteFormat) -> Converted:
    """Write a suite in a format, read it back, and compare.

    Args:
        call: the command line, whose formats read it back.
        suite: what to convert.
        name: the format, as the user calls it.
        format_: the same, ready for use.
    """
    meaning = MeaningOfOptions(call.registry.options_model)
    dumped = format_.dump(meaning.plainly(suite))
    origin = suite.origin or Origin(suite.root)
    losses = [replace(one, severity=Severity.WARNING, origin=one.origin or origin) for one in dumped.losses]
    if not dumped.artifacts or _is_nothing(suite, losses):
        message = f"suite {suite.id!r} cannot be written as {name!r}"
        hint = "Nothing was written. If others can be, name their files instead of the folder."
        return Converted(suite, (), tuple(losses), (Problem("convert.no-files", message, origin=origin, hint=hint),))
    escapes = tuple(_escapes(dumped.artifacts, name))
    if escapes:
        return Converted(suite, (), tuple(losses), escapes)
    with tempfile.TemporaryDirectory(prefix="skillgauge-convert-") as scratch:
        folder = Path(scratch).resolve() / safe_name(_skill_name(suite))
        _lay_out(dumped.artifacts, folder)
        try:
            read = _read(call, folder, suite, name)
        except SkillgaugeError as error:
            errors = [problem for problem in error.problems if problem.severity is Severity.ERROR]
            refusals = [_unreadable(problem, folder, name, origin) for problem in errors or error.problems]
            return Converted(suite, dumped.artifacts, tuple(losses), tuple(refusals))
        if idle := tuple(_idle(suite, read, name)):
            return Converted(suite, dumped.artifacts, tuple(losses), idle)
        losses += _differences(suite, read, losses, meaning)
    return Converted(suite, dumped.artifacts, tuple(losses))


def _is_nothing(suite: Suite, losses: Sequence[Problem]) -> bool:
    """Tell whether a format left every case out, so that what it wrote asks nothing."""
    cases = tuple(suite.cases)
    left_out = tuple(f"case {case.id!r} is left out" for case in cases)
    return bool(cases) and all(any(loss.message.startswith(words) for loss in losses) for words in left_out)


def _idle(suite: Suite, read: Sequence[Suite], name: str) -> Iterator[Problem]:
    """Yield the cases that would assert nothing any more, so that no run of the result could begin."""
    checked = {case.id: case for case in suite.cases if case.checks}
    for case in (case for one in read for case in one.cases if not case.checks):
        if (before := checked.get(case.id)) is not None:
            message = f"case {case.id!r} would assert nothing as {name!r}: none of its checks can be written"
            hint = "Leave the case out, or give it a check that this format has."
            yield Problem("convert.unreadable", message, origin=before.origin or suite.origin, hint=hint)


def _escapes(artifacts: Iterable[tuple[str, bytes]], name: str) -> Iterator[Problem]:
    """Yield the files that a format would write outside its folder."""
    for path, _ in artifacts:
        if not _is_inside(path):
            yield Problem("plugin.broken", f"format {name!r} wants to write {path!r}, outside its folder")


def _lay_out(artifacts: Iterable[tuple[str, bytes]], folder: Path) -> None:
    for path, content in artifacts:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def _read(call: Invocation, folder: Path, suite: Suite, name: str) -> Sequence[Suite]:
    """Load a format's own files; cases without a target are none by themselves, so the targets are added."""
    try:
        return call.suites(folder, suite_format=name).suites
    except SkillgaugeError as error:
        if any(one.severity is Severity.ERROR for one in error.problems):
            raise
    roots = [Path(target.root) for target in suite.targets if target.root]
    files = [path for path in folder.rglob("*") if path.is_file()]
    source = files[0] if len(files) == 1 else folder  # beside a target, a folder may be taken for another one
    try:
        return call.suites(source, *roots, suite_format=name).suites if roots else ()
    except SkillgaugeError:
        if suite.format == name:
            raise
        return ()  # targets of another format, which this format does not know


def _differences(suite: Suite, read: Sequence[Suite], named: Sequence[Problem], meaning: Meaning) -> Iterable[Problem]:
    if len(read) == 1:
        return tuple(unnamed_losses(suite, read[0], named, meaning))
    if read:
        message = f"suite: it becomes several suites, which are not compared: {', '.join(repr(one.id) for one in read)}"
    else:
        message = "suite: what is written is no suite without something to evaluate, so it is not compared"
    return (Problem("suite.loss", message, origin=suite.origin or Origin(suite.root), severity=Severity.WARNING),)


def _unreadable(problem: Problem, folder: Path, name: str, origin: Origin) -> Problem:
    """Make a problem of a file that cannot be read."""
    place = ""
    if problem.origin is not None and Path(problem.origin.file).is_relative_to(folder):
        place = f"{Path(problem.origin.file).relative_to(folder)}: "
    text = f"what would be written as {name!r} cannot be read: {place}{problem.message}".replace(f"{folder}/", "")
    return Problem("convert.unreadable", text.replace(str(folder), "the folder"), origin=origin, hint=problem.hint)


def _skill_name(suite: Suite) -> str:
    """Skills must lie in folders of their names."""
    names = (skill.name for arm in suite.arms for skill in arm.skills)
    return next(names, suite.id)


def safe_name(text: str) -> str:
    """A text as the name of a folder."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")[:MAX_NAME] or "suite"


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return bool(parts.parts) and not parts.is_absolute() and ".." not in parts.parts
