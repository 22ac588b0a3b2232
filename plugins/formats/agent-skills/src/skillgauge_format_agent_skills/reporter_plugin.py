"""Announces the reporter of the format's own document; what it does is in `results.reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `agent-skills`."""
    yield Provider(
        name="agent-skills",
        factory="skillgauge_format_agent_skills.results.reporter:AgentSkillsReporter",
        summary="benchmark.json of skill-creator: every run with its expectations, and both configurations compared.",
    )
