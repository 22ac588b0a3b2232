"""The skill that a suite is about, and the others beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import JsonObject, JsonValue, SuiteError
from skillgauge_skill_folders import SKILL_FILE, Skill, find_skill, read_skill, roots_around, skills_of

from .environments import skills_in
from .source.reading import Reading
from .source.settings import Settings

INVOCATION = "skill-invocation"
SKILL_TOOL = "skill"
"""The tool by which Copilot loads a skill."""
_PLUGINS = "plugins"
"""A folder of plugins, whose skills are found although no manifest names them."""
_SHOWN = 10


@dataclass(frozen=True)
class Skills:
    """The skills of one suite."""

    tested: tuple[Skill, ...]
    """Those under test, all of which one arm has and the other has not; none where an agent is evaluated by itself."""
    others: tuple[Skill, ...]
    """Those that lie beside them in every arm."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all of them."""
        return tuple(skill.name for skill in (*self.tested, *self.others))

    @property
    def tested_names(self) -> tuple[str, ...]:
        """The names of those under test."""
        return tuple(skill.name for skill in self.tested)

    def called(self, name: str) -> str | None:
        """Return the name by which agents know a skill that is called by it or by its folder; `None` if none is."""
        skills = (*self.tested, *self.others)
        return next((skill.name for skill in skills if name in (skill.name, skill.root.resolve().name)), None)


def skills_of_suite(
    reading: Reading, settings: Settings | None, listed: tuple[Path, ...] | None, named: Path | None
) -> Skills | None:
    """Return the skills that a suite installs; `None` after noting that it is not said which are under test.

    Args:
        reading: the suite.
        settings: those of its repository.
        listed: what its environment lists; `None` if it says nothing about skills.
        named: the folder that the user names.
    """
    nearby = tuple(_nearby(reading, settings))
    roots = (named,) if named else _of_list(reading, listed) if listed else _around(reading, nearby)
    if roots is None:
        return None
    try:
        tested = {skill.name: skill for skill in (read_skill(root.resolve()) for root in roots)}
        beside = listed if listed is not None else _graded(reading, nearby)
        others: dict[str, Skill] = {}
        for skill in map(read_skill, _distinct(beside)):
            if skill.name not in tested:
                others.setdefault(skill.name, skill)  # a copy of a skill is no other skill
        return Skills(tuple(tested.values()), tuple(others.values()))
    except SuiteError as error:
        reading.problems += error.problems
        return None


def _of_list(reading: Reading, listed: tuple[Path, ...]) -> tuple[Path, ...]:
    """Choose among the skills of the environment: the one around the suite, the one that a folder names, else all."""
    file = Path(reading.document.file).resolve()
    root = next((one for one in listed if file.is_relative_to(one.resolve())), None)
    root = root or _by_name(listed, _hints(reading))
    if root is not None:
        return (root,)
    if len(listed) > 1:
        message = f"the {len(listed)} skills of an environment are under test together: one arm has all of them"
        reading.tell(f"{message}, the other none; --skill-path DIR names one")
    return listed


def _around(reading: Reading, nearby: tuple[Path, ...]) -> tuple[Path, ...] | None:
    """Choose the skill that the suite lies in, one that a folder or the graders name, or the only one nearby.

    A suite that has none of these and asks for none evaluates an agent by itself: Vally, too, installs what is listed.
    """
    file = Path(reading.document.file).absolute()
    root = find_skill(file) or _by_name(nearby, (*_hints(reading), *_required(reading)))
    root = root or (nearby[0] if len(nearby) == 1 else None)
    if root is not None:
        return (root,)
    names = ", ".join(skill.name for skill in nearby[:_SHOWN]) or "none"
    if _asks_for_skills(reading):
        message = f"it is not said which skill this suite is about; skills that are there: {names}"
        reading.refuse(message, hint="Name its folder: --skill-path DIR.")
        return None
    message = "no skill is listed, named or asked for, so that an agent is evaluated by itself"
    reading.tell(f"{message}; --skill-path DIR names a skill; skills that are there: {names}")
    return ()


def _hints(reading: Reading) -> Iterator[str]:
    """Yield names that could be that of the skill: of the file, then of the folders around it."""
    file = Path(reading.document.file).absolute()
    yield file.name.partition(".")[0]
    for folder in file.parents:
        yield folder.name
        if folder == reading.repository:
            return


def _by_name(skills: Iterable[Path], names: Iterable[str]) -> Path | None:
    """Return the skill that has the first of the names which any has."""
    by_name: dict[str, Path] = {}
    for skill in skills:
        for name in (skill.resolve().name, _name_of(skill)):
            by_name.setdefault(name, skill)
    return next((by_name[name] for name in names if name in by_name), None)


def _name_of(skill: Path) -> str:
    try:
        return read_skill(skill).name
    except SuiteError:
        return skill.name


def _nearby(reading: Reading, settings: Settings | None) -> Iterator[Path]:
    """Yield the skills that the suite may be about, each once: of the settings, of the folders around it."""
    skills = [skill for folder in (settings.skill_folders() if settings else ()) for skill in skills_in(folder)]
    for root, inner in roots_around(Path(reading.document.file).absolute()):
        skills += skills_of(root, inner=inner)
        for manifest in sorted(root.glob(f"{_PLUGINS}/*/skills")):
            skills += skills_in(manifest)
    yield from _distinct(skills)


def _distinct(skills: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(skill.resolve() for skill in skills if (skill / SKILL_FILE).is_file()))


def _graded(reading: Reading, nearby: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the skills that graders look for, so that they could fire."""
    names = {*_required(reading), *_names_in(reading, "disallowed")}
    yield from (skill for skill in nearby if names & {skill.name, _name_of(skill)})


def _required(reading: Reading) -> tuple[str, ...]:
    """Return the names of the skills that have to fire somewhere in the file."""
    expected = [
        name
        for stimulus in _objects(reading.document.value, "stimuli")
        for name in _texts(stimulus.get("constraints"), "expect_skills")
    ]
    return tuple(dict.fromkeys((*_names_in(reading, "required"), *expected)))


def _asks_for_skills(reading: Reading) -> bool:
    """Tell whether a skill has to fire somewhere in the file."""
    return bool(_required(reading)) or any(
        stimulus.get("expect_activation") or SKILL_TOOL in _texts(stimulus.get("constraints"), "expect_tools")
        for stimulus in _objects(reading.document.value, "stimuli")
    )


def _names_in(reading: Reading, key: str) -> Iterator[str]:
    """Yield names in graders that look for skills."""
    for stimulus in _objects(reading.document.value, "stimuli"):
        for grader in _objects(stimulus, "graders"):
            if grader.get("type") == INVOCATION:
                yield from _texts(grader.get("config"), key)


def _objects(value: JsonValue, key: str) -> Iterator[JsonObject]:
    items = value.get(key) if isinstance(value, Mapping) else None
    yield from (item for item in items if isinstance(item, Mapping)) if isinstance(items, tuple) else ()


def _texts(value: JsonValue, key: str) -> Iterator[str]:
    items = value.get(key) if isinstance(value, Mapping) else None
    yield from (item for item in items if isinstance(item, str)) if isinstance(items, tuple) else ()
