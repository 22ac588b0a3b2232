"""Read the result document of eval-skills back into a run.

A document says less than a run: what it does not say is unknown, and the numbers of its summary are kept as they were
published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain, count
from pathlib import Path

from skillgauge.api import (
    DIRECT,
    EMPTY,
    Blame,
    CaseHead,
    Execution,
    Failure,
    FailureClass,
    JsonValue,
    Kept,
    PlanHead,
    Score,
    SuiteError,
    SuiteHead,
    TargetHead,
    TrialResult,
    Usage,
    Verdict,
    digest,
)
from skillgauge.api.report import (
    Counts,
    Figure,
    GroupKey,
    GroupSummary,
    RunInfo,
    RunState,
    RunView,
    SuiteValidity,
    Summary,
    TagSummary,
)
from skillgauge.stats import Latency, RateInterval
from skillgauge_validation import result_document

from .checks import SCORERS
from .figures import COMPLETION, figures
from .findings import Findings
from .loading import FORMAT
from .report_files import UNKNOWN_SCORER, ReportFile, SkillgaugeFile, TagFile, TaskResultFile, ValidityFile

_RUNNER = "unknown"
"""A document of the original does not say which adapter called the skill."""
PUBLISHED_INTERVAL = "published, of the mean score"
"""Method of an interval that a document of the original tells."""
_MARKS = ("skillId", "benchmarkId")


@dataclass(frozen=True)
class _Group:
    """One report and the name of its group of trials."""

    report: ReportFile
    arm: str
    runner: str
    model: str | None
    case_indices: Mapping[str, int]
    first_ordinal: int

    @property
    def key(self) -> GroupKey:
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
                started_at=_seconds(self.report.timestamp),
            )


def read_reports(path: Path) -> RunView | None:
    """A run as far as a document of eval-skills tells it; `None` if the file is something else.

    Raises:
        SuiteError: it is such a document, but damaged.
    """
    document = result_document(path, is_own=_are_reports, was_own=_were_reports)
    if document is None:
        return None
    items = document.value if isinstance(document.value, tuple) else ()
    findings = Findings()
    reports = [
        findings.validated(ReportFile, item, partial(document.origin, index)) for index, item in enumerate(items)
    ]
    if findings.errors:
        raise SuiteError(findings.errors)
    return _view(path, digest(document.value), [report for report in reports if report is not None])


def _are_reports(value: JsonValue) -> bool:
    return isinstance(value, tuple) and bool(value) and all(map(_is_report, value))


def _is_report(item: object) -> bool:
    return isinstance(item, Mapping) and all(mark in item for mark in _MARKS)


def _were_reports(beginning: bytes) -> bool:
    return beginning.startswith(b"[") and all(f'"{mark}"'.encode() in beginning for mark in _MARKS)


def _view(path: Path, content: str, reports: list[ReportFile]) -> RunView:
    groups = _groups(reports)
    ours = [told for report in reports if (told := report.evaluator_metadata.skillgauge)]
    started = min(_seconds(report.timestamp) for report in reports)
    suites: dict[str, list[_Group]] = {}
    for group in groups:
        suites.setdefault(group.report.benchmark_id, []).append(group)
    summaries = tuple(_summary(group) for group in groups)
    head = PlanHead(
        plan_id=content,
        suites=tuple(_suite_head(path, content, suite_id, members) for suite_id, members in suites.items()),
        trial_count=sum(len(report.task_results) for report in reports),
        runs=max((task.run_id for report in reports for task in report.task_results), default=1),
        seed=next((told.seed for told in ours), 0),
        judges=next((told.judges for told in ours if told.judges), ()),
    )
    totals = {name: sum(getattr(summary.counts, name) for summary in summaries) for name in Counts.model_fields}
    return RunView(
        run=RunInfo(run_id=content, state=_state(ours), started_at=started),
        head=head,
        summary=Summary(
            counts=Counts(**totals),
            groups=summaries,
            validity=tuple(_validity(suite_id, members) for suite_id, members in suites.items()),
        ),
        source=Kept(lambda: (result for group in groups for result in group.results()), _heads(suites)),
    )


def _state(ours: Iterable[SkillgaugeFile]) -> RunState:
    """Return the state of the run; the original writes finished ones only."""
    return next((told.state for told in ours if told.state is not RunState.FINISHED), RunState.FINISHED)


def _validity(suite_id: str, groups: Iterable[_Group]) -> SuiteValidity:
    """As the document says; whether a run proves anything the original does not say."""
    extras = (group.report.evaluator_metadata.skillgauge for group in groups)
    validities = [one.validity for one in extras if one and one.validity]
    validity = next(
        (one for one in validities if not one.valid), validities[0] if validities else ValidityFile(valid=True)
    )
    return SuiteValidity(
        suite_id=suite_id, valid=validity.valid, error_share=validity.error_share, reason=validity.reason
    )


def _heads(suites: Mapping[str, list[_Group]]) -> Iterator[CaseHead]:
    """Yield the known facts of the tasks."""
    for suite_id, groups in suites.items():
        extras = (group.report.evaluator_metadata.skillgauge for group in groups)
        digests = {task: content for one in extras if one for task, content in one.cases.items()}
        for task, index in groups[0].case_indices.items():
            yield CaseHead(suite_id=suite_id, index=index, id=task, digest=digests.get(task, ""))


def _groups(reports: list[ReportFile]) -> list[_Group]:
    groups: list[_Group] = []
    indices: dict[str, dict[str, int]] = {}
    keys: set[GroupKey] = set()
    ordinal = 0
    for report in reports:
        extra = report.evaluator_metadata.skillgauge
        of_suite = indices.setdefault(report.benchmark_id, {})
        for task in report.task_results:
            of_suite.setdefault(task.task_id, len(of_suite))
        group = _Group(
            report,
            arm=extra.arm if extra else DIRECT.name,
            runner=extra.runner if extra else _RUNNER,
            model=extra.model if extra else None,
            case_indices=of_suite,
            first_ordinal=ordinal,
        )
        twins = (replace(group, runner=f"{group.runner}#{number}") for number in count(2))
        group = next(one for one in chain([group], twins) if one.key not in keys)
        keys.add(group.key)
        groups.append(group)
        ordinal += len(report.task_results)
    return groups


def _suite_head(path: Path, content: str, suite_id: str, groups: list[_Group]) -> SuiteHead:
    versions = {group.report.skill_id: group.report.skill_version or None for group in groups}
    return SuiteHead(
        id=suite_id,
        format=FORMAT,
        root=str(path.absolute()),
        content_digest=content,
        case_count=len(groups[0].case_indices),
        targets=tuple(TargetHead(id=skill, name=skill, version=version) for skill, version in versions.items()),
        arms=tuple(dict.fromkeys(group.arm for group in groups)),
        document=FORMAT,
        completion=COMPLETION,
        case_weights=any(task.weight != 1 for group in groups for task in group.report.task_results),
    )


def _summary(group: _Group) -> GroupSummary:
    results = list(group.results())
    report = group.report
    latency, extra = report.latency, report.evaluator_metadata.skillgauge
    samples = sum(result.execution.duration_s is not None for result in results)
    graded = [result for result in results if result.value is not None]
    weight = sum(result.weight for result in graded)
    runs: dict[int, list[bool]] = {}
    for result in results:
        runs.setdefault(result.repeat, []).append(result.verdict is Verdict.PASS)
    bounds = extra.pass_bounds if extra else None
    return GroupSummary(
        suite_id=report.benchmark_id,
        target_id=report.skill_id,
        arm=group.arm,
        runner=group.runner,
        model=group.model,
        counts=Counts(**extra.counts.model_dump()) if extra else _counts(results),
        pass_rate=RateInterval(**extra.pass_rate.model_dump()) if extra else _pass_rate(report, results),
        pass_bounds=(bounds.lower, bounds.upper) if bounds else None,
        mean_value=sum(result.value or 0 for result in graded) / len(graded) if graded else None,
        weighted_value=sum((result.value or 0) * result.weight for result in graded) / weight if weight else None,
        run_pass_rates=tuple(sum(passes) / len(passes) for _, passes in sorted(runs.items())),
        latency=Latency(
            samples=samples,
            p50_s=latency.p50_ms / 1000 if samples else None,
            p95_s=latency.p95_ms / 1000 if samples else None,
            p99_s=latency.p99_ms / 1000 if samples else None,
        ),
        tags=tuple(map(_tag, extra.tags)) if extra else (),
        figures=_figures(report),
    )


def _pass_rate(report: ReportFile, results: list[TrialResult]) -> RateInterval:
    """The rate over the tasks, with the interval that was published of something close to it."""
    means = _case_means(results)
    interval = report.summary.confidence_interval
    return RateInterval(
        rate=sum(means) / len(means) if means else None,
        n=len(means),
        lower=interval.lower if interval else None,
        upper=interval.upper if interval else None,
        level=interval.level if interval else 0.95,
        method=PUBLISHED_INTERVAL if interval else None,
    )


def _tag(tag: TagFile) -> TagSummary:
    return TagSummary(
        tag=tag.tag, counts=Counts(**tag.counts.model_dump()), pass_rate=RateInterval(**tag.pass_rate.model_dump())
    )


def _figures(report: ReportFile) -> tuple[Figure, ...]:
    """The published numbers, with the labels that ours have."""
    published = {**report.summary.model_dump(by_alias=True), **report.latency.model_dump(by_alias=True)}
    blank = GroupSummary(
        suite_id="",
        target_id=None,
        arm="",
        runner="",
        model=None,
        counts=Counts(),
        pass_rate=RateInterval(rate=None, n=0),
    )
    return tuple(figure.model_copy(update={"value": published[figure.name]}) for figure in figures(blank, EMPTY))


def _counts(results: list[TrialResult]) -> Counts:
    failures = [result.execution.failure for result in results if result.execution.failure is not None]
    verdicts = [result.verdict for result in results]
    return Counts(
        total=len(results),
        passed=verdicts.count(Verdict.PASS),
        failed=verdicts.count(Verdict.FAIL),
        errors=verdicts.count(Verdict.ERROR),
        timeouts=sum(failure.failure_class is FailureClass.TIMEOUT for failure in failures),
        broken=len(failures),
    )


def _case_means(results: list[TrialResult]) -> list[float]:
    cases: dict[int, list[bool]] = {}
    for result in results:
        if result.verdict is not Verdict.ERROR:
            cases.setdefault(result.case_index, []).append(result.verdict is Verdict.PASS)
    return [sum(passes) / len(passes) for passes in cases.values()]


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
    usage = task.usage
    return Execution(
        output=task.output,
        usage=None
        if usage is None
        else Usage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            total_tokens=usage.total_tokens,
            cost_usd=usage.cost_usd,
        ),
        duration_s=task.latency_ms / 1000 or None,
        failure=failure,
    )


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
