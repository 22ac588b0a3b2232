"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, format_of, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `skillgrade`."""
    yield Provider(
        name="skillgrade",
        options=NoOptions,
        factory=format_of(
            claim="skillgauge_format_skillgrade.claiming:claim",
            load="skillgauge_format_skillgrade.loading:load",
            dump="skillgauge_format_skillgrade.dumping:dump",
        ),
        summary="eval.yaml of skillgrade: tasks with graders that print a score, and rubrics.",
    )
