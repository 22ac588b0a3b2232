"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, format_of, hookimpl

from .options import SkillevaluationOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `skillevaluation`."""
    yield Provider(
        name="skillevaluation",
        options=SkillevaluationOptions,
        factory=format_of(
            claim="skillgauge_format_skillevaluation.claiming:claim",
            load="skillgauge_format_skillevaluation.loading:load",
            dump="skillgauge_format_skillevaluation.dumping:dump",
            figures="skillgauge_format_skillevaluation.figures:figures",
        ),
        summary="eval.yaml beside SKILL.md: cases with and without the skill, graded by commands and a judge.",
        schemas="skillgauge_format_skillevaluation.schemas:schemas",
    )
