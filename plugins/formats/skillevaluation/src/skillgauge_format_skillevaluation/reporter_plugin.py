"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `skillevaluation`."""
    yield Provider(
        name="skillevaluation",
        factory="skillgauge_format_skillevaluation.reporter:SkillevaluationReporter",
        summary="results.json of skillevaluation, for suites that compare two arms.",
    )
