"""The skills that a suite installs, and what of their folders is not installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import SkillRef
from skillgauge_skill_folders import SKILL_FILE, Skill, files_of, leaks_of, read_skill, skill_ref

from .files import SkillEntry
from .globs import left_out
from .reading import Reading

_FOLDERS = 11
"""Folders above a suite in which skill-up looks for SKILL.md."""


@dataclass(frozen=True)
class Installed:
    """A skill of the arm with skills."""

    skill: Skill
    leaves_out: tuple[str, ...] = ()
    """Paths of its folder that the suite excludes, or does not include."""

    def ref(self, commands: Sequence[str], of_suite: Iterable[Path]) -> SkillRef:
        """The skill as it is installed, without its suite, results of skill-up, and what its scripts grade with.

        Args:
            commands: those of checks.
            of_suite: files and folders of the suite, wherever they lie.
        """
        root = self.skill.root
        results = [root / f"{name}-workspace" for name in dict.fromkeys((root.name, self.skill.name))]
        inside = [path for path in (*of_suite, *filter(Path.is_dir, results)) if path.is_relative_to(root)]
        also = [path.relative_to(root).as_posix() for path in inside if path != root]
        leaks = leaks_of(root, commands=commands, also=also).paths
        rest = [path for path in self.leaves_out if not any(_is_at_or_below(path, leak) for leak in leaks)]
        return skill_ref(root, self.skill.name, (*leaks, *rest))


def skill_root(file: Path) -> Path:
    """The folder that paths of a suite start from: the nearest one with a SKILL.md, else the one above the suite's."""
    folders = file.resolve().parents[:_FOLDERS]
    return next((folder for folder in folders if (folder / SKILL_FILE).is_file()), folders[min(1, len(folders) - 1)])


def installed(reading: Reading, entries: Sequence[SkillEntry]) -> tuple[Installed, ...]:
    """The skills that are listed, the one around the suite first; without a list, that one."""
    if not entries:
        if (reading.root / SKILL_FILE).is_file():
            reading.tell("no skill is listed; the one around this file is taken, where skill-up would install none")
            return (Installed(read_skill(reading.root)),)
        hint = "Put the file into the skill's folder, or name it: skills: [{source: local_path, path: PATH}]"
        reading.refuse("there is no skill around this suite", hint=hint)
        return ()
    skills = {one.skill.root: one for one in _listed(reading, entries)}
    return tuple(sorted(skills.values(), key=lambda one: one.skill.root != reading.root))


def _listed(reading: Reading, entries: Sequence[SkillEntry]) -> Iterator[Installed]:
    for number, entry in enumerate(entries):
        place = ("skills", number)
        if entry.target is not None:
            reading.tell("target has no effect: each engine knows where its agent looks for skills", *place, "target")
        if entry.source != "local_path":
            hint = "Name a folder: source: local_path, path: PATH"
            reading.refuse("skills are not fetched from a registry", *place, "source", hint=hint)
            continue
        folder = (reading.root / entry.path).resolve()
        if not (folder / SKILL_FILE).is_file():
            hint = f"Give the path of its folder from {reading.root.name!r}, as in: path: ."
            reading.refuse(f"there is no skill in {entry.path!r}", *place, "path", hint=hint)
            continue
        yield Installed(read_skill(folder), _left_out(reading, folder, entry, number))


def _left_out(reading: Reading, folder: Path, entry: SkillEntry, number: int) -> tuple[str, ...]:
    for key, patterns in (("include", entry.include), ("exclude", entry.exclude)):
        for index, pattern in enumerate(patterns):
            try:
                left_out((), (pattern,), ())
            except ValueError as error:
                reading.refuse(str(error), "skills", number, key, index, hint="As in: references/**")
                return ()
    paths = left_out(files_of(folder), entry.include, entry.exclude)
    if SKILL_FILE in paths:
        key = "include" if entry.include else "exclude"
        hint = f"Write {SKILL_FILE} into include, and not into exclude."
        message = f"{SKILL_FILE} is not installed, so that no agent could find the skill"
        reading.refuse(message, "skills", number, key, hint=hint)
    return paths


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
