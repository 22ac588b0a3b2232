"""Announces the reporter of the format's own document; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `benchflow`."""
    yield Provider(
        name="benchflow",
        factory="skillgauge_format_benchflow.reporter:BenchflowReporter",
        summary="Lift of the reward by agent and model, with and without the skill, and every case.",
    )
