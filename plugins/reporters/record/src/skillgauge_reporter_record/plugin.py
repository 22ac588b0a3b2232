"""Announces the reporter; what it does is in `reporter`."""

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `record`."""
    yield Provider(
        name="record",
        factory="skillgauge_reporter_record.reporter:RecordReporter",
        summary="Everything about a run, as one JSON document.",
        schemas="skillgauge_reporter_record.reporter:schemas",
    )
