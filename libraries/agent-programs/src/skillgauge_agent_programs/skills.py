"""Which skills a session used, as far as its tool calls show it."""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from skillgauge.api import FiredSkill

INVOKED, READ, EXPLICIT = "invoked", "read", "explicit"
_FILE = "SKILL.md"
_PATH = re.compile(rf"[^\s'\"`;&|<>()=]*{re.escape(_FILE)}\b")
_FOLDER = re.compile(r"\bcd\s+['\"]?([^\s'\";&|]+)")
_WRITTEN = re.compile(rf">\s*['\"]?[^\s'\"]*{re.escape(_FILE)}")


class FiredSkills:
    """Collects skills that fired, each kind of firing once, in their order."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], FiredSkill] = {}

    def add(self, name: str, how: str) -> None:
        """Note that a skill fired: `INVOKED` by its tool, `READ` from its file, or `EXPLICIT` in the prompt."""
        self._found.setdefault((name, how), FiredSkill(name=name, how=how))

    @property
    def all(self) -> tuple[FiredSkill, ...]:
        """What fired so far."""
        return tuple(self._found.values())


def skills_read_by(
    command: str, installed: Collection[str], offered: Collection[str] = (), folder: str = ""
) -> tuple[str, ...]:
    """Skills whose SKILL.md a shell command names without writing to it.

    Args:
        command: as the agent gave it.
        installed: skills in the workspace, which a pattern of file names may mean.
        offered: further skills that there are, wherever they lie.
        folder: working directory of the command, if it says one.
    """
    if _WRITTEN.search(command):
        return ()
    folders = [folder, *_FOLDER.findall(command)]
    found: list[str] = []
    for path in _PATH.findall(command):
        # A bare file name lies wherever the command went last.
        parent = PurePosixPath(path).parent.name or PurePosixPath(folders[-1]).name
        found += [parent] if parent in (*installed, *offered) else []
        found += [name for name in sorted(installed) if fnmatchcase(name, parent)]
    return tuple(dict.fromkeys(found))


def skill_of_file(path: str, names: Collection[str]) -> str | None:
    """The skill that a file is the SKILL.md of."""
    pure = PurePosixPath(path)
    return pure.parent.name if pure.name == _FILE and pure.parent.name in names else None
