"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, format_of, hookimpl

from .options import EvalSkillsOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `eval-skills`."""
    yield Provider(
        name="eval-skills",
        options=EvalSkillsOptions,
        factory=format_of(
            claim="skillgauge_format_eval_skills.claiming:claim",
            load="skillgauge_format_eval_skills.loading:load",
            dump="skillgauge_format_eval_skills.dumping:dump",
            figures="skillgauge_format_eval_skills.figures:suite_figures",
        ),
        summary="Skills (skill.json) on benchmarks of tasks, as eval-skills has them.",
        schemas="skillgauge_format_eval_skills.files:schemas",
    )
