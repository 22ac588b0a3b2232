"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, format_of, hookimpl

from .options import TesslOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `tessl`."""
    yield Provider(
        name="tessl",
        options=TesslOptions,
        factory=format_of(
            claim="skillgauge_format_tessl.claiming:claim",
            load="skillgauge_format_tessl.loading:load",
            dump="skillgauge_format_tessl.dumping:dump",
            figures="skillgauge_format_tessl.figures:figures",
        ),
        summary="evals/ of Tessl: scenarios with task.md and a checklist with points in criteria.json.",
    )
