"""The plugin that a skill belongs to: installed whole in every arm if the user wants it, and told of if not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from skillgauge.api import Install, Loaded, Origin, Problem, Severity, SkillRef, SkillRole, Suite, SuiteError
from skillgauge_skill_folders import PluginParts, leaks_of, manifest_of, read_skill, skill_ref, skills_of

OPTION = "--with-plugin"
_AROUND = 4
"""Folders around a skill in which its plugin may be."""


def with_plugins(loaded: Loaded, *, installed: bool) -> Loaded:
    """Add to the arms of suites what the plugins of their skills have beside the skill under test.

    Args:
        loaded: the suites.
        installed: whether it is added; otherwise one of the suites of a plugin tells what is left out.

    Raises:
        SuiteError: a plugin cannot be read; with everything that is wrong with all of them.
    """
    plugins: dict[Path, _Beside] = {}
    mentioned: set[Path] = set()
    suites = []
    for suite in loaded.suites:
        root = _plugin_around(Path(suite.root))
        if root is None:
            suites.append(suite)
            continue
        beside = plugins.setdefault(root, _Beside(root))
        if installed:
            suites.append(beside.installed_in(suite))
        else:
            suites.append(suite if root in mentioned else beside.told_by(suite))
            mentioned.add(root)
    SuiteError.raise_for([problem for one in plugins.values() for problem in one.problems] if installed else [])
    return Loaded(tuple(suites), loaded.problems)


def _plugin_around(skill: Path) -> Path | None:
    return next((one for one in (skill, *skill.parents[:_AROUND]) if manifest_of(one) is not None), None)


class _Beside:
    """The parts of one plugin."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._installs: tuple[Install, ...] | None = None
        self.problems: list[Problem] = []
        """What is wrong with it, once it is installed."""

    def _sisters(self, suite: Suite) -> tuple[SkillRef, ...]:
        """Return the other skills of the plugin."""
        own = Path(suite.root).resolve()
        present = {skill.name for arm in suite.arms for skill in arm.skills}
        sisters = []
        for folder in skills_of(self._root):
            name = read_skill(folder).name
            if folder.resolve() != own and name not in present:
                sisters.append(skill_ref(folder, name, leaks_of(folder).paths, role=SkillRole.DISTRACTOR))
        return tuple(sisters)

    def installed_in(self, suite: Suite) -> Suite:
        """Return a suite whose arms have everything of the plugin but the skill under test, where they lack it."""
        if self._installs is None:
            parts = PluginParts(self._root, (folder for folder in self._root.rglob("evals") if folder.is_dir()))
            self._installs, self.problems = parts.installs(), parts.problems
        sisters, installs = self._sisters(suite), self._installs
        arms = tuple(
            arm.model_copy(update={"skills": (*arm.skills, *sisters), "installs": (*arm.installs, *installs)})
            for arm in suite.arms
        )
        return suite.model_copy(update={"arms": arms})

    def told_by(self, suite: Suite) -> Suite:
        """Return a suite that tells which parts of the plugin its arms lack, if these are more than skills."""
        parts = PluginParts(self._root)
        counts = Counter(install.kind for install in parts.installs(with_files=False))
        words = [_counted(kind, count) for kind, count in sorted(counts.items())]
        if not words:
            return suite
        if sisters := self._sisters(suite):
            words.append(f"{len(sisters)} more skills" if len(sisters) > 1 else "another skill")
        message = f"plugin {parts.name!r} has more, which is not installed: {', '.join(words)}"
        hint = f"Give {OPTION} to install it in every arm."
        notice = Problem("suite.plugin-parts", message, Origin(str(self._root)), hint=hint, severity=Severity.WARNING)
        return suite.model_copy(update={"warnings": (*suite.warnings, notice)})


def _counted(kind: str, count: int) -> str:
    if kind in ("hooks", "servers"):
        return kind
    return f"{count} {kind}{'s' if count > 1 else ''}"
