"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `uaaps`."""
    yield Provider(
        name="uaaps",
        factory="skillgauge_format_uaaps.reporter:UaapsReporter",
        summary="The JSON report of UAAPS evals, with where every part of it comes from.",
    )
