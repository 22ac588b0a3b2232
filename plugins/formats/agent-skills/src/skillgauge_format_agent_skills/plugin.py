"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, hookimpl

from .options import AgentSkillsOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `agent-skills`."""
    yield Provider(
        name="agent-skills",
        options=AgentSkillsOptions,
        factory="skillgauge_format_agent_skills.suite_format:AgentSkillsFormat",
        summary="evals/evals.json beside SKILL.md, as skill-creator and agentskills.io have it, and trigger sets.",
        uses="shapes",
        schemas="skillgauge_format_agent_skills.suites.files:schemas",
    )
