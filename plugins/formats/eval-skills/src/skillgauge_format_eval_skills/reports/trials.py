"""The task results of a report as trials of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, replace
from datetime import UTC, datetime
from itertools import chain, count

from skillgauge.api import (
    DIRECT,
    Blame,
    Execution,
    Failure,
    FailureClass,
    Score,
    TrialResult,
    Usage,
    Verdict,
    digest,
)
from skillgauge.api.report import GroupKey
from skillgauge_documents.immutables import immutable

from ..checks import SCORERS, UNKNOWN_SCORER
from .files import ReportFile, TaskResultFile, UsageFile

_RUNNER = "unknown"
"""A document of the original does not say which adapter called the skill."""


@immutable
class PublishedGroup:
    """One report and the name of its group of trials."""

    report: ReportFile
    arm: str
    runner: str
    model: str | None
    case_indices: Mapping[str, int]
    first_ordinal: int

    @property
    def key(self) -> GroupKey:
        """The names under which a run knows this group."""
        return GroupKey(self.report.benchmark_id, self.report.skill_id, self.arm, self.runner, self.model)

    def results(self) -> Iterator[TrialResult]:
        """The task results as trials."""
        for index, task in enumerate(self.report.task_results):
            trial = digest(astuple(self.key), task.task_id, task.run_id, index)
            verdict, scores = _verdict(task)
            failed = verdict is Verdict.FAIL and not scores
            yield TrialResult(
                trial_id=trial,
                execution_id=trial,
                score_id=trial,
                ordinal=self.first_ordinal + index,
                suite_id=self.report.benchmark_id,
                case_id=task.task_id,
                case_index=self.case_indices[task.task_id],
                target_id=self.report.skill_id,
                arm=self.arm,
                runner=self.runner,
                model=self.model,
                repeat=task.run_id,
                weight=task.weight,
                verdict=verdict,
                value=None if verdict is Verdict.ERROR else 0.0 if failed else task.score,
                scores=scores,
                execution=_execution(task, failed=failed),
                started_at=seconds(self.report.timestamp),
            )


def groups_of(reports: Iterable[ReportFile]) -> list[PublishedGroup]:
    """The reports as groups of trials; of those that a run could not tell apart, each gets a runner of its own."""
    groups: list[PublishedGroup] = []
    indices: dict[str, dict[str, int]] = {}
    keys: set[GroupKey] = set()
    ordinal = 0
    for report in reports:
        extra = report.evaluator_metadata.skillgauge
        of_suite = indices.setdefault(report.benchmark_id, {})
        for task in report.task_results:
            of_suite.setdefault(task.task_id, len(of_suite))
        group = PublishedGroup(
            report,
            arm=extra.arm if extra else DIRECT.name,
            runner=extra.runner if extra else _RUNNER,
            model=extra.model if extra else None,
            case_indices=of_suite,
            first_ordinal=ordinal,
        )
        twins = (replace(group, runner=f"{group.runner}#{number}") for number in count(2))
        group = next(twin for twin in chain([group], twins) if twin.key not in keys)
        keys.add(group.key)
        groups.append(group)
        ordinal += len(report.task_results)
    return groups


def _verdict(task: TaskResultFile) -> tuple[Verdict, tuple[Score, ...]]:
    """An error of a task that no scorer saw is the skill's: skills are called directly. Else grading failed."""
    scorer = SCORERS.get(task.scorer_type, task.scorer_type)
    labels = {"check_id": scorer, "scorer": scorer}
    match task.status:
        case "pass":
            return Verdict.PASS, (Score.passed(task.reason or "").model_copy(update={**labels, "value": task.score}),)
        case "fail":
            return Verdict.FAIL, (Score.failed(task.reason or "", value=task.score).model_copy(update=labels),)
        case "error" if scorer != UNKNOWN_SCORER:
            return Verdict.ERROR, (Score.ungraded(task.error or "").model_copy(update=labels),)
        case _:
            return Verdict.FAIL, ()


def _execution(task: TaskResultFile, *, failed: bool) -> Execution:
    failure = None
    if failed:
        kind = FailureClass.TIMEOUT if task.status == "timeout" else FailureClass.CRASH
        failure = Failure(failure_class=kind, blame=Blame.TARGET, message=task.error or task.status)
    return Execution(
        output=task.output,
        usage=None if task.usage is None else _usage(task.usage),
        duration_s=task.latency_ms / 1000 or None,
        failure=failure,
    )


def _usage(usage: UsageFile) -> Usage:
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        total_tokens=usage.total_tokens,
        cost_usd=usage.cost_usd,
    )


def seconds(moment: datetime) -> float:
    """A moment in seconds since the epoch; one without a zone is in UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
