"""The material that is judged: the output, and of an agent also its actions and the files that it changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skillgauge.api import ScoreContext

from . import files, transcript
from .transcript import Passage

OUTPUT, TRAJECTORY, FILES = "OUTPUT", "TRAJECTORY", "FILES"
_INDENT = "  "
_SHARES = {TRAJECTORY: 10, FILES: 4}
"""How many passages of the longest kind a section has room for."""


class NotThere(Exception):  # noqa: N818 - an outcome
    """Something that the judge was to see is gone. The message says what."""


@dataclass(frozen=True)
class Material:
    """Everything under judgement, without known secrets and not yet cut."""

    output: str
    trajectory: tuple[Passage, ...] = ()
    files: tuple[Passage, ...] = ()

    def texts(self) -> Iterable[str]:
        """All of it."""
        yield self.output
        for passage in (*self.trajectory, *self.files):
            yield passage.headline
            yield passage.body


@dataclass(frozen=True)
class Shown:
    """A section as the judge sees it."""

    name: str
    text: str
    left_out: int
    """Characters of it that the judge does not see."""


async def material_of(context: ScoreContext, *, with_trajectory: bool, with_files: bool) -> Material:
    """Collect what is judged.

    Args:
        context: what happened, and where.
        with_trajectory: whether what an agent did belongs to it.
        with_files: whether the files that it changed do.

    Raises:
        NotThere: files were changed, and the workspace is gone.
    """
    execution, clean = context.execution, context.clean
    done: Iterable[Passage] = ()
    if with_trajectory and execution.trajectory is not None:
        done = transcript.passages_of(execution.trajectory)
    changed: Iterable[Passage] = ()
    if with_files and execution.files:
        if context.workspace is None and files.changes_with_content(execution.files):
            raise NotThere("the files that the agent changed are gone; a check with `files: false` does without them")
        if context.workspace is None:
            changed = [Passage(f"deleted {transcript.one_line(file.path)}") for file in execution.files]
        else:
            graders = frozenset(file.path for file in context.case.grader_files)
            changed = await files.passages_of(execution.files, context.workspace, graders)
    return Material(
        clean(context.answer.text),
        tuple(Passage(clean(one.headline), clean(one.body)) for one in done),
        tuple(Passage(clean(one.headline), clean(one.body)) for one in changed),
    )


def shown(material: Material, marker: str, max_chars: int) -> list[Shown]:
    """The sections that are not empty, each cut to a length, with a note that nobody else can write."""
    sections = []
    if material.output:
        text, left_out = cut(material.output, marker, max_chars)
        sections.append(Shown(OUTPUT, text, left_out))
    for name, passages in ((TRAJECTORY, material.trajectory), (FILES, material.files)):
        if passages:
            sections.append(_section(name, passages, marker, max_chars))
    return sections


def _section(name: str, passages: Iterable[Passage], marker: str, max_chars: int) -> Shown:
    lines: list[str] = []
    left_out = 0
    for passage in passages:
        body, missing = cut(passage.body, marker, max_chars // _SHARES[name])
        left_out += missing
        lines.append(passage.headline)
        lines += [f"{_INDENT}{line}" for line in body.splitlines()]
    lines, missing = _without_middle(lines, marker, max_chars)
    return Shown(name, "\n".join(lines), left_out + missing)


def cut(text: str, marker: str, most: int) -> tuple[str, int]:
    """A text without its middle if it is too long, and how many characters are missing."""
    if len(text) <= most:
        return text, 0
    left_out = len(text) - most
    head, tail = most - most // 2, most // 2
    return f"{text[:head]}\n{_note(marker, left_out)}\n{text[-tail:]}", left_out


def _without_middle(lines: list[str], marker: str, most: int) -> tuple[list[str], int]:
    """Whole lines only: what follows a cut must not look like a line of the recorder."""
    excess = sum(len(line) + 1 for line in lines) - most
    if excess <= 0:
        return lines, 0
    first = last = _half(lines, most // 2)
    left_out = 0
    while last < len(lines) and left_out < excess:
        left_out += len(lines[last]) + 1
        last += 1
    return [*lines[:first], _note(marker, left_out), *lines[last:]], left_out


def _half(lines: list[str], most: int) -> int:
    """Return the number of first lines that have room."""
    length = 0
    for at, line in enumerate(lines):
        length += len(line) + 1
        if length > most:
            return at
    return len(lines)


def _note(marker: str, left_out: int) -> str:
    return f"[{marker}: {left_out} characters are left out here]"
