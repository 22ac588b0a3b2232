"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, format_of, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `acme-cases`."""
    yield Provider(
        name="acme-cases",
        factory=format_of(
            claim="acme_cases.claiming:claim",
            load="acme_cases.loading:load",
            dump="acme_cases.dumping:dump",
        ),
        summary="Cases of a skill in a spreadsheet that was saved as CSV.",
    )
