"""Names that tell skills of several plugins apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from skillgauge_skill_folders import Skill, plugin_around


def prefixes(skills: Sequence[Skill]) -> dict[Path, str]:
    """For each skill, by its folder, what stands before the names of its suites: `plugin:` where its name is not alone.

    Empty for a name that no other skill has, and for a skill outside of plugins.
    """
    counts = Counter(skill.name for skill in skills)
    plugins = {skill.root: plugin_around(skill.root) if counts[skill.name] > 1 else None for skill in skills}
    return {root: f"{plugin}:" if plugin else "" for root, plugin in plugins.items()}
