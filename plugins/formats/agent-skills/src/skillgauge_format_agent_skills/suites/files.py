"""The keys that files of evals and trigger sets may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from skillgauge.api import Json, JsonObject


class _Part(BaseModel):
    """Types are exact; unknown keys are kept."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be text or a whole number")
    return _no_nul(value)


def _no_nul(value: object) -> object:
    """No program can be handed a text with NUL."""
    if isinstance(value, str) and "\0" in value:
        raise ValueError("has a NUL character, which no program can be given")
    return value


class InlineFile(_Part):
    """An input file whose content stands in the eval."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    path: Annotated[str, Field(min_length=1, validation_alias=AliasChoices("path", "name", "filename"))]
    content: Annotated[str | None, Field(validation_alias=AliasChoices("content", "text"))] = None
    source: Annotated[str | None, Field(min_length=1)] = None
    """Where the file lies, if it has another path in the workspace."""

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if (self.content is None) is (self.source is None):
            raise ValueError("exactly one of content and source must be given")
        return self


class EvalFile(_Part):
    """One of `evals`."""

    id: Annotated[int | str, BeforeValidator(_no_bool)] | None = None
    name: str | None = None
    description: str | None = None
    prompt: Annotated[str, Field(min_length=1), BeforeValidator(_no_nul)]
    expected_output: Json = None
    files: tuple[str | InlineFile, ...] = ()
    expectations: tuple[Json, ...] = ()
    assertions: tuple[Json, ...] = ()
    expected_skill: str | None = None
    acceptable_skills: tuple[str, ...] = ()
    should_trigger: bool | None = None
    tags: tuple[str, ...] = ()
    draft: bool = False
    """Whether an agent has written it and no author has accepted it yet; it runs all the same."""
    cluster: str = ""
    prompt_baseline: Annotated[str, Field(min_length=1)] | None = None
    weight: Annotated[float, Field(ge=0)] = 1.0
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    max_turns: Annotated[int, Field(ge=1)] | None = None
    mcp_servers: Json = None
    """Servers that the agent is given, in both arms: name to `command`, `url` or `mock`."""
    setup_commands: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Of `setup`: shell commands run in the workspace beforehand."""
    copy_test_files: bool = False
    """Of `setup`: whether all that lies beside the suite is input."""


class EvalsFile(_Part):
    """The object with `evals`."""

    skill_name: str | None = None
    skill_path: str | None = None
    """Folder or SKILL.md of the skill, from the folder of the file or one around it in the repository."""
    evals: tuple[EvalFile, ...]
    mcp_servers: Json = None
    """Servers of every eval, besides its own."""


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


def keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Keys that a part of a file may have."""
    return tuple(model.model_fields)


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the files, for `skillgauge schema`."""
    return {"agent-skills-evals": EvalsFile.model_json_schema()}
