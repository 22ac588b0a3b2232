"""Announces the reporter; what it does is in `reporter`."""

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, Reporter, hookimpl


def _make(_options: NoOptions) -> Reporter:
    from .reporter import CsvReporter  # noqa: PLC0415 - announcing stays cheap

    return CsvReporter()


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `csv`."""
    yield Provider(name="csv", factory=_make, summary="One row per group, for spreadsheets.")
