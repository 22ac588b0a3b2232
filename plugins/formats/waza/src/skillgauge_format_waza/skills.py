"""The skill that a suite is about, and the others beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skillgauge.api import did_you_mean
from skillgauge_skill_folders import SKILL_FILE, find_skill, read_skill, roots_around, skills_of

from .files import EvalFile
from .reading import Reading


def candidate(reading: Reading, read: EvalFile) -> Path | None:
    """The folder of the skill that is named: in the directories of skills, around the suite, or in its repository."""
    file = Path(reading.document.file)
    named = _named(_in_directories(reading, read))
    if read.skill in named:
        return named[read.skill]
    near = find_skill(file)
    if near is not None and read.skill in (near.resolve().name, read_skill(near).name):
        return near
    names = dict(named)
    for root, inner in roots_around(file.resolve()):
        skills = _named(skills_of(root, inner=inner))
        if read.skill in skills:
            return skills[read.skill]
        names |= skills
    message = f"there is no skill {read.skill!r} around this suite{did_you_mean(read.skill, tuple(names))}"
    reading.refuse(message, "skill", hint="Name the folder that it lies in: config.skill_directories: [PATH]")
    return None


def others(reading: Reading, read: EvalFile, root: Path) -> Iterator[Path]:
    """Skills of the directories that are present in every arm."""
    named = _named(_in_directories(reading, read))
    for number, name in enumerate(read.config.required_skills):
        if name not in named and name != read.skill:
            message = f"there is no skill {name!r}{did_you_mean(name, tuple(named))}"
            hint = "Add the folder that it lies in to skill_directories."
            reading.refuse(message, "config", "required_skills", number, hint=hint)
    yield from (folder for folder in dict.fromkeys(named.values()) if folder.resolve() != root.resolve())


def _in_directories(reading: Reading, read: EvalFile) -> list[Path]:
    skills_found: list[Path] = []
    for number, written in enumerate(read.config.skill_directories):
        place = (reading.folder / written).resolve()
        below = [place, *sorted(place.glob("*"))] if place.is_dir() else []
        skills = [one for one in below if (one / SKILL_FILE).is_file()]
        message = f"there is no skill in {written!r}"
        if not skills and not any(one.message == message for one in reading.problems):
            hint = "Name a folder of skills, or one of a skill."
            reading.refuse(message, "config", "skill_directories", number, hint=hint)
        skills_found += skills
    return skills_found


def _named(folders: list[Path] | tuple[Path, ...]) -> dict[str, Path]:
    """Folders by both of their names, that of SKILL.md and their own."""
    named: dict[str, Path] = {}
    for folder in folders:
        named.setdefault(read_skill(folder).name, folder)
        named.setdefault(folder.resolve().name, folder)
    return named
