"""The plugins under test: what the arm with them has, and the arm without them has not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import Arm, ArmKind, Install, Origin, SkillRef, Target
from skillgauge_skill_folders import SKILL_FILE, PluginParts, leaks_of, read_skill, skill_ref, skills_of

from .graders import Plugin
from .reading import Findings

WITH_PLUGIN, WITHOUT_PLUGIN = "with_plugin", "without_plugin"
WITH_SKILL, WITHOUT_SKILL = "with_skill", "without_skill"


@dataclass(frozen=True)
class Subject:
    """The plugin under test, with those that its cases want beside it."""

    root: Path
    plugin: Plugin
    version: str | None
    skills: tuple[SkillRef, ...]
    installs: tuple[Install, ...]

    @classmethod
    def of(cls, roots: tuple[Path, ...], evals: frozenset[Path], findings: Findings) -> Subject:
        """Read plugins, the one under test first.

        Args:
            roots: their folders.
            evals: folders of evals, which no agent may find.
            findings: receives what is wrong.
        """
        parts = [PluginParts(root, evals) for root in roots]
        skills = {ref.name: ref for root in roots for ref in _skills(root, evals)}
        installs = tuple(install for one in parts for install in one.installs())
        for plugin_parts in parts:
            findings.problems += plugin_parts.problems
            for message, origin in plugin_parts.left_out:
                findings.tell(message, origin)
        if not skills and not installs:
            hint = "Add skills/NAME/SKILL.md, or another part of a plugin."
            findings.refuse("the plugin holds nothing that could be evaluated", Origin(str(roots[0])), hint)
        plugin = Plugin(parts[0].name, tuple(skills))
        return cls(roots[0], plugin, parts[0].version, tuple(skills.values()), installs)

    @property
    def is_skill(self) -> bool:
        """True for a skill that is no plugin."""
        return (self.root / SKILL_FILE).is_file() and not self.installs and len(self.skills) == 1

    @property
    def name(self) -> str:
        """The name of the suite."""
        return self.skills[0].name if self.is_skill else self.plugin.name

    @property
    def arms(self) -> tuple[Arm, Arm]:
        """The arm with everything, and the one with nothing."""
        names = (WITH_SKILL, WITHOUT_SKILL) if self.is_skill else (WITH_PLUGIN, WITHOUT_PLUGIN)
        candidate = Arm(name=names[0], kind=ArmKind.AGENT, skills=self.skills, installs=self.installs)
        return candidate, Arm(name=names[1], kind=ArmKind.AGENT)

    @property
    def target(self) -> Target:
        """The skill, or the plugin as a whole where it has several."""
        if len(self.skills) == 1:
            return read_skill(Path(self.skills[0].root)).target()
        origin = Origin(str(self.root))
        name = self.plugin.name
        return Target(id=name, name=name, version=self.version, root=str(self.root), origin=origin)


def _skills(root: Path, evals: frozenset[Path]) -> Iterator[SkillRef]:
    """Yield the skills of a plugin, without what hidden folders hold for the plugin's own authors."""
    own = [root] if (root / SKILL_FILE).is_file() else []
    here = root.resolve()
    inner = [one for one in skills_of(root) if not _is_hidden(one.resolve(), here)]
    for folder in dict.fromkeys((*own, *inner)):
        place = folder.resolve()
        also = [one.resolve().relative_to(place).as_posix() for one in evals if one.resolve().is_relative_to(place)]
        yield skill_ref(folder, read_skill(folder).name, leaks_of(folder, also=also).paths)


def _is_hidden(folder: Path, root: Path) -> bool:
    return folder.is_relative_to(root) and any(part.startswith(".") for part in folder.relative_to(root).parts)
