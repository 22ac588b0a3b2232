"""The keys of eval.yaml and of task files.

Types are exact and unknown keys are errors: what is not read here would be lost.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import Json, JsonObject

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Part(BaseModel):
    """Something in one of the files."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class GraderFile(Part):
    """One of `graders`, of the suite or of a task."""

    name: Text
    type: Text
    config: JsonObject | None = None
    assertions: tuple[Text, ...] | None = None
    rubric: Text | None = None
    model: Text | None = None
    script: Text | None = None
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class ResourceFile(Part):
    """One of `files` of a task."""

    path: Text
    content: str | None = None


class ResponderFile(Part):
    """`inputs.responder` of a task."""

    instructions: Text
    max_followups: Annotated[int, Field(ge=1)] | None = None
    model: Text | None = None


class InputsFile(Part):
    """`inputs` of a task."""

    prompt: Text
    follow_up_prompts: tuple[Text, ...] = ()
    responder: ResponderFile | None = None
    context: JsonObject | None = None
    files: tuple[ResourceFile, ...] = ()
    environment: dict[str, str] = {}


class BehaviorFile(Part):
    """`expected.behavior`."""

    max_tool_calls: Count | None = None
    max_iterations: Count | None = None
    max_tokens: Count | None = None
    max_response_time_ms: Count | None = None
    required_tools: tuple[Text, ...] = ()
    forbidden_tools: tuple[Text, ...] = ()


class ExpectedFile(Part):
    """`expected` of a task."""

    outcomes: Json = None
    tool_calls: JsonObject | None = None
    behavior: BehaviorFile | None = None
    output_contains: tuple[Text, ...] = ()
    output_contains_any: tuple[Text, ...] = ()
    output_not_contains: tuple[Text, ...] = ()
    should_trigger: bool | None = None


class TaskFile(Part):
    """A task file."""

    id: Text
    name: Text
    description: str = ""
    enabled: bool = True
    context_dir: Text | None = None
    timeout_seconds: Count | None = None
    tags: tuple[str, ...] = ()
    inputs: InputsFile
    expected: ExpectedFile = ExpectedFile()
    graders: tuple[GraderFile, ...] = ()


class MetricFile(Part):
    """One of `metrics`."""

    name: Text
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    threshold: Share
    description: str | None = None
    enabled: bool | None = None


class ConfigFile(Part):
    """`config`."""

    trials_per_task: Count = 1
    timeout_seconds: Count = 300
    parallel: bool | None = None
    max_workers: Count | None = None
    fail_fast: bool | None = None
    executor: Literal["copilot-sdk", "mock"] | None = None
    model: Text | None = None
    judge_model: Text | None = None
    max_attempts: Count | None = None
    group_by: str | None = None
    skill_directories: tuple[Text, ...] = ()
    required_skills: tuple[Text, ...] = ()
    mcp_servers: JsonObject | None = None


class MockResponseFile(Part):
    """One answer of a tool that is mocked."""

    match: JsonObject | None = None
    """The whole input that it answers."""
    match_regex: dict[str, str] | None = None
    """Patterns for values of the input."""
    match_schema: JsonObject | None = None
    return_: Annotated[Json, Field(alias="return")] = None
    error: str | None = None


class MockToolFile(Part):
    """A tool that is mocked."""

    description: str = ""
    input_schema: JsonObject | None = None
    responses: tuple[MockResponseFile, ...] = ()


class MockFile(Part):
    """One of `mcp_mocks`: a server that answers from the file."""

    name: Text
    tools: dict[str, MockToolFile]


class EvalFile(Part):
    """The whole eval.yaml."""

    name: Text
    description: str = ""
    skill: Text
    version: Text | None = None
    config: ConfigFile
    hooks: JsonObject | None = None
    mcp_mocks: tuple[MockFile, ...] = ()
    inputs: dict[str, str] | None = None
    tasks_from: Text | None = None
    range: tuple[int, int] | None = None
    graders: tuple[GraderFile, ...] = ()
    metrics: tuple[MetricFile, ...] = ()
    tasks: tuple[Text, ...] = ()
    baseline: bool = False
