"""Announces the reporter of the format's own document; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Reporter, hookimpl


def _make(_options: BaseModel) -> Reporter:
    from .reporter import AgentSkillsReporter  # noqa: PLC0415 - announcing stays cheap

    return AgentSkillsReporter()


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `agent-skills`."""
    yield Provider(
        name="agent-skills",
        factory=_make,
        summary="benchmark.json of skill-creator: every run with its expectations, and both configurations compared.",
    )
