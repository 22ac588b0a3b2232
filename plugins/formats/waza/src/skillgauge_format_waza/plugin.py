"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, format_of, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `waza`."""
    yield Provider(
        name="waza",
        options=NoOptions,
        factory=format_of(
            claim="skillgauge_format_waza.claiming:claim",
            load="skillgauge_format_waza.loading:load",
            dump="skillgauge_format_waza.dumping:dump",
        ),
        summary="eval.yaml of waza: tasks in files of their own, graders for the suite and for each task.",
    )
