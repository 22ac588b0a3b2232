"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from skillgauge.api import JsonObject, Provider, SuiteFormat, hookimpl

from .options import EvalSkillsOptions


def _make(options: BaseModel) -> SuiteFormat:
    from .suite_format import EvalSkillsFormat  # noqa: PLC0415 - announcing stays cheap

    return EvalSkillsFormat(EvalSkillsOptions.model_validate(options))


def _schemas() -> Mapping[str, JsonObject]:
    from .files import BenchmarkFile, SkillFile  # noqa: PLC0415 - announcing stays cheap

    return {
        "eval-skills-skill": SkillFile.model_json_schema(),
        "eval-skills-benchmark": BenchmarkFile.model_json_schema(),
    }


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `eval-skills`."""
    yield Provider(
        name="eval-skills",
        options=EvalSkillsOptions,
        factory=_make,
        summary="Skills (skill.json) on benchmarks of tasks, as eval-skills has them.",
        schemas=_schemas,
    )
