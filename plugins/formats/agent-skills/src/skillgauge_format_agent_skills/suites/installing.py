"""The facts about the installation of a skill that a user must know."""

from __future__ import annotations

from skillgauge.api import Problem, Severity
from skillgauge_skill_folders import Leaks, Skill


def leak_warnings(leaks: Leaks, skill: Skill) -> list[Problem]:
    """Warn of withheld files that a reader might not expect; that `evals/` is not installed goes without saying."""
    unusual = [path for path in leaks.always if path in ("tests",)]
    files = [*unusual, *leaks.of_validators]
    if not files:
        return []
    message = f"not installed for the agent, because it would give answers away: {', '.join(files)}"
    hint = "To install some of it all the same: --set formats.agent-skills.keep=[GLOB]"
    return [Problem("suite.left-out", message, origin=skill.origin(), hint=hint, severity=Severity.WARNING)]
