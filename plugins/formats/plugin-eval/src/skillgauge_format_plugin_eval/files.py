"""The keys of prompt.md, case.yaml and graders. Types are exact, as they are in the program."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import Json

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Names = tuple[Text, ...]
_VERSION = r"^1\.\d+$"


class Part(BaseModel):
    """Something in one of the files; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Tolerant(BaseModel):
    """Something in case.yaml, where the program drops unknown keys in silence; here they are told."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


class _Session(BaseModel):
    """Keys that bound and equip a session."""

    max_turns: Annotated[int, Field(ge=1, le=200)] | None = None
    timeout_seconds: Annotated[int, Field(ge=1, le=3600)] | None = None
    model: Text | None = None
    append_system_prompt: Text | None = None
    allowed_tools: Names | None = None
    disallowed_tools: Names | None = None
    env: dict[str, str] | None = None
    artifact_publish: Json = None
    growthbook_overrides: Json = None


class _About(BaseModel):
    """Keys that describe a case."""

    description: str | None = None
    expected_outcome: str | None = None
    tags: Names | None = None
    plugins: Names | None = None
    runs: Annotated[int, Field(ge=1, le=50)] | None = None


class PromptHead(Part, _About, _Session):
    """Front matter of prompt.md."""

    schema_version: Annotated[str, Field(pattern=_VERSION)] | None = None
    name: Text | None = None


class ExecutionPart(Tolerant, _Session):
    """`execution` of case.yaml."""

    prompt: str | None = None


class ContextPart(Tolerant):
    """`context` of case.yaml."""

    scaffold_script: Text | None = None
    history_file: Text | None = None
    add_dirs: Names | None = None


class CaseFile(Tolerant, _About):
    """case.yaml."""

    schema_version: Annotated[str, Field(pattern=_VERSION)]
    name: Text
    execution: ExecutionPart = ExecutionPart()
    context: ContextPart = ContextPart()
    graders: tuple[dict[str, Json], ...] = ()


class FileTarget(Part):
    """A file of the workspace, as what is looked at."""

    source: Literal["file"]
    path: Text


Target = Literal["last_message", "trace", "files", "mock_calls"] | FileTarget


class Grader(Part):
    """Keys of every grader."""

    type: Text
    name: Text | None = None
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    arm: Literal["with-only", "both"] | None = None


class RegexGrader(Grader):
    """`regex`."""

    pattern: Annotated[str, Field(min_length=1)]
    flags: str = ""
    target: Target = "last_message"
    match: Annotated[str, Field(pattern=r"^(contains|not_contains|count:\d+)$")] = "contains"


class ToolUsedGrader(Grader):
    """`tool_used`."""

    tool: Text
    input_match: str | None = None
    min: Annotated[int, Field(ge=0)] = 1
    max: Annotated[int, Field(ge=0)] | None = None


class ToolCall(Part):
    """One side of `tool_order`."""

    tool: Text
    input_match: str | None = None


class ToolOrderGrader(Grader):
    """`tool_order`."""

    before: Text | ToolCall
    after: Text | ToolCall


class FileExistsGrader(Grader):
    """`file_exists`."""

    path: Text
    exists: bool = True


class LlmGrader(Grader):
    """`llm`."""

    criteria: Text
    focus: Target = "last_message"


class BaselineGrader(Grader):
    """`baseline`."""

    baseline_file: Text
    criteria: Text | None = None


GRADERS: dict[str, type[Grader]] = {
    "regex": RegexGrader,
    "tool_used": ToolUsedGrader,
    "tool_order": ToolOrderGrader,
    "file_exists": FileExistsGrader,
    "llm": LlmGrader,
    "baseline": BaselineGrader,
}
BODIES = {"regex": "pattern", "llm": "criteria", "baseline": "criteria"}
"""The key that the text of a grader's file stands for."""
