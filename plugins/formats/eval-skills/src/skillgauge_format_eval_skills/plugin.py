"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, hookimpl

from .options import EvalSkillsOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `eval-skills`."""
    yield Provider(
        name="eval-skills",
        options=EvalSkillsOptions,
        factory="skillgauge_format_eval_skills.suite_format:EvalSkillsFormat",
        summary="Skills (skill.json) on benchmarks of tasks, as eval-skills has them.",
        schemas="skillgauge_format_eval_skills.files:schemas",
    )
