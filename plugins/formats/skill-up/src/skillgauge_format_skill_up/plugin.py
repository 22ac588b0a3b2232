"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, format_of, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `skill-up`."""
    yield Provider(
        name="skill-up",
        options=NoOptions,
        factory=format_of(
            claim="skillgauge_format_skill_up.claiming:claim",
            load="skillgauge_format_skill_up.loading:load",
            dump="skillgauge_format_skill_up.dumping:dump",
        ),
        summary="eval.yaml of skill-up: cases in files of their own, checked by rules, scripts and judges.",
    )
