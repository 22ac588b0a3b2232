"""Skills that are installed beside the one under test, so that an agent has to choose among them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillgauge.api import Origin, Problem, SkillRef, SkillRole, SuiteError
from skillgauge_skill_folders import SKILL_FILE, Skill, leaks_of, read_skill, skill_ref, skills_of

OPTION = "--with-skills"


class Neighbours:
    """The skills that `--with-skills` names.

    Args:
        written: folders of skills, or with skills in them.
        cwd: what they are relative to.
        keep: globs of what is installed although it would give answers away.
    """

    def __init__(self, written: Sequence[str], cwd: Path, keep: Sequence[str]) -> None:
        self.problems: list[Problem] = []
        self._keep = keep
        self._refs: dict[Path, SkillRef] = {}
        self._skills: dict[Path, Skill] = {}
        for text in written:
            folder = (cwd / text).resolve()
            folders = (folder,) if (folder / SKILL_FILE).is_file() else skills_of(folder, inner=True)
            if not folders:
                message = f"{OPTION}: there is no skill in {text!r}"
                hint = f"Name a folder with a {SKILL_FILE}, or one whose folders are skills."
                self.problems.append(Problem("suite.no-skill", message, Origin(str(folder)), hint=hint))
            for root in folders:
                self._add(root.resolve())

    def _add(self, root: Path) -> None:
        try:
            self._skills.setdefault(root, read_skill(root))
        except SuiteError as error:
            self.problems += error.problems

    @property
    def roots(self) -> tuple[Path, ...]:
        """Folders of all of them."""
        return tuple(self._skills)

    def of(self, skill: Skill, tested: Sequence[Skill]) -> tuple[SkillRef, ...]:
        """Return the skills installed beside a skill: the others, and beside one of them the skills under test, too.

        Raises:
            SuiteError: two of them have one name, so only one of them could be installed.
        """
        own = skill.root.resolve()
        others = {root: neighbour for root, neighbour in self._skills.items() if root != own}
        if own in self._skills:
            others |= {neighbour.root.resolve(): neighbour for neighbour in tested if neighbour.root.resolve() != own}
        by_name = {skill.name: skill}
        for neighbour in others.values():
            if neighbour.name in by_name:
                first = str(by_name[neighbour.name].root)
                message = f"{OPTION}: {str(neighbour.root)!r} has the name of {first!r}, {neighbour.name!r}"
                hint = "An agent has one skill of a name; leave one of them out."
                raise SuiteError(Problem("suite.duplicate-id", message, neighbour.origin("name"), hint=hint))
            by_name[neighbour.name] = neighbour
        return tuple(self._ref(root, neighbour) for root, neighbour in others.items())

    def _ref(self, root: Path, skill: Skill) -> SkillRef:
        if root not in self._refs:
            leaks = leaks_of(root, keep=self._keep)
            self._refs[root] = skill_ref(root, skill.name, leaks.paths, role=SkillRole.DISTRACTOR)
        return self._refs[root]
