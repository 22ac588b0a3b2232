"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, hookimpl

from .options import SkillevaluationOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `skillevaluation`."""
    yield Provider(
        name="skillevaluation",
        options=SkillevaluationOptions,
        factory="skillgauge_format_skillevaluation.suite_format:SkillevaluationFormat",
        summary="eval.yaml beside SKILL.md: cases with and without the skill, graded by commands and a judge.",
        schemas="skillgauge_format_skillevaluation.schemas:schemas",
    )
