"""The skill that a file is about, and the others beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from skillgauge_assertions import Node
from skillgauge_skill_folders import Skill, find_skill, read_skill, roots_around, skills_of

_USED = ("skill-used", "not-skill-used", "skill_used", "not_skill_used")


@dataclass(frozen=True)
class Skills:
    """Skills of one file."""

    candidate: Skill | None
    others: tuple[Path, ...]
    """Further skills of the folder that a workspace begins with, present in every arm."""
    inside: tuple[Path, ...]
    """All skills of that folder."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which skills may be asked for."""
        own = (self.candidate.name,) if self.candidate is not None else ()
        return (*own, *(read_skill(one).name for one in self.others))


def skills_for(file: Path, config: Node, folder: Path | None) -> Skills:
    """The skill that assertions name, else the one that the file lies with, else the only one of the workspace."""
    inside = skills_of(folder) if folder is not None else ()
    near = find_skill(file.parent)
    skill = next((one for name in _named(config) if (one := _called(name, file, inside, near)) is not None), None)
    root = skill or near or (inside[0] if len(inside) == 1 else None)
    others = tuple(one for one in inside if root is None or one.resolve() != root.resolve())
    return Skills(read_skill(root) if root is not None else None, others, inside)


def _called(name: str, file: Path, inside: tuple[Path, ...], near: Path | None) -> Path | None:
    """The folder of the skill of that name: in the workspace, with the file, or in its repository."""
    candidates = [*inside, *([near] if near is not None else [])]
    candidates += [one for root, inner in roots_around(file.resolve()) for one in skills_of(root, inner=inner)]
    return next((one for one in candidates if name in (one.resolve().name, read_skill(one).name)), None)


def _named(node: Node) -> Iterator[str]:
    """Names of skills in assertions, wherever they stand."""
    value = node.value
    if isinstance(value, tuple):
        for name in node.items():
            yield from _named(name)
    elif isinstance(value, Mapping):
        if value.get("type") in _USED:
            named = value.get("value")
            named = named.get("name") if isinstance(named, Mapping) else named
            yield from (name for name in (named if isinstance(named, tuple) else (named,)) if isinstance(name, str))
        for key in node.names():
            yield from _named(node.at(key))
