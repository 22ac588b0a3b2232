"""From results to the report of the specification; an unknown value is null, and none is invented."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from typing import Any

from skillgauge.api import Identity, ResultOrder, Score, ScoreStatus, SuiteHead, TrialResult, Verdict
from skillgauge.api.report import RunView

from ..suites.evals import FILES_CREATED, JUDGE, OUTSIDE, PACKAGE, PERMISSIONS
from .files import (
    JudgeVerdict,
    Report,
    ReportAgent,
    ReportCase,
    ReportConfig,
    ReportJudge,
    ReportPackage,
    ReportSummary,
    Word,
)

SNIPPET = 500
_WORDS = {Verdict.PASS: Word.PASS, Verdict.FAIL: Word.FAIL, Verdict.ERROR: Word.SKIP, Verdict.SKIPPED: Word.SKIP}
_PROVIDERS = {"anthropic": "anthropic", "openai": "openai", "googleapis": "google"}
"""By a part of the host that is asked."""
_OF_PACKAGE = (OUTSIDE, PERMISSIONS)
"""Checks that no case declares, and every case has to pass."""
_JUDGES = {"anthropic": "anthropic", "openai": "openai", "gemini": "google"}


def reports(view: RunView) -> Iterator[Report]:
    """One for each suite, engine and model."""
    results = sorted(view.source.results(ResultOrder.CASE), key=_configuration)
    suites = {suite.id: suite for suite in view.head.suites}
    for (suite_id, runner, _model), results_of_configuration in groupby(results, _configuration):
        if suite_id in suites:
            engine = next((one for one in view.head.runners if one.name == runner), Identity(name=runner))
            yield _report(view, suites[suite_id], engine, list(results_of_configuration))


def _configuration(result: TrialResult) -> tuple[str, str, str]:
    return result.suite_id, result.runner, result.model or ""


def _report(view: RunView, suite: SuiteHead, engine: Identity, results: Sequence[TrialResult]) -> Report:
    began = datetime.fromtimestamp(view.run.started_at, UTC)
    stamp = began.strftime("%Y-%m-%dT%H:%M:%SZ")
    finished = view.run.finished_at
    by_case = groupby(sorted(results, key=lambda one: (one.case_index, one.repeat)), lambda one: one.case_index)
    cases = [_case(list(repeats)) for _, repeats in by_case]
    judge = _judge(view, cases)
    return Report(
        version=1,
        id=f"eval-run-{stamp.replace(':', '-')}",
        timestamp=stamp,
        duration_seconds=None if finished is None else max(0.0, finished - view.run.started_at),
        config=ReportConfig(
            engine=engine.name,
            engine_version=engine.version,
            judge=judge.model,
            timeout=suite.timeout_s,
        ),
        agent=_agent(engine, results),
        judge=judge,
        environment=_environment(results),
        package=ReportPackage(name=suite.id, version=suite.version),
        summary=_summary(cases, results),
        cases=tuple(cases),
    )


def _agent(engine: Identity, results: Sequence[TrialResult]) -> ReportAgent:
    trajectories = [one.execution.trajectory for one in results if one.execution.trajectory]
    return ReportAgent(
        runtime=engine.name,
        runtime_version=_last(one.engine_version for one in trajectories) or engine.version,
        model=_last(one.model for one in trajectories) or _last(one.model for one in results),
        model_provider=_provider(engine.service),
        session_id=_last(one.session_id for one in trajectories),
    )


def _last(values: Iterable[str | None]) -> str | None:
    known = [value for value in values if value]
    return known[-1] if known else None


def _provider(service: str | None) -> str | None:
    return next((name for part, name in _PROVIDERS.items() if part in (service or "")), None)


def _judge(view: RunView, cases: Sequence[ReportCase]) -> ReportJudge:
    """The model that answered, else the one that would be asked; of a judge without a model its own name."""
    if not view.head.judges:
        return ReportJudge()
    judge = view.head.judges[0]
    asked = judge.settings.get("model")
    model = _last(case.judge_verdict.model for case in cases if case.judge_verdict)
    return ReportJudge(
        model=model or (asked if isinstance(asked, str) else judge.model) or judge.name,
        model_provider=_JUDGES.get(judge.name),
    )


def _environment(results: Sequence[TrialResult]) -> dict[str, str | None]:
    return {
        "os": platform.system().lower() or None,
        "arch": platform.machine() or None,
        "aam_version": version("skillgauge-core"),
        "tool": "skillgauge",
        "node_version": None,
        "python_version": platform.python_version(),
        "sandbox": _last(one.execution.sandbox for one in results),
    }


def _summary(cases: Sequence[ReportCase], results: Sequence[TrialResult]) -> ReportSummary:
    words = [case.verdict for case in cases]
    passed, failed, skipped = (words.count(word) for word in (Word.PASS, Word.FAIL, Word.SKIP))
    return ReportSummary(
        total=len(cases),
        passed=passed,
        failed=failed,
        skipped=skipped,
        pass_rate=passed / (passed + failed) if passed + failed else None,
        errors=sum(case.error_class is not None for case in cases),
    )


def _case(repeats: list[TrialResult]) -> ReportCase:
    """A case: the first repeat that failed stands for it, else the first that is no pass, else the first."""
    order = (Verdict.FAIL, Verdict.ERROR, Verdict.SKIPPED, Verdict.PASS)
    worst = min(repeats, key=lambda result: order.index(result.verdict))
    scores = {score.check_id: score for score in worst.scores if not score.beside}
    judged = scores.pop(JUDGE, None)
    trajectory, failure = worst.execution.trajectory, worst.execution.failure
    is_error = worst.verdict is Verdict.ERROR
    text = worst.execution.text
    return ReportCase(
        name=worst.case_id,
        target=worst.target_id if worst.target_id != PACKAGE else None,
        verdict=_WORDS[worst.verdict],
        duration_seconds=worst.execution.duration_s,
        deterministic_checks=_checks(score for name, score in scores.items() if name not in _OF_PACKAGE),
        package_checks=_checks(score for name, score in scores.items() if name in _OF_PACKAGE),
        judge_verdict=_judged(judged),
        agent_output_snippet=None if text is None else text[:SNIPPET],
        error=_error(worst),
        error_class=(failure.failure_class.value if failure else "ungraded") if is_error else None,
        session_id=trajectory.session_id if trajectory else None,
        verdicts=tuple(_WORDS[result.verdict] for result in repeats) if len(repeats) > 1 else (),
    )


def _checks(scores: Iterable[Score]) -> dict[str, Word]:
    """By the names of the specification; several files are one check there, which passes if all do."""
    words: dict[str, Word] = {}
    for score in scores:
        if score.status is ScoreStatus.UNGRADED:
            continue
        name = FILES_CREATED if score.check_id.startswith(f"{FILES_CREATED} ") else score.check_id
        passed = score.status is ScoreStatus.PASSED and words.get(name) is not Word.FAIL
        words[name] = Word.PASS if passed else Word.FAIL
    return words


def _judged(score: Score | None) -> JudgeVerdict | None:
    if score is None or score.status is ScoreStatus.UNGRADED:
        return None
    result = Word.PASS if score.status is ScoreStatus.PASSED else Word.FAIL
    return JudgeVerdict(result=result, reason=score.reason, model=_model_in(score.evidence))


def _model_in(evidence: Any) -> str | None:
    """The model that a judge's evidence names."""
    if isinstance(evidence, Mapping):
        if isinstance(evidence.get("model"), str):
            return str(evidence["model"])
        return _last(map(_model_in, evidence.values()))
    return _last(map(_model_in, evidence)) if isinstance(evidence, tuple) else None


def _error(result: TrialResult) -> str | None:
    """Return the reason why it did not pass, in a line."""
    if result.verdict is Verdict.PASS:
        return None
    if result.execution.failure:
        return result.execution.failure.message
    if result.verdict is Verdict.SKIPPED:
        return " ".join(result.execution.notes) or None
    wrong = [score for score in result.scores if score.status is not ScoreStatus.PASSED and not score.beside]
    return "; ".join(f"{score.check_id}: {score.reason}" for score in wrong) or None
