"""The keys of an eval file and of `.vally.yaml`.

Types are exact. Further keys are let through, as in Vally, but for graders, where a key that is not read would be lost.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import Json, JsonObject

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Texts = tuple[Text, ...]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Scalar = str | bool | int | float
Duration = str | int | float


class Part(BaseModel):
    """Something in a file that may have further keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


class StrictPart(BaseModel):
    """Something in a file that has these keys and no others."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class CopyFile(Part):
    """One of `files` of an environment."""

    src: Text
    dest: Text


class EnvironmentFile(Part):
    """The surroundings of a session, or of graders."""

    files: tuple[CopyFile, ...] = ()
    commands: Texts | Text = ()
    skills: Texts | None = None
    git: Json = None
    mcp_servers: dict[str, JsonObject] = Field(default_factory=dict, alias="mcpServers")
    env: dict[str, Scalar] = Field(default_factory=dict)


class ServerFile(Part):
    """One of `mcpServers`."""

    command: Text | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    url: Text | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    type: str | None = None
    tools: Json = None


class ConstraintsFile(Part):
    """`constraints` of a stimulus."""

    expect_tools: Texts = ()
    reject_tools: Texts = ()
    expect_skills: Texts = ()
    reject_skills: Texts = ()
    max_turns: Count | None = None
    max_tokens: Count | None = None


class TurnFile(Part):
    """One of `turns` that is no text."""

    prompt: Text


class GraderFile(StrictPart):
    """One of `graders`."""

    type: Text
    name: Text | None = None
    config: JsonObject | None = None
    turn: int | None = None


class StimulusFile(Part):
    """One of `stimuli`, whose parts are looked at one by one."""

    name: Text
    description: str = ""
    prompt: Text | None = None
    turns: tuple[JsonObject | Text, ...] | None = None
    graders: tuple[JsonObject, ...] = ()
    rubric: Texts = ()
    environment: JsonObject | Text | None = None
    agent_environment: JsonObject | Text | None = None
    grading_environment: JsonObject | Text | None = None
    constraints: JsonObject | None = None
    tags: JsonObject | tuple[str, ...] | None = None
    expect_activation: bool | None = None


class DefaultsFile(Part):
    """`defaults`, which older files call `config`."""

    timeout: Duration | None = None
    runs: Annotated[int, Field(ge=0)] | None = None
    model: Text | None = None
    judge_model: Text | None = None
    executor: Json = None


class ScoringFile(Part):
    """`scoring`."""

    threshold: Share | None = None
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(default_factory=dict)


class EvalFile(Part):
    """The whole file."""

    name: Text | None = None
    description: str = ""
    version: str | int | float | None = None
    type: str | None = None
    tags: JsonObject | tuple[str, ...] | None = None
    config: JsonObject | None = None
    defaults: JsonObject | None = None
    environment: JsonObject | Text | None = None
    agent_environment: JsonObject | Text | None = None
    grading_environment: JsonObject | Text | None = None
    scoring: JsonObject | None = None
    stimuli: Annotated[tuple[JsonObject, ...], Field(min_length=1)]


class SettingsPart(BaseModel):
    """Something in `.vally.yaml`, most of which is about runs and not about suites."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class PathsFile(SettingsPart):
    """`paths` of `.vally.yaml`."""

    skills: Texts | Text = ()


class SettingsFile(SettingsPart):
    """The parts of `.vally.yaml` that matter to a suite."""

    paths: PathsFile = PathsFile()
    environments: dict[str, JsonObject] = Field(default_factory=dict)
