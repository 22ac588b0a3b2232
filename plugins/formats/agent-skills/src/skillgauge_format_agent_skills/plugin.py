"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from skillgauge.api import JsonObject, Provider, SuiteFormat, hookimpl

from .options import AgentSkillsOptions


def _make(options: BaseModel) -> SuiteFormat:
    from .suite_format import AgentSkillsFormat  # noqa: PLC0415 - announcing stays cheap

    return AgentSkillsFormat(AgentSkillsOptions.model_validate(options))


def _schemas() -> Mapping[str, JsonObject]:
    from .files import EvalsFile  # noqa: PLC0415 - announcing stays cheap

    return {"agent-skills-evals": EvalsFile.model_json_schema()}


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `agent-skills`."""
    yield Provider(
        name="agent-skills",
        options=AgentSkillsOptions,
        factory=_make,
        summary="evals/evals.json beside SKILL.md, as skill-creator and agentskills.io have it, and trigger sets.",
        schemas=_schemas,
    )
