"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `gepa`."""
    yield Provider(
        name="gepa",
        factory="skillgauge_reporter_gepa.reporter:GepaReporter",
        summary="Traces, scores and a reflective dataset of each skill, to evolve its text with GEPA.",
    )
