"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `junit`."""
    yield Provider(
        name="junit",
        factory="skillgauge_reporter_junit.reporter:JunitReporter",
        summary="JUnit XML for continuous integration: a suite for each group, an error apart from a failure.",
    )
