"""What may stand in files of evals and trigger sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from skillgauge.api import Json, JsonObject


class _Part(BaseModel):
    """Types are exact; unknown keys are kept."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be text or a whole number")
    return value


class EvalFile(_Part):
    """One of `evals`."""

    id: Annotated[int | str, BeforeValidator(_no_bool)] | None = None
    name: str | None = None
    description: str | None = None
    prompt: Annotated[str, Field(min_length=1)]
    expected_output: Json = None
    files: tuple[str, ...] = ()
    expectations: tuple[Json, ...] = ()
    assertions: tuple[Json, ...] = ()
    expected_skill: str | None = None
    acceptable_skills: tuple[str, ...] = ()
    should_trigger: bool | None = None
    tags: tuple[str, ...] = ()
    cluster: str = ""


class EvalsFile(_Part):
    """The object with `evals`."""

    skill_name: str | None = None
    evals: tuple[EvalFile, ...]


class QueryFile(_Part):
    """One query of a trigger set."""

    id: Annotated[int | str, BeforeValidator(_no_bool)] | None = None
    query: Annotated[str, Field(min_length=1)]
    should_trigger: bool
    expected_skill: str | None = None
    """The skill that the query belongs to, if it is another one."""
    acceptable_skills: tuple[str, ...] = ()
    split: str = ""
    """The part of the set that it belongs to: `train`, `validation`."""
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    """The share of its sessions in which the skill has to fire, or may not reach."""
    reason: str = ""


OTHER_NAMES = {
    "query": "prompt",
    "input": "prompt",
    "question": "prompt",
    "task": "prompt",
    "expected": "expected_output",
    "expected_behavior": "expected_output",
    "expectedOutput": "expected_output",
    "ground_truth": "expected_output",
}
"""Keys of evals that are read under another name where that is absent."""


def keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Keys that a part of a file may have."""
    return tuple(model.model_fields)


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the files, for `skillgauge schema`."""
    return {"agent-skills-evals": EvalsFile.model_json_schema()}
