"""The keys of eval.yaml. Types are exact and unknown keys are errors: a part that is not read here would be lost.

Tasks alone may have further keys, since some are written for two tools: `assertions` beside `graders`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import JsonObject

TRIALS, TIMEOUT_S = 5, 300.0
Text = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class GraderFile(_Part):
    """One of `graders`."""

    type: Literal["deterministic", "llm_rubric"]
    setup: str | None = None
    run: Text | None = None
    rubric: Text | None = None
    model: Text | None = None
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0


class MappingFile(_Part):
    """One of `workspace`."""

    src: Text
    dest: Text
    chmod: str | None = None


class TaskFile(_Part):
    """One of `tasks`; what else it holds is in `model_extra`."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    name: Text
    instruction: Text
    workspace: tuple[Text | MappingFile, ...] = ()
    graders: Annotated[tuple[GraderFile, ...], Field(min_length=1)]
    solution: str | None = None
    agent: str | None = None
    provider: str | None = None
    trials: Annotated[int, Field(ge=1)] | None = None
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    grader_model: Text | None = None
    docker: JsonObject | None = None
    environment: JsonObject | None = None


class DefaultsFile(_Part):
    """`defaults`."""

    agent: str | None = None
    provider: str | None = None
    trials: Annotated[int, Field(ge=1, le=1000)] = TRIALS
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = TIMEOUT_S
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    grader_model: Text | None = None
    acp: JsonObject | None = None
    docker: JsonObject | None = None
    environment: JsonObject | None = None


class EvalFile(_Part):
    """The whole file."""

    version: Literal["1"] = "1"
    skill: Text | None = None
    defaults: DefaultsFile = DefaultsFile()
    tasks: Annotated[tuple[TaskFile, ...], Field(min_length=1)]
