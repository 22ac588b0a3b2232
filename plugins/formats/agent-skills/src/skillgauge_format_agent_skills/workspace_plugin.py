"""Announces the reporter of skill-creator's workspace; what it does is in `results.workspace`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `skill-creator`."""
    yield Provider(
        name="skill-creator",
        factory="skillgauge_format_agent_skills.results.workspace:WorkspaceReporter",
        summary="A workspace of skill-creator: grading, timing and outputs of every run, for its own programs.",
    )
