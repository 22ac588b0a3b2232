"""Announces the reporter; what it does is in `reporter`."""

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter

from .options import CsvOptions


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `csv`."""
    yield Provider(
        name="csv",
        options=CsvOptions,
        factory="skillgauge_reporter_csv.reporter:CsvReporter",
        summary="One row per group, comparison, case, trial or check, for spreadsheets.",
    )
