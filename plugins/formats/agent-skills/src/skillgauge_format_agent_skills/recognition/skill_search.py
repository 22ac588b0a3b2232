"""The skill that a file of evals or queries is about."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import JsonValue, Problem, SuiteError, did_you_mean
from skillgauge_skill_folders import SKILL_FILE, find_skill, read_skill, roots_around, skills_of

from .sources import EVALS_FOLDER, Source

NAME_KEYS = ("skill_name", "skill", "skill_under_test", "target_skill")
"""Where a file says which skill it is about."""
PATH_KEY = "skill_path"
"""Where a file says where that skill lies."""
_LISTED = 20
"""Skills that a message lists."""


@dataclass
class SkillSearch:
    """Finds skills for files; every folder is looked through, and every SKILL.md read, once."""

    _known: dict[tuple[Path, bool], dict[str, list[Path]]] = field(default_factory=dict)
    """Of each folder that was looked through: its skills by the names they go by."""
    _names: dict[Path, frozenset[str]] = field(default_factory=dict)

    def skill_of(self, source: Source) -> Path | Problem:
        """The skill's folder; what is wrong where it cannot be told."""
        told = source.value.get(PATH_KEY) if isinstance(source.value, Mapping) else None
        if isinstance(told, str) and told.strip():
            return _at_path(source, told.strip())
        nearest, (key, name) = find_skill(source.path), _named(source.value)
        if nearest is not None and (not name or name in self._names_of(nearest)):
            return nearest
        skills = self._skills_around(source.path)
        for candidate in [name] if name else _hinted(source):
            if len(matches := skills.get(candidate, [])) == 1:
                return matches[0]
        if nearest is not None:
            return nearest  # the name is told to be another one when the file is read
        folders = list(dict.fromkeys(path for of_name in skills.values() for path in of_name))
        return folders[0] if len(folders) == 1 else _not_found(source, folders, key, name)

    def _skills_around(self, path: Path) -> dict[str, list[Path]]:
        return next((found for root in roots_around(path) if (found := self._skills_of(*root))), {})

    def _skills_of(self, root: Path, inner: bool) -> dict[str, list[Path]]:
        if (root, inner) not in self._known:
            by_name = self._known[root, inner] = {}
            for skill in skills_of(root, inner=inner):
                for name in self._names_of(skill):
                    by_name.setdefault(name, []).append(skill)
        return self._known[root, inner]

    def _names_of(self, root: Path) -> frozenset[str]:
        """Return the names of a skill: that in its front matter, and that of its folder."""
        if root not in self._names:
            try:
                self._names[root] = frozenset({read_skill(root).name, root.name})
            except SuiteError:
                self._names[root] = frozenset({root.name})
        return self._names[root]


def _at_path(source: Source, told: str) -> Path | Problem:
    """The skill at a path, of its folder or its SKILL.md, from the folder of the suite or one around it."""
    around = [folder for folder, _ in roots_around(source.path)]
    for folder in around:
        place = folder / told
        skill = place.parent if place.name == SKILL_FILE else place
        if (skill / SKILL_FILE).is_file() and skill.resolve().is_relative_to(around[-1].resolve()):
            return Path(os.path.normpath(skill))
    message = f"{PATH_KEY} is {told!r}, and there is no {SKILL_FILE}, from here or from a folder around it"
    hint = "Write the path from the folder of this file or of the repository, or name the skill with --skill-path DIR."
    return Problem("suite.no-skill", message, source.origin(PATH_KEY), hint=hint)


def _named(value: JsonValue) -> tuple[str, str]:
    """The key with which a document says the skill's name, and the name; empty if it does not."""
    if isinstance(value, Mapping):
        for key in NAME_KEYS:
            if isinstance(name := value.get(key), str) and name.strip():
                return key, name.strip()
    return "", ""


def _hinted(source: Source) -> Iterator[str]:
    """Names of skills that a file without a name of one points to."""
    value = source.value
    lists = value.values() if isinstance(value, Mapping) else (value,)
    items = [item for one in lists if isinstance(one, tuple) for item in one if isinstance(item, Mapping)]
    expected = {name for item in items if isinstance(name := item.get("expected_skill"), str)}
    if len(expected) == 1:
        yield expected.pop()
    if source.path.parent.name != EVALS_FOLDER:
        yield source.path.parent.name
    yield source.path.name.partition(".")[0]


def _not_found(source: Source, skills: Sequence[Path], key: str, name: str) -> Problem:
    place = source.origin(key) if key else source.origin()
    if not skills:
        message = f"there is no {SKILL_FILE} beside {source.path.name!r}, nor in a folder around its own"
        return Problem("suite.no-skill", message, place, hint="Name the skill with --skill-path DIR.")
    names = [path.name for path in skills]
    shown = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
    if name:
        message = (
            f"{key} is {name!r}, and there is no one skill of that name{did_you_mean(name, names)}; skills: {shown}"
        )
    else:
        message = f"{source.path.name!r} does not say which skill it is about, and there are several: {shown}"
    hint = f'Write "skill_name": "{names[0]}" in its object, or name the skill with --skill-path DIR.'
    return Problem("suite.which-skill", message, place, hint=hint)
