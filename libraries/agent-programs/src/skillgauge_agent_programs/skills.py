"""The skills that a session used, as far as its tool calls show it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, Literal

from skillgauge.api import EventKind, FiredSkill, InstalledSkill, Trajectory, Workspace

Firing = Literal["invoked", "read", "explicit"]
"""Ways in which a skill fires; see `FiredSkill.how`."""
INVOKED: Final = "invoked"
READ: Final = "read"
EXPLICIT: Final = "explicit"
_FILE = "SKILL.md"
_FILE_BYTES = 1024 * 1024
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_ENOUGH = 40
"""Characters of a file that tell it from others which have a heading or a line in common with it."""
_PIECE, _SHORTEST = 60, 8
"""Characters of what is looked for at once, and of what is too short to tell anything."""


class FiredSkills:
    """Collects skills that fired, each kind of firing once, in their order."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Firing], FiredSkill] = {}

    def add(self, name: str, how: Firing) -> None:
        """Note that a skill fired: `INVOKED` by its tool, `READ` from its file, or `EXPLICIT` in the prompt."""
        self._found.setdefault((name, how), FiredSkill(name=name, how=how))

    @property
    def all(self) -> tuple[FiredSkill, ...]:
        """The skills that fired so far."""
        return tuple(self._found.values())


def skill_of_file(path: str, names: Collection[str]) -> str | None:
    """The skill that a file is the SKILL.md of."""
    pure = PurePosixPath(path)
    return pure.parent.name if pure.name == _FILE and pure.parent.name in names else None


async def skill_texts(workspace: Workspace, skills: Sequence[InstalledSkill]) -> Mapping[str, str | None]:
    """The text of the SKILL.md of each skill; `None` for one that cannot be read."""
    texts: dict[str, str | None] = {}
    for skill in skills:
        try:
            content = await workspace.collect(f"{skill.path}/{_FILE}", _FILE_BYTES)
        except (OSError, ValueError):
            texts[skill.ref.name] = None
        else:
            texts[skill.ref.name] = content.decode("utf-8", "replace")
    return texts


def came_back(text: str, answer: str) -> bool:
    """Tell whether the answer of a tool has the text of a file in it, by whatever command.

    What counts is what stands below the front matter, which every agent is told of anyway: some lines of it, or half
    of what there is if that is little. Numbers before the lines do no harm.

    Args:
        text: of the file.
        answer: of the tool.
    """
    pieces = _pieces(text[match.end() :]) if (match := _FRONT_MATTER.match(text)) else ()
    pieces = pieces or _pieces(text)
    plain = answer.replace('\\"', '"')  # some agents hand an output on as JSON
    length = sum(len(piece) for piece in pieces if piece in plain)
    return length > 0 and length >= min(_ENOUGH, sum(map(len, pieces)) / 2)


def _pieces(text: str) -> Collection[str]:
    """Its lines, long ones in parts, without what is too short to tell anything unless there is nothing else."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    parts = [line[at : at + _PIECE].strip() for line in lines for at in range(0, len(line), _PIECE)]
    return {part for part in parts if len(part) >= _SHORTEST} or set(parts)


def with_reads(trajectory: Trajectory, texts: Mapping[str, str | None]) -> Trajectory:
    """A trajectory with the skills whose text came back to the agent by another tool than one for skills.

    If the text of one is not known, and nothing else tells that it fired, then nobody can say what fired.

    Args:
        trajectory: as the program told it.
        texts: what `skill_texts` found.
    """
    fired = FiredSkills()
    for skill in trajectory.skills_fired or ():
        fired.add(skill.name, skill.how)
    for name in _read_skills(trajectory, texts):
        fired.add(name, READ)
    is_unknown = trajectory.skills_fired is None or None in texts.values()
    none_fired = None if is_unknown else ()
    return trajectory.model_copy(update={"skills_fired": fired.all or none_fired})


def _read_skills(trajectory: Trajectory, texts: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the skills whose text a tool gave to the agent, and that their own tool did not load."""
    invoked = {skill.name for skill in trajectory.skills_fired or () if skill.how == INVOKED}
    answers = [event.text for event in trajectory.events if event.kind is EventKind.TOOL_RESULT]
    for name, text in texts.items():
        if text is None or name in invoked:
            continue
        if any(came_back(text, answer) for answer in answers):
            yield name
