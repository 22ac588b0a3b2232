"""The thing under test: the skill around the scenarios, or the plugin around them with its skills and other parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillgauge.api import Install, JsonObject, JsonValue, Origin, Problem, SkillRef, SuiteError, Target
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
from .parts import RULE, Parts
from .reading import Notices, Reading, opened, refusal

MANIFESTS = (".tessl-plugin/plugin.json", "tile.json", "tessl.json")
"""Manifests of a plugin, the newest kind first; of the last, only that it marks the folder of one."""
_FURTHER = ".claude-plugin/plugin.json"
"""A manifest for another program, which lists the skills where the others of a folder do not."""
_SKILLS = "skills"
_NEWEST = MANIFESTS[0]
"""The kind of manifest that need not list rules which lie in the usual folder."""


@dataclass(frozen=True)
class Subject:
    """The thing under test: a skill, or a plugin with everything that is installed of it."""

    target: Target
    skills: tuple[Skill, ...]
    installs: tuple[Install, ...] = ()
    """Rules and documents."""

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Rules of the specification that the skills break."""
        return tuple(problem for skill in self.skills for problem in skill.warnings)

    def refs(self, evals: Path) -> tuple[SkillRef, ...]:
        """The skills as they are installed: without scenarios."""
        return tuple(_ref(skill, evals) for skill in self.skills)


@dataclass
class Search:
    """The search for what a folder of scenarios is about."""

    evals: Path
    place: Path
    """A file of a scenario, for what concerns all of them."""
    problems: list[Problem]
    """Receives what is wrong."""
    notices: Notices
    """Receives what is not installed."""
    skills_only: bool = False
    """True if only the skills of a plugin are under test."""

    def subject(self) -> Subject | None:
        """Return the nearest skill or plugin around the scenarios; `None` after noting why there is none."""
        for folder, _ in roots_around(self.evals):
            if (folder / SKILL_FILE).is_file():
                return self._skill(folder)
            if any((folder / name).is_file() for name in MANIFESTS):
                return self._plugin(folder)
            if skills := tuple(_usual(folder)):
                return _subject(folder, {}, skills, (), self.problems)
        hint = f"Put them into a folder {EVALS!r} beside {SKILL_FILE}, tile.json or {_SKILLS}/."
        self.problems.append(refusal("there is no skill around these scenarios, and no plugin", self.place, hint=hint))
        return None

    def _skill(self, folder: Path) -> Subject | None:
        """Return a skill; with the rules of a plugin whose folder is the skill, which holds its documents already."""
        if (skill := _read(folder, self.problems)) is None:
            return None
        earlier = len(self.problems)
        installs = tuple(one for reading in self._manifests(folder) for one in self._parts(reading, folder))
        rules = tuple(one for one in installs if one.kind == RULE)
        return Subject(skill.target(), (skill,), rules) if len(self.problems) == earlier else None

    def _plugin(self, folder: Path) -> Subject | None:
        """Return the skills that a manifest lists, else those in `skills/`, with the rules and the documents."""
        manifest: JsonObject = {}
        folders: tuple[Path, ...] = ()
        installs: dict[str, Install] = {}
        earlier = len(self.problems)
        for reading in self._manifests(folder, _FURTHER):
            value = reading.document.value
            assert isinstance(value, Mapping)
            manifest = {**value, **manifest}
            if not folders and _SKILLS in value:
                folders = tuple(_listed(reading, folder, value[_SKILLS]))
            installs |= {one.digest: one for one in self._parts(reading, folder)}
        folders = folders or tuple(_usual(folder))
        if len(self.problems) > earlier:
            return None
        if not folders and not installs:
            path = next(folder / name for name in MANIFESTS if (folder / name).is_file())
            hint = f"List them in the manifest, or put skills into {_SKILLS}/: nothing else of a plugin is installed."
            self.problems.append(refusal("this plugin has no skill, no rule and no documents to test", path, hint=hint))
            return None
        return _subject(folder, manifest, folders, tuple(installs.values()), self.problems)

    def _manifests(self, folder: Path, *more: str) -> Iterator[Reading]:
        """Yield the manifests that can be read, the newest kind first."""
        for name in (*MANIFESTS, *more):
            reading = opened(folder / name, self.problems, self.notices) if (folder / name).is_file() else None
            if reading is not None and isinstance(reading.document.value, Mapping):
                yield reading

    def _parts(self, reading: Reading, folder: Path) -> tuple[Install, ...]:
        """Return the rules and documents of a manifest of Tessl's own."""
        name = Path(reading.document.file).relative_to(folder).as_posix()
        manifest = reading.document.value
        assert isinstance(manifest, Mapping)
        if self.skills_only or name == _FURTHER:
            return ()
        about = _text(manifest, "summary") or _text(manifest, "description") or ""
        return Parts(reading, folder, self.evals).installs(about, has_usual=name == _NEWEST)


def _read(folder: Path, problems: list[Problem]) -> Skill | None:
    try:
        return read_skill(folder)
    except SuiteError as error:
        problems += error.problems
        return None


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


def _subject(
    folder: Path,
    manifest: JsonObject,
    folders: tuple[Path, ...],
    installs: tuple[Install, ...],
    problems: list[Problem],
) -> Subject | None:
    skills: dict[str, Skill] = {}
    earlier = len(problems)
    for place in dict.fromkeys(path.resolve() for path in folders):
        if (skill := _read(place, problems)) is None:
            continue
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
        origin=next((skill.origin() for skill in skills.values()), Origin(str(folder))),
    )
    return Subject(target, tuple(skills.values()), installs)


def _text(manifest: JsonObject, key: str) -> str | None:
    value = manifest.get(key)
    return value if isinstance(value, str) and value.strip() else None


def _ref(skill: Skill, evals: Path) -> SkillRef:
    root, inner = skill.root.resolve(), evals.resolve()
    also = [inner.relative_to(root).as_posix()] if inner.is_relative_to(root) else []
    return skill_ref(root, skill.name, leaks_of(root, also=also).paths)
