"""Announces the reporter; what it does is in `reporter`."""

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `csv`."""
    yield Provider(
        name="csv",
        factory="skillgauge_reporter_csv.reporter:CsvReporter",
        summary="One row per group, for spreadsheets.",
    )
