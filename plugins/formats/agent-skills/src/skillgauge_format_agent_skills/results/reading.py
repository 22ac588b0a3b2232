"""Read benchmark.json of skill-creator back into a run, as far as it tells one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from skillgauge.api import (
    Blame,
    CaseHead,
    Comparison,
    Execution,
    Failure,
    FailureClass,
    Identity,
    Json,
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
from skillgauge.api.report import Counts, GroupSummary, RunInfo, RunState, RunView, SuiteValidity, Summary
from skillgauge.stats import Latency, RateInterval, nearest_rank
from skillgauge_validation import result_document

from ..findings import Findings
from ..options import FORMAT
from ..suites.loading import WITH_SKILL, WITHOUT_SKILL
from .benchmark_files import UNKNOWN_ENGINE, BenchmarkFile, RunFile

_MARKS = (b'"run_summary"', b'"configuration"')
EXPECTATION = "expectation"
"""Scorer of what was graded elsewhere."""
_MAX_ERROR_SHARE = 0.25
"""More errors than this prove nothing, where the document does not say whether it does."""


@dataclass(frozen=True)
class _Benchmark:
    """A document, and where its trials stand among those of the others in the file."""

    file: BenchmarkFile
    first_ordinal: int

    @property
    def suite_id(self) -> str:
        told = self.file.metadata.skillgauge
        return told.suite if told else self.file.metadata.skill_name

    @property
    def engine(self) -> str:
        told = self.file.metadata.skillgauge
        return told.engine if told else UNKNOWN_ENGINE

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.configuration for run in self.file.all_runs))

    @property
    def cases(self) -> dict[str, int]:
        ids = dict.fromkeys(str(run.eval_id) for run in self.file.all_runs)
        return {case: index for index, case in enumerate(ids)}

    @property
    def state(self) -> RunState:
        told = self.file.metadata.skillgauge
        return told.state if told else RunState.FINISHED

    @property
    def judges(self) -> tuple[Identity, ...]:
        told = self.file.metadata.skillgauge
        return told.judges if told else ()

    def validity(self) -> SuiteValidity:
        """As the document says, else by the share of runs that have no pass rate."""
        extra = self.file.metadata.skillgauge
        if extra and extra.validity:
            return SuiteValidity(suite_id=self.suite_id, **extra.validity.model_dump())
        errors, total = sum(run.result.pass_rate is None for run in self.file.all_runs), len(self.file.all_runs)
        is_invalid = errors / total > _MAX_ERROR_SHARE
        reason = f"{errors} of {total} runs have no pass rate" if is_invalid else ""
        return SuiteValidity(suite_id=self.suite_id, valid=not is_invalid, error_share=errors / total, reason=reason)

    def heads(self) -> Iterator[CaseHead]:
        """Yield the known facts of the evals."""
        extra = self.file.metadata.skillgauge
        digests = extra.cases if extra else {}
        for case, index in self.cases.items():
            yield CaseHead(suite_id=self.suite_id, index=index, id=case, digest=digests.get(case, ""))

    def results(self) -> Iterator[TrialResult]:
        """The runs as trials."""
        cases, started = self.cases, _seconds(self.file.metadata.timestamp)
        for index, run in enumerate(self.file.all_runs):
            trial = digest(self.suite_id, self.engine, self.file.metadata.executor_model, index, run.model_dump())
            verdict, scores = _verdict(run)
            yield TrialResult(
                trial_id=trial,
                execution_id=trial,
                score_id=trial,
                ordinal=self.first_ordinal + index,
                suite_id=self.suite_id,
                case_id=str(run.eval_id),
                case_index=cases[str(run.eval_id)],
                target_id=self.file.metadata.skill_name,
                arm=run.configuration,
                runner=self.engine,
                model=self.file.metadata.executor_model,
                repeat=run.run_number,
                verdict=verdict,
                value=None if verdict is Verdict.ERROR else run.result.pass_rate,
                scores=scores,
                execution=_execution(run, verdict),
                started_at=started,
            )


def read_benchmark(path: Path) -> RunView | None:
    """A run as far as a document tells it; `None` if the file is something else.

    Raises:
        SuiteError: it is such a document, but damaged.
    """
    document = result_document(path, is_own=_are_benchmarks, was_own=_was_benchmark)
    if document is None:
        return None
    value = document.value
    by_itself = not isinstance(value, tuple)
    items = value if isinstance(value, tuple) else (value,)
    findings = Findings()
    files = [
        findings.validated(BenchmarkFile, item, document.origin if by_itself else partial(document.origin, index))
        for index, item in enumerate(items)
    ]
    if findings.errors:
        raise SuiteError(findings.errors)
    return _view(path, digest(value), [file for file in files if file is not None])


def _are_benchmarks(value: JsonValue) -> bool:
    items = value if isinstance(value, tuple) else (value,)
    return bool(items) and all(map(_is_benchmark, items))


def _is_benchmark(value: Json) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("metadata"), Mapping):
        return False
    runs, ungraded = value.get("runs"), value.get("ungraded_runs", ())
    if not isinstance(runs, tuple) or not isinstance(ungraded, tuple) or not (runs or ungraded):
        return False
    return all(isinstance(run, Mapping) and "configuration" in run for run in (*runs, *ungraded))


def _was_benchmark(beginning: bytes) -> bool:
    return beginning[:1] in (b"{", b"[") and any(mark in beginning for mark in _MARKS)


def _view(path: Path, content: str, files: list[BenchmarkFile]) -> RunView:
    benchmarks = _numbered(files)
    groups = tuple(group for benchmark in benchmarks for group in _groups(benchmark))
    suites = {benchmark.suite_id: _suite_head(path, content, benchmark) for benchmark in reversed(benchmarks)}
    heads = {(head.suite_id, head.index): head for benchmark in benchmarks for head in benchmark.heads()}
    validities = _validities(benchmarks)
    return RunView(
        run=_run_info(content, benchmarks),
        head=_plan_head(content, benchmarks, tuple(reversed(suites.values()))),
        summary=Summary(
            counts=Counts.sum(group.counts for group in groups),
            groups=groups,
            validity=tuple(validities[suite_id] for suite_id in suites),
        ),
        source=Kept(lambda: (result for benchmark in benchmarks for result in benchmark.results()), heads.values()),
    )


def _numbered(files: list[BenchmarkFile]) -> list[_Benchmark]:
    """The documents of a file, whose trials are numbered through."""
    benchmarks: list[_Benchmark] = []
    first_ordinal = 0
    for file in files:
        benchmarks.append(_Benchmark(file, first_ordinal))
        first_ordinal += len(file.all_runs)
    return benchmarks


def _run_info(content: str, benchmarks: list[_Benchmark]) -> RunInfo:
    """The run as a whole: it is finished if all its documents are, and began with the first of them."""
    unfinished = (benchmark.state for benchmark in benchmarks if benchmark.state is not RunState.FINISHED)
    return RunInfo(
        run_id=content,
        state=next(unfinished, RunState.FINISHED),
        started_at=min(_seconds(benchmark.file.metadata.timestamp) for benchmark in benchmarks),
    )


def _plan_head(content: str, benchmarks: list[_Benchmark], suites: tuple[SuiteHead, ...]) -> PlanHead:
    runs = [run for benchmark in benchmarks for run in benchmark.file.all_runs]
    models = [benchmark.file.metadata.executor_model for benchmark in benchmarks]
    return PlanHead(
        plan_id=content,
        suites=suites,
        trial_count=len(runs),
        runs=max(run.run_number for run in runs),
        seed=0,
        models=tuple(dict.fromkeys(model for model in models if model)),
        judges=next((benchmark.judges for benchmark in benchmarks if benchmark.judges), ()),
    )


def _validities(benchmarks: list[_Benchmark]) -> dict[str, SuiteValidity]:
    """By suite the validity of its runs: of several documents the first invalid one decides, else the last."""
    validities: dict[str, SuiteValidity] = {}
    for benchmark in benchmarks:
        validity = benchmark.validity()
        if validities.setdefault(validity.suite_id, validity).valid:
            validities[validity.suite_id] = validity
    return validities


def _suite_head(path: Path, content: str, benchmark: _Benchmark) -> SuiteHead:
    extra, metadata = benchmark.file.metadata.skillgauge, benchmark.file.metadata
    arms = (WITH_SKILL, WITHOUT_SKILL) if {WITH_SKILL, WITHOUT_SKILL} <= {*benchmark.arms} else (None, None)
    pair = (extra.candidate, extra.baseline) if extra else arms
    return SuiteHead(
        id=benchmark.suite_id,
        name=metadata.skill_name,
        format=FORMAT,
        root=metadata.skill_path or str(path.absolute()),
        content_digest=content,
        case_count=len(benchmark.cases),
        targets=(TargetHead(id=metadata.skill_name, name=metadata.skill_name),),
        arms=benchmark.arms,
        comparisons=(Comparison(candidate=pair[0], baseline=pair[1]),) if pair[0] and pair[1] else (),
        document=FORMAT,
        parameters={
            "integer_ids": tuple(
                {str(run.eval_id): 1 for run in benchmark.file.all_runs if isinstance(run.eval_id, int)}
            )
        },
    )


def _groups(benchmark: _Benchmark) -> Iterator[GroupSummary]:
    results = list(benchmark.results())
    for arm in benchmark.arms:
        inner = [result for result in results if result.arm == arm]
        values = [result.value for result in inner if result.value is not None]
        durations = sorted(one.execution.duration_s for one in inner if one.execution.duration_s is not None)
        yield GroupSummary(
            suite_id=benchmark.suite_id,
            target_id=benchmark.file.metadata.skill_name,
            arm=arm,
            runner=benchmark.engine,
            model=benchmark.file.metadata.executor_model,
            counts=_counts(inner),
            pass_rate=_pass_rate(inner),
            pass_bounds=_pass_bounds(inner),
            mean_value=sum(values) / len(values) if values else None,
            latency=Latency(
                samples=len(durations),
                p50_s=nearest_rank(durations, 0.5) if durations else None,
                p95_s=nearest_rank(durations, 0.95) if durations else None,
                p99_s=nearest_rank(durations, 0.99) if durations else None,
            ),
        )


def _counts(results: list[TrialResult]) -> Counts:
    verdicts = [result.verdict for result in results]
    return Counts(
        total=len(results),
        passed=verdicts.count(Verdict.PASS),
        failed=verdicts.count(Verdict.FAIL),
        errors=verdicts.count(Verdict.ERROR),
    )


def _pass_rate(results: list[TrialResult]) -> RateInterval:
    cases: dict[str, list[bool]] = {}
    for result in results:
        if result.verdict is not Verdict.ERROR:
            cases.setdefault(result.case_id, []).append(result.verdict is Verdict.PASS)
    means = [sum(passes) / len(passes) for passes in cases.values()]
    return RateInterval.of(means, repeats=max(map(len, cases.values()), default=1), seed=0)


def _pass_bounds(results: list[TrialResult]) -> tuple[float, float] | None:
    """The rate if all errors were fails, and if all were passes; `None` without errors."""
    cases: dict[str, list[TrialResult]] = {}
    for result in results:
        cases.setdefault(result.case_id, []).append(result)
    counts = [_counts(repeats) for repeats in cases.values()]
    bounds = [one.pass_bounds for one in counts if one.pass_bounds]
    if not any(one.errors for one in counts):
        return None
    return math.fsum(least for least, _ in bounds) / len(bounds), math.fsum(most for _, most in bounds) / len(bounds)


def _verdict(run: RunFile) -> tuple[Verdict, tuple[Score, ...]]:
    """A run passes if all its expectations do; without a pass rate it was not graded."""
    if run.result.pass_rate is None:
        return Verdict.ERROR, ()
    labels = {"scorer": EXPECTATION}
    scores = tuple(
        (Score.passed(expectation.evidence) if expectation.passed else Score.failed(expectation.evidence)).model_copy(
            update={**labels, "check_id": expectation.text}
        )
        for expectation in run.expectations
    )
    return (Verdict.PASS if run.result.pass_rate == 1 else Verdict.FAIL), scores


def _execution(run: RunFile, verdict: Verdict) -> Execution:
    tokens = run.result.tokens
    failure = None
    told = run.skillgauge.failure if run.skillgauge else None
    if told or verdict is Verdict.ERROR:
        message = "; ".join(run.notes) or "the document has no pass rate"
        is_known = told is not None and told.failure_class in set(FailureClass)
        failure_class = FailureClass(told.failure_class) if told and is_known else FailureClass.INTERNAL
        failure = Failure(
            failure_class=failure_class, blame=told.blame if told else Blame.INFRASTRUCTURE, message=message
        )
    return Execution(
        duration_s=run.result.time_seconds,
        usage=None if tokens is None else Usage(total_tokens=round(tokens)),
        failure=failure,
        notes=run.notes,
    )


def _seconds(timestamp: str) -> float:
    """0 for a text that is no moment: skill-creator does not check it."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
