"""Read reports of evals back into runs, as far as they tell one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from skillgauge.api import (
    Blame,
    CaseHead,
    Execution,
    Failure,
    FailureClass,
    Identity,
    JsonValue,
    Kept,
    PlanHead,
    Score,
    SuiteHead,
    TargetHead,
    Trajectory,
    TrialResult,
    Verdict,
    digest,
)
from skillgauge.api.report import Counts, GroupSummary, RunInfo, RunState, RunView, Summary
from skillgauge.stats import RateInterval
from skillgauge_validation import result_document, validate

from ..suites.deterministic import FORMAT
from ..suites.evals import ARM, DIALECT, DOCUMENT, JUDGE, PACKAGE
from .files import Report, ReportCase, Word

_KEYS = {"deterministic_checks", "judge_verdict", "agent_output_snippet"}
_VERDICTS = {Word.PASS: Verdict.PASS, Word.FAIL: Verdict.FAIL, Word.SKIP: Verdict.SKIPPED}


def read_report(path: Path) -> RunView | None:
    """A run as far as a report tells it; `None` if the file is something else.

    Raises:
        SuiteError: it is such a report, but damaged.
    """
    document = result_document(path, is_own=_is_report, was_own=_was_report)
    if document is None:
        return None
    return _view(path, validate(Report, document.value, document), digest(document.value))


def _is_report(value: JsonValue) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("package"), Mapping):
        return False
    cases = value.get("cases")
    return "version" in value and "config" in value and "agent" in value and isinstance(cases, tuple)


def _was_report(beginning: bytes) -> bool:
    marks = (b'"package"', b'"engine_version"', b'"eval-run-')
    return beginning[:1] == b"{" and sum(mark in beginning for mark in marks) > 1


def _view(path: Path, report: Report, content: str) -> RunView:
    started = _seconds(report.timestamp)
    engine = report.config.engine or report.agent.runtime or "unknown"
    results = list(_results(report, engine, started))
    groups = tuple(_groups(report, engine, results))
    targets = tuple(dict.fromkeys(result.target_id or PACKAGE for result in results))
    suite = SuiteHead(
        id=report.package.name,
        name=report.package.name,
        version=report.package.version,
        format=FORMAT,
        dialect=DIALECT,
        root=str(path.absolute()),
        content_digest=content,
        case_count=len(report.cases),
        targets=tuple(TargetHead(id=one, name=one, version=report.package.version) for one in targets),
        arms=(ARM,),
        document=DOCUMENT,
        timeout_s=report.config.timeout,
    )
    judge = report.judge.model or report.config.judge
    head = PlanHead(
        plan_id=content,
        suites=(suite,),
        trial_count=len(results),
        runs=max((result.repeat for result in results), default=1),
        seed=0,
        runners=(Identity(name=engine, version=report.config.engine_version, model=report.agent.model),),
        models=(report.agent.model,) if report.agent.model else (),
        judges=(Identity(name=judge, settings={"provider": report.judge.model_provider}),) if judge else (),
    )
    seconds = report.duration_seconds
    run = RunInfo(
        run_id=report.id,
        state=RunState.FINISHED,
        started_at=started,
        finished_at=None if seconds is None else started + seconds,
    )
    heads = [CaseHead(suite_id=suite.id, index=index, id=case.name) for index, case in enumerate(report.cases)]
    counts = Counts.sum(group.counts for group in groups)
    return RunView(run, head, Summary(counts=counts, groups=groups), Kept(lambda: results, heads))


def _results(report: Report, engine: str, started: float) -> Iterator[TrialResult]:
    ordinal = 0
    for index, case in enumerate(report.cases):
        for repeat, word in enumerate(case.verdicts or (case.verdict,), 1):
            trial = digest(report.id, index, repeat)
            is_error = word is Word.SKIP and case.error_class is not None
            verdict = Verdict.ERROR if is_error else _VERDICTS[word]
            yield TrialResult(
                trial_id=trial,
                execution_id=trial,
                score_id=trial,
                ordinal=ordinal,
                suite_id=report.package.name,
                case_id=case.name,
                case_index=index,
                target_id=case.target or PACKAGE,
                arm=ARM,
                runner=engine,
                model=report.agent.model,
                repeat=repeat,
                verdict=verdict,
                value={Verdict.PASS: 1.0, Verdict.FAIL: 0.0}.get(verdict),
                scores=tuple(_scores(case)),
                execution=_execution(report, case, is_error=is_error),
                started_at=started,
            )
            ordinal += 1


def _scores(case: ReportCase) -> Iterator[Score]:
    for name, word in {**case.deterministic_checks, **case.package_checks}.items():
        score = Score.passed() if word is Word.PASS else Score.failed(case.error or "")
        yield score.model_copy(update={"check_id": name, "scorer": "report"})
    if case.judge_verdict:
        judged, reason = case.judge_verdict.result, case.judge_verdict.reason
        score = Score.passed(reason) if judged is Word.PASS else Score.failed(reason)
        yield score.model_copy(update={"check_id": JUDGE, "scorer": "rubric"})


def _execution(report: Report, case: ReportCase, *, is_error: bool) -> Execution:
    failure = None
    if is_error:
        classes = {one.value: one for one in FailureClass}
        kind = classes.get(case.error_class or "", FailureClass.INTERNAL)
        failure = Failure(failure_class=kind, blame=Blame.INFRASTRUCTURE, message=case.error or "")
    session = case.session_id or (report.agent.session_id if len(report.cases) == 1 else None)
    return Execution(
        text=case.agent_output_snippet,
        duration_s=case.duration_seconds,
        trajectory=Trajectory(session_id=session, model=report.agent.model) if session else None,
        failure=failure,
        notes=(case.error,) if case.error and case.verdict is Word.SKIP and not is_error else (),
    )


def _groups(report: Report, engine: str, results: list[TrialResult]) -> Iterator[GroupSummary]:
    for target in dict.fromkeys(result.target_id for result in results):
        inner = [result for result in results if result.target_id == target]
        verdicts = [result.verdict for result in inner]
        shares: dict[str, list[bool]] = {}
        for result in inner:
            if result.verdict in (Verdict.PASS, Verdict.FAIL):
                shares.setdefault(result.case_id, []).append(result.verdict is Verdict.PASS)
        means = [sum(passes) / len(passes) for passes in shares.values()]
        values = [result.value for result in inner if result.value is not None]
        yield GroupSummary(
            suite_id=report.package.name,
            target_id=target,
            arm=ARM,
            runner=engine,
            model=report.agent.model,
            counts=Counts(
                total=len(inner),
                passed=verdicts.count(Verdict.PASS),
                failed=verdicts.count(Verdict.FAIL),
                errors=verdicts.count(Verdict.ERROR),
                skipped=verdicts.count(Verdict.SKIPPED),
            ),
            pass_rate=RateInterval.of(means, repeats=max(map(len, shares.values()), default=1), seed=0),
            mean_value=sum(values) / len(values) if values else None,
        )


def _seconds(timestamp: str) -> float:
    """0 for a text that is no moment."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return 0.0
    return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
