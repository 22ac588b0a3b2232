"""The keys of skill-creator's benchmark.json that are read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import Blame, Identity, Json
from skillgauge.api.report import RunState

UNKNOWN_ENGINE = "unknown"
"""The original does not say which engine ran."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class ExpectationFile(_Part):
    """One graded expectation."""

    text: str
    passed: bool
    evidence: str = ""


class ResultFile(_Part):
    """`result` of a run."""

    pass_rate: float | None = Field(default=None, ge=0, le=1)
    time_seconds: float | None = Field(default=None, ge=0)
    tokens: float | None = Field(default=None, ge=0)


class FailureFile(_Part):
    """The reason why a session broke down; a class that only a later version knows is read as an error inside."""

    failure_class: str = Field(alias="class")
    blame: Blame = Field(default=Blame.INFRASTRUCTURE, strict=False)


class OwnFile(_Part):
    """The values of a run that the original has no key for."""

    failure: FailureFile | None = None


class RunFile(_Part):
    """One of `runs`."""

    eval_id: int | str
    configuration: str
    run_number: int = Field(default=1, ge=1)
    result: ResultFile
    expectations: tuple[ExpectationFile, ...] = ()
    notes: tuple[str, ...] = ()
    skillgauge: OwnFile | None = None


class ValidityFile(_Part):
    """The validity of the runs."""

    valid: bool
    error_share: float | None = None
    reason: str = ""


class SkillgaugeFile(_Part):
    """The values that the original has no key for."""

    suite: str
    engine: str = UNKNOWN_ENGINE
    candidate: str | None = None
    baseline: str | None = None
    state: RunState = Field(default=RunState.FINISHED, strict=False)
    validity: ValidityFile | None = None
    judges: tuple[Identity, ...] = ()
    cases: Mapping[str, str] = Field(default_factory=dict)
    """Digests of the evals, by id."""


class MetadataFile(_Part):
    """`metadata`."""

    skill_name: str
    skill_path: str = ""
    executor_model: str | None = None
    timestamp: str = ""
    evals_run: Json = ()
    skillgauge: SkillgaugeFile | None = None


class BenchmarkFile(_Part):
    """The document."""

    metadata: MetadataFile
    runs: tuple[RunFile, ...]
    ungraded_runs: tuple[RunFile, ...] = ()
    """Runs without a pass rate: the original has none such, and shows them as failed if they are among the others."""

    @cached_property
    def all_runs(self) -> tuple[RunFile, ...]:
        """Every run, eval by eval in the order that the document tells."""
        evals_run = self.metadata.evals_run
        places = {str(one): place for place, one in enumerate(evals_run)} if isinstance(evals_run, tuple) else {}
        runs = (*self.runs, *self.ungraded_runs)
        return tuple(sorted(runs, key=lambda run: places.get(str(run.eval_id), len(places)))) if places else runs
