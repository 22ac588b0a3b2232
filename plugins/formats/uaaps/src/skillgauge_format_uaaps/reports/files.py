"""The report of a run of evals, as the specification has it, with what it lacks as further keys."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Word(StrEnum):
    """The outcome of a case, and of a check."""

    PASS = "PASS"
    FAIL = "FAIL"
    SKIP = "SKIP"


class _Part(BaseModel):
    """Unknown keys are kept: other runners may tell more."""

    model_config = ConfigDict(frozen=True, extra="allow")


class ReportConfig(_Part):
    """The settings of the run."""

    engine: str | None = None
    engine_version: str | None = None
    judge: str | None = None
    timeout: float | None = None


class ReportAgent(_Part):
    """The agent that worked."""

    runtime: str | None = None
    runtime_version: str | None = None
    model: str | None = None
    model_provider: str | None = None
    session_id: str | None = None


class ReportJudge(_Part):
    """The judge that decided."""

    model: str | None = None
    model_provider: str | None = None


class ReportPackage(_Part):
    """The package that was evaluated."""

    name: str
    version: str | None = None


class ReportSummary(_Part):
    """Counts; an error is among the skipped ones, since nothing was found out."""

    total: int
    passed: int
    failed: int
    skipped: int
    pass_rate: float | None = None
    """Passed of those that were not skipped; null of none."""
    errors: int = 0
    """How many of the skipped ones are errors of the surroundings. Not in the specification."""


class JudgeVerdict(_Part):
    """The verdict of the judge."""

    result: Word
    reason: str = ""
    model: str | None = None


class ReportCase(_Part):
    """One case, with all its repeats."""

    name: str
    target: str | None = None
    verdict: Word
    duration_seconds: float | None = None
    deterministic_checks: Mapping[str, Word] = Field(default_factory=dict)
    """Those that the case declares."""
    package_checks: Mapping[str, Word] = Field(default_factory=dict)
    """Those that the package asks of all cases: what may be written. Not in the specification."""
    judge_verdict: JudgeVerdict | None = None
    agent_output_snippet: str | None = None
    error: str | None = None
    error_class: str | None = None
    """Set if the surroundings failed and not the package. Not in the specification."""
    session_id: str | None = None
    """Not in the specification."""
    verdicts: tuple[Word, ...] = ()
    """Of each repeat, if there are several. Not in the specification."""


class Report(_Part):
    """`evals/reports/<timestamp>.json`."""

    version: Literal[1]
    id: str
    timestamp: str
    duration_seconds: Annotated[float, Field(ge=0)] | None = None
    config: ReportConfig = ReportConfig()
    agent: ReportAgent = ReportAgent()
    judge: ReportJudge = ReportJudge()
    environment: Mapping[str, str | None] = Field(default_factory=dict)
    package: ReportPackage
    summary: ReportSummary
    cases: tuple[ReportCase, ...]
