"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter

from .options import AgentversionOptions


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `agentversion`."""
    yield Provider(
        name="agentversion",
        options=AgentversionOptions,
        factory="skillgauge_reporter_agentversion.reporter:AgentversionReporter",
        summary="A gate for evaluation.gates of an agentversion manifest.",
    )
