"""The skills of a catalogue, and the suites that have queries for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from skillgauge.api import Frozen, Problem, Severity, SkillgaugeError, SkillRef, SuiteError, Target, UsageError
from skillgauge.api.report import counted
from skillgauge.api.run import Invocation
from skillgauge_skill_folders import SKILL_FILE, Skill, leaks_of, read_skill, skill_ref, skills_of

UNREADABLE = "usage.unknown-format"
"""Code of the problem of a path that no format reads, as a skill without evals is."""
LEAST = 2
"""Skills without which there is nothing to choose among."""


class Member(Frozen):
    """A skill of the catalogue."""

    name: str
    description: str
    ref: SkillRef
    target: Target

    @property
    def tokens(self) -> int:
        """The tokens of its name and description, estimated as a quarter of their characters."""
        return -(-len(f"{self.name}{self.description}") // 4)


class Catalogue(Frozen):
    """The skills that are installed together."""

    members: tuple[Member, ...]
    paths: tuple[Path, ...]
    """Where suites are; absolute. Paths that are skills without evals are left out."""
    warnings: tuple[Problem, ...] = ()


def read_catalogue(call: Invocation, words: Sequence[str]) -> Catalogue:
    """Return the skills at some paths.

    Args:
        call: the command line.
        words: folders of skills, or folders with skills in them.

    Raises:
        SkillgaugeError: with everything that is wrong with the paths and the skills.
    """
    paths = tuple(call.cwd / word for word in words)
    folders: dict[Path, Path] = {}
    problems: list[Problem] = []
    for word, path in zip(words, paths, strict=True):
        inner = _folders(path)
        if not inner:
            problems.append(_no_skill(word, path))
        for folder in inner:
            folders.setdefault(folder.resolve(), folder)
    skills: list[Skill] = []
    for folder in folders.values():
        try:
            skills.append(read_skill(folder))
        except SuiteError as error:
            problems.extend(error.problems)
    problems.extend(_twice(skills))
    SuiteError.raise_for(problems)
    offered = [skill for skill in skills if skill.front_matter.get("disable-model-invocation") is not True]
    if len(offered) < LEAST:
        message = f"a map needs at least {LEAST} skills that an agent may choose, and here {_are(len(offered))}"
        hint = "Name more skills, or the folder around them."
        raise UsageError(Problem("map.too-few-skills", message, hint=hint))
    members = tuple(map(_member, offered))
    with_suites = _with_suites(call, paths)
    if not with_suites:
        raise UsageError(no_queries(len(members)))
    closed = [skill for skill in skills if skill not in offered]
    return Catalogue(members=members, paths=with_suites, warnings=tuple(map(_closed, closed)))


def _are(number: int) -> str:
    return "is 1" if number == 1 else "is none"


def _folders(path: Path) -> tuple[Path, ...]:
    if path.name == SKILL_FILE and path.is_file():
        return (path.parent,)
    return (path,) if (path / SKILL_FILE).is_file() else skills_of(path, inner=True)


def _no_skill(word: str, path: Path) -> Problem:
    if not path.exists():
        return Problem("usage.no-such-path", f"{word!r} does not exist", hint="Name a folder of skills.")
    hint = f"Name a folder with a {SKILL_FILE}, or one whose folders are skills."
    return Problem("map.no-skill", f"there is no skill in {word!r}", hint=hint)


def _twice(skills: Sequence[Skill]) -> Iterator[Problem]:
    first: dict[str, Skill] = {}
    for skill in skills:
        if skill.name in first:
            file = first[skill.name].root / SKILL_FILE
            message = f"skill {skill.name!r} is in the catalogue twice, first in {str(file)!r}"
            hint = "An agent has one skill of a name: leave one of them out, or rename it."
            yield Problem("map.duplicate-skill", message, skill.origin("name"), hint=hint)
        first.setdefault(skill.name, skill)


def _member(skill: Skill) -> Member:
    ref = skill_ref(skill.root, skill.name, leaks_of(skill.root).paths)
    return Member(name=skill.name, description=skill.description, ref=ref, target=skill.target())


def _closed(skill: Skill) -> Problem:
    message = f"skill {skill.name!r} is left out of the map: with 'disable-model-invocation' no agent chooses it"
    place = skill.origin("disable-model-invocation")
    return Problem("map.not-offered", message, place, hint="Nothing needs to be done.", severity=Severity.WARNING)


def _with_suites(call: Invocation, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the paths that a format reads; what is wrong with them is reported when they are evaluated."""
    if _is_readable(call, paths):
        return paths
    return tuple(path for path in paths if _is_readable(call, (path,)))


def _is_readable(call: Invocation, paths: tuple[Path, ...]) -> bool:
    try:
        call.suites(*paths)
    except SkillgaugeError as error:
        is_single = len(paths) == 1
        return is_single and any(problem.code != UNREADABLE for problem in error.problems)
    return True


def no_queries(skills: int) -> Problem:
    """Return the problem of a catalogue that no query is asked of."""
    message = f"none of the {counted(skills, 'skill')} has a query or a case with a prompt, so there is nothing to ask"
    hint = "Write queries that should make a skill fire, in evals/trigger-eval.json, or draft some: skillgauge init."
    return Problem("map.no-queries", message, hint=hint)
