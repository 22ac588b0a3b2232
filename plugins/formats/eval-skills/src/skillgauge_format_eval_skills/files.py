"""The keys of the files of eval-skills. Keys that it does not define are kept: it is not our format."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from skillgauge.api import FrozenDict, Json, JsonObject


class _File(BaseModel):
    """Keys are written in camel case, types are exact, and what is unknown is kept."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", alias_generator=to_camel, defer_build=True)


class SkillFile(_File):
    """`skill.json`."""

    id: str = Field(pattern=r"^[a-z0-9_-]+$")
    name: str = Field(min_length=1)
    version: str = Field(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")
    description: str
    tags: tuple[str, ...] = ()
    input_schema: JsonObject = Field(default_factory=FrozenDict)
    output_schema: JsonObject = Field(default_factory=FrozenDict)
    adapter_type: str = Field(min_length=1)
    entrypoint: str = Field(min_length=1)
    metadata: JsonObject = Field(default_factory=FrozenDict)


class OpenAdapterConfig(_File):
    """`adapter.config.json` of an adapter that is not one of eval-skills' own, and may have keys of its own."""

    type: str | None = None
    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    timeout_ms: float | None = Field(default=None, gt=0)
    retries: int | None = Field(default=None, ge=0)
    base_url: str | None = None
    auth_type: Literal["none", "bearer", "api-key"] | None = None
    auth_token_env_key: str | None = Field(default=None, min_length=1)
    headers: JsonObject = Field(default_factory=FrozenDict)
    tool_name: str | None = None
    transport: str | None = None
    mode: str | None = None
    pass_env: tuple[str, ...] = Field(default=(), validation_alias="pass_env", serialization_alias="pass_env")


class AdapterConfig(OpenAdapterConfig):
    """`adapter.config.json` of `http`, `subprocess` and `mcp`: settings take effect, so a misspelt one is an error."""

    model_config = ConfigDict(extra="forbid")

    worker: bool = False


class TaskFile(_File):
    """One task. Its `expectedOutput` means what its scorer makes of it."""

    id: str = Field(min_length=1)
    description: str = ""
    prompt: str | None = None
    input_data: JsonObject | None = None
    expected_output: JsonObject | None = None
    evaluator: JsonObject | None = None
    timeout_ms: float | None = Field(default=None, gt=0)
    tags: tuple[str, ...] = ()
    cluster: str = ""
    weight: float = Field(default=1.0, ge=0)


class BenchmarkFile(_File):
    """`benchmark.json`."""

    id: str = Field(min_length=1)
    name: str = ""
    version: str | None = None
    description: str = ""
    domain: str | None = None
    scoring_method: Literal["mean", "weighted_mean", "pass_at_k"] = "mean"
    max_latency_ms: float | None = Field(default=None, gt=0)
    metadata: JsonObject = Field(default_factory=FrozenDict)
    tasks: tuple[TaskFile, ...]


class ExpectedFile(_File):
    """`expectedOutput` for the scorers of eval-skills."""

    type: str | None = None
    value: Json = None
    json_schema: JsonObject | None = Field(default=None, validation_alias="schema")
    keywords: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    judge_prompt: str | None = Field(default=None, validation_alias=AliasChoices("judgePrompt", "criteria"))
    custom_scorer_path: str | None = Field(default=None, min_length=1)
    case_sensitive: bool | None = None


class EvaluatorFile(_File):
    """`evaluator`."""

    type: str | None = Field(default=None, min_length=1)
    case_sensitive: bool | None = None
    custom_scorer_path: str | None = Field(default=None, min_length=1)
    options: JsonObject = Field(default_factory=FrozenDict)
    """Further options of a scorer that eval-skills knows, by the names that the scorer gives them."""


def number(value: float) -> float | int:
    """Whole numbers without a fraction, as JavaScript writes them."""
    return int(value) if value == int(value) else value


@cache
def keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Every key that a model of this module knows, as files spell it."""
    keys: list[str] = []
    for info in model.model_fields.values():
        alias = info.validation_alias
        spellings = alias.choices if isinstance(alias, AliasChoices) else [alias]
        keys += [spelling for spelling in spellings if isinstance(spelling, str)]
    return tuple(keys)


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the files, for `skillgauge schema`."""
    return {
        "eval-skills-skill": SkillFile.model_json_schema(),
        "eval-skills-benchmark": BenchmarkFile.model_json_schema(),
    }
