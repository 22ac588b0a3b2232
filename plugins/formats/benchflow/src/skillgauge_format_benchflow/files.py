"""The keys of evals.json. Types are exact and unknown keys are errors, as with BenchFlow itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import JsonObject

JUDGE_MODEL = "gemini-3.1-flash-lite"
MOUNT_DIR = "/skills"
TIMEOUT_S = 300


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class DefaultsFile(_Part):
    """`defaults`."""

    timeout_sec: Annotated[int, Field(gt=0)] = TIMEOUT_S
    judge_model: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/\-]*$")] = JUDGE_MODEL
    skill_mount_dir: Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/-]+$")] = MOUNT_DIR


class CaseFile(_Part):
    """One of `cases`."""

    id: str = ""
    """Not given, unless it is among `model_fields_set`."""
    question: str
    ground_truth: str = ""
    expected_behavior: tuple[str, ...] = ()
    expected_skill: str = ""
    expected_script: str = ""
    environment: Mapping[str, str] = Field(default_factory=dict)


class EvalsFile(_Part):
    """The whole file."""

    version: str = "1"
    skill_name: str = ""
    defaults: DefaultsFile = DefaultsFile()
    cases: Annotated[tuple[CaseFile, ...], Field(min_length=1)]


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the files, for `skillgauge schema`."""
    return {"benchflow-evals": EvalsFile.model_json_schema()}
