"""The numbers of a report as the summary of a group of trials."""

from __future__ import annotations

from skillgauge.api import EMPTY, FailureClass, TrialResult, Verdict
from skillgauge.api.report import Counts, Figure, GroupSummary, TagSummary
from skillgauge.stats import Latency, RateInterval

from ..figures import figures
from .files import LatencyFile, ReportFile, SkillgaugeFile, TagFile
from .resampling import PUBLISHED_INTERVAL
from .trials import PublishedGroup


def summary_of(group: PublishedGroup) -> GroupSummary:
    """The summary of a group: as the document has it, and counted from its task results where it says nothing."""
    report, results = group.report, list(group.results())
    extra = report.evaluator_metadata.skillgauge
    return GroupSummary(
        suite_id=report.benchmark_id,
        target_id=report.skill_id,
        arm=group.arm,
        runner=group.runner,
        model=group.model,
        counts=Counts(**extra.counts.model_dump()) if extra else _counts(results),
        pass_rate=RateInterval(**extra.pass_rate.model_dump()) if extra else _pass_rate(report, results),
        pass_bounds=_pass_bounds(extra),
        mean_value=_mean_value(results),
        weighted_value=_weighted_value(results),
        run_pass_rates=_run_pass_rates(results),
        latency=_latency(report.latency, results),
        tags=tuple(map(_tag, extra.tags)) if extra else (),
        figures=_figures(report),
    )


def _pass_bounds(extra: SkillgaugeFile | None) -> tuple[float, float] | None:
    if extra is None or extra.pass_bounds is None:
        return None
    return (extra.pass_bounds.lower, extra.pass_bounds.upper)


def _mean_value(results: list[TrialResult]) -> float | None:
    values = [result.value for result in results if result.value is not None]
    return sum(values) / len(values) if values else None


def _weighted_value(results: list[TrialResult]) -> float | None:
    graded = [(result.value, result.weight) for result in results if result.value is not None]
    total = sum(weight for _, weight in graded)
    return sum(value * weight for value, weight in graded) / total if total else None


def _run_pass_rates(results: list[TrialResult]) -> tuple[float, ...]:
    """The share of passes in each run, the first run first."""
    runs: dict[int, list[bool]] = {}
    for result in results:
        runs.setdefault(result.repeat, []).append(result.verdict is Verdict.PASS)
    return tuple(sum(passes) / len(passes) for _, passes in sorted(runs.items()))


def _latency(latency: LatencyFile, results: list[TrialResult]) -> Latency:
    samples = sum(result.execution.duration_s is not None for result in results)
    if not samples:  # the document has zeros there
        return Latency(samples=0, p50_s=None, p95_s=None, p99_s=None)
    return Latency(
        samples=samples,
        p50_s=latency.p50_ms / 1000,
        p95_s=latency.p95_ms / 1000,
        p99_s=latency.p99_ms / 1000,
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
