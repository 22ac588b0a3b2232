"""The skills under test: the one around the scenarios, or those of the plugin around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillgauge.api import JsonObject, JsonValue, Problem, SkillRef, SuiteError, Target
from skillgauge_skill_folders import (
    SKILL_FILE,
    Skill,
    contained,
    leaks_of,
    read_skill,
    roots_around,
    skill_ref,
    skills_of,
)

from .claiming import EVALS
from .reading import Notices, Reading, opened, refusal

MANIFESTS = (".tessl-plugin/plugin.json", "tile.json", "tessl.json")
"""Manifests of a plugin, the newest kind first; of the last, only that it marks the folder of one."""
_FURTHER = ".claude-plugin/plugin.json"
"""A manifest for another program, which lists the skills where the others of a folder do not."""
_SKILLS = "skills"
_NOT_INSTALLED = ("docs", "steering", "rules")
"""Parts of a plugin that are no skills."""


@dataclass(frozen=True)
class Subject:
    """The thing under test: a skill, or a plugin with all its skills."""

    target: Target
    skills: tuple[Skill, ...]

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Rules of the specification that the skills break."""
        return tuple(problem for skill in self.skills for problem in skill.warnings)

    def refs(self, evals: Path) -> tuple[SkillRef, ...]:
        """The skills as they are installed: without scenarios."""
        return tuple(_ref(skill, evals) for skill in self.skills)


def subject_of(evals: Path, place: Path, problems: list[Problem], notices: Notices) -> Subject | None:
    """The nearest skill or plugin around a folder of scenarios; `None` after noting why there is none.

    Args:
        evals: the folder of scenarios.
        place: a file of a scenario, for what concerns all of them.
        problems: receives what is wrong.
        notices: receives what is not installed.
    """
    for folder, _ in roots_around(evals):
        if (folder / SKILL_FILE).is_file():
            return _skill(folder, problems)
        if any((folder / name).is_file() for name in MANIFESTS):
            return _plugin(folder, problems, notices)
        if skills := tuple(_usual(folder)):
            return _subject(folder, {}, skills, problems)
    hint = f"Put them into a folder {EVALS!r} beside {SKILL_FILE}, tile.json or {_SKILLS}/."
    problems.append(refusal("there is no skill around these scenarios", place, hint=hint))
    return None


def _skill(folder: Path, problems: list[Problem]) -> Subject | None:
    try:
        skill = read_skill(folder)
    except SuiteError as error:
        problems += error.problems
        return None
    return Subject(skill.target(), (skill,))


def _plugin(folder: Path, problems: list[Problem], notices: Notices) -> Subject | None:
    """The skills that a manifest lists, else those in `skills/`."""
    manifest: JsonObject = {}
    folders: tuple[Path, ...] = ()
    earlier = len(problems)
    for name in (*MANIFESTS, _FURTHER):
        reading = opened(folder / name, problems, notices) if (folder / name).is_file() else None
        if reading is None or not isinstance(reading.document.value, Mapping):
            continue
        manifest = {**reading.document.value, **manifest}
        for key in _NOT_INSTALLED:
            if key in reading.document.value:
                reading.tell(f"{key} of the plugin are not installed: its skills alone are under test", key)
        if not folders and _SKILLS in reading.document.value:
            folders = tuple(_listed(reading, folder, reading.document.value[_SKILLS]))
    folders = folders or tuple(_usual(folder))
    if not folders and len(problems) == earlier:
        path = next(folder / name for name in MANIFESTS if (folder / name).is_file())
        hint = f"List its skills in the manifest, or put them into {_SKILLS}/: nothing else of a plugin is installed."
        problems.append(refusal("this plugin has no skill to test", path, hint=hint))
    return _subject(folder, manifest, folders, problems) if len(problems) == earlier else None


def _usual(folder: Path) -> Iterator[Path]:
    """Yield the skills in `skills/`."""
    yield from (skill for skill in skills_of(folder) if skill.parent == folder / _SKILLS)


def _listed(reading: Reading, folder: Path, value: JsonValue) -> Iterator[Path]:
    """Yield the skills that a manifest lists: by name, as a list of paths, or as the folder that they are in."""
    for pointer, written in _paths(value):
        place = contained(folder, written) if PurePosixPath(written).parts else folder.resolve()
        if place is not None and place.name == SKILL_FILE:
            place = place.parent
        skills = [] if place is None else [one for one in (place, *_inner(place)) if (one / SKILL_FILE).is_file()]
        if not skills:
            message = f"there is no skill at {written!r}"
            reading.refuse(message, _SKILLS, *pointer, hint="Correct the path, or take it out.")
        yield from skills[:1] if place in skills else skills


def _paths(value: JsonValue) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield each path that a manifest gives, and where it stands below `skills`."""
    if isinstance(value, str):
        yield (), value
    elif isinstance(value, tuple):
        yield from (((number,), str(path)) for number, path in enumerate(value))
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            yield ((name, "path"), str(entry.get("path"))) if isinstance(entry, Mapping) else ((name,), str(entry))


def _inner(place: Path) -> list[Path]:
    return sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else []


def _subject(folder: Path, manifest: JsonObject, folders: tuple[Path, ...], problems: list[Problem]) -> Subject | None:
    skills: dict[str, Skill] = {}
    earlier = len(problems)
    for place in dict.fromkeys(path.resolve() for path in folders):
        if (read := _skill(place, problems)) is None:
            continue
        skill = read.skills[0]
        if skill.name in skills:
            message = f"two skills of the plugin are called {skill.name!r}"
            problems.append(refusal(message, place / SKILL_FILE, hint="Give one another name."))
        skills.setdefault(skill.name, skill)
    if len(problems) > earlier:
        return None
    name = _text(manifest, "name") or folder.name
    target = Target(
        id=name,
        name=name,
        version=_text(manifest, "version"),
        description=_text(manifest, "summary") or _text(manifest, "description") or "",
        root=str(folder),
        origin=next(iter(skills.values())).origin(),
    )
    return Subject(target, tuple(skills.values()))


def _text(manifest: JsonObject, key: str) -> str | None:
    value = manifest.get(key)
    return value if isinstance(value, str) and value.strip() else None


def _ref(skill: Skill, evals: Path) -> SkillRef:
    root, inner = skill.root.resolve(), evals.resolve()
    also = [inner.relative_to(root).as_posix()] if inner.is_relative_to(root) else []
    return skill_ref(root, skill.name, leaks_of(root, also=also).paths)
