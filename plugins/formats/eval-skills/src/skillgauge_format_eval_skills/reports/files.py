"""The keys of the result document of eval-skills."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from skillgauge.api import DIRECT, Identity, Json
from skillgauge.api.report import RunState

from ..checks import UNKNOWN_SCORER


class _Part(BaseModel):
    """Keys are written in camel case and types are exact; unknown keys do not matter to a reader."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel)


class IntervalFile(_Part):
    """`confidenceInterval`."""

    lower: float
    upper: float
    level: float = 0.95


class SummaryFile(_Part):
    """`summary`."""

    completion_rate: float
    partial_score: float
    error_rate: float
    consistency_score: float
    composite_score: float
    confidence_interval: IntervalFile | None = None


class LatencyFile(_Part):
    """`latency`."""

    p50_ms: float = Field(ge=0)
    p95_ms: float = Field(ge=0)
    p99_ms: float = Field(ge=0)


class UsageFile(_Part):
    """`usage` of a task; two spellings are about."""

    prompt_tokens: int | None = Field(default=None, validation_alias=AliasChoices("promptTokens", "inputTokens"))
    completion_tokens: int | None = Field(
        default=None, validation_alias=AliasChoices("completionTokens", "outputTokens")
    )
    total_tokens: int | None = None
    cost_usd: float | None = Field(default=None, validation_alias=AliasChoices("estimatedUSD", "costUSD"))


class TaskResultFile(_Part):
    """One of `taskResults`."""

    task_id: str
    status: Literal["pass", "fail", "error", "timeout"]
    score: float = Field(ge=0, le=1)
    latency_ms: float = Field(ge=0)
    output: Json = None
    error: str | None = None
    scorer_type: str = UNKNOWN_SCORER
    reason: str | None = None
    run_id: int = Field(default=1, ge=1)
    usage: UsageFile | None = None
    weight: float = Field(default=1.0, ge=0)


class CountsFile(_Part):
    """Trials by verdict, of a group or a tag."""

    total: int = Field(ge=0)
    passed: int = Field(ge=0)
    failed: int = Field(ge=0)
    errors: int = Field(ge=0)
    skipped: int = Field(default=0, ge=0)
    timeouts: int = Field(default=0, ge=0)
    broken: int = Field(default=0, ge=0)
    retried: int = Field(default=0, ge=0)


class RateFile(_Part):
    """A pass rate over `n` cases with its interval."""

    rate: float | None = Field(ge=0, le=1)
    n: int = Field(ge=0)
    lower: float | None = Field(default=None, ge=0, le=1)
    upper: float | None = Field(default=None, ge=0, le=1)
    level: float = Field(default=0.95, gt=0, lt=1)
    method: str | None = None
    clusters: int | None = None


class BoundsFile(_Part):
    """The pass rate if every error had been a fail, and if every error had been a pass."""

    lower: float = Field(ge=0, le=1)
    upper: float = Field(ge=0, le=1)


class TagFile(_Part):
    """The cases that carry a tag."""

    tag: str
    counts: CountsFile
    pass_rate: RateFile


class ValidityFile(_Part):
    """The validity of the run."""

    valid: bool
    error_share: float | None = None
    reason: str = ""


class SkillgaugeFile(_Part):
    """`evaluatorMetadata.skillgauge`: what a report says beyond the document of the original."""

    seed: int = 0
    """Of everything random in the run."""
    arm: str = DIRECT.name
    runner: str
    model: str | None = None
    counts: CountsFile
    pass_rate: RateFile
    pass_bounds: BoundsFile | None = None
    tags: tuple[TagFile, ...] = ()
    cost_unknown: int = 0
    """Trials of which tokens or cost are not known, where `tokenCost` tells of others."""
    state: RunState = Field(default=RunState.FINISHED, strict=False)
    validity: ValidityFile | None = None
    judges: tuple[Identity, ...] = ()
    cases: Mapping[str, str] = Field(default_factory=dict)
    """Digests of the tasks, by id."""


class EvaluatorMetadataFile(_Part):
    """`evaluatorMetadata`: empty in the original; whatever others put there is theirs."""

    skillgauge: SkillgaugeFile | None = None


class ReportFile(_Part):
    """One SkillCompletionReport."""

    skill_id: str
    skill_version: str = ""
    benchmark_id: str
    timestamp: datetime = Field(strict=False)
    summary: SummaryFile
    latency: LatencyFile
    task_results: tuple[TaskResultFile, ...]
    evaluator_metadata: EvaluatorMetadataFile = EvaluatorMetadataFile()
