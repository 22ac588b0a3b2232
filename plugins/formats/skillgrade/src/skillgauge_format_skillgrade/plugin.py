"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `skillgrade`."""
    yield Provider(
        name="skillgrade",
        options=NoOptions,
        factory="skillgauge_format_skillgrade.suite_format:SkillgradeFormat",
        summary="eval.yaml of skillgrade: tasks with graders that print a score, and rubrics.",
    )
