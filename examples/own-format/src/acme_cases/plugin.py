"""Announces the format; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `acme-cases`."""
    yield Provider(
        name="acme-cases",
        factory="acme_cases.suite_format:AcmeCases",
        summary="Cases of a skill in a spreadsheet that was saved as CSV.",
    )
