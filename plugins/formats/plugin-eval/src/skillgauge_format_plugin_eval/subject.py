"""The plugins under test: what the arm with them has, and the arm without them has not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import Arm, ArmKind, Install, Origin, SkillRef, Target
from skillgauge_mcp_servers.names import SERVERS
from skillgauge_skill_folders import SKILL_FILE, PluginParts, leaks_of, read_skill, skill_ref, skills_of

from .graders import Plugin
from .mocks import MOCKS
from .options import OPTION
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
    def of(
        cls, roots: tuple[Path, ...], evals: frozenset[Path], findings: Findings, *, real_servers: bool = False
    ) -> Subject:
        """Read plugins, the one under test first.

        Args:
            roots: their folders.
            evals: folders of evals, which no agent may find.
            findings: receives what is wrong.
            real_servers: whether servers of the plugin are started where nothing answers in their place.
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
        if not real_servers:
            installs = tuple(_withheld(install, findings, roots[0]) for install in installs)
        plugin = Plugin(parts[0].name, tuple(skills))
        return cls(roots[0], plugin, parts[0].version, tuple(skills.values()), installs)

    @property
    def servers(self) -> tuple[str, ...]:
        """Names of the servers that the plugins declare."""
        return tuple(install.name for install in self.installs if install.kind == SERVERS)

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


def _withheld(install: Install, findings: Findings, root: Path) -> Install:
    """Return an install that starts no server of a plugin, as the program does unless it is told otherwise."""
    if install.kind != SERVERS:
        return install
    server = install.name.rpartition(":")[2]
    message = f"server {install.name!r} is started where nothing answers in its place only with {OPTION}"
    findings.tell(f"{message}; {MOCKS}/{server}/TOOL.md answers in its place", Origin(str(root)))
    return Install(kind=SERVERS, name=install.name, content={SERVERS: {}})


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
