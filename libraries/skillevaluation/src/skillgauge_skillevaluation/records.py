"""The case records of a run: each run of each case in both arms, in the words of skillevaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from skillgauge.api import CaseHead, EventKind, Score, ScoreStatus, SuiteHead, TrialResult, Verdict, thaw
from skillgauge.api.report import CaseReport, GroupKey, RunView, case_by_case

from .aggregation import ArmMetrics, Unit
from .made_up import made_up_figures
from .outcomes import outcome_of
from .transcripts import transcript_of

LONGEST_TRANSCRIPT = 20_000
"""Characters of a transcript in a result document."""
_NO_REASON = "no reason was given"
_VALIDATOR_KEYS = ("label", "cmd", "exit_code", "expect_exit_code", "stdout", "stderr", "passed", "errored")


@dataclass(frozen=True)
class Series:
    """The subject of one result document: a skill with one runner and one model."""

    suite: SuiteHead
    candidate: GroupKey
    """The group of the arm with the skill."""
    baseline: GroupKey


@dataclass(frozen=True)
class Record:
    """One run of one case."""

    series: Series
    case: CaseHead
    repeat: int
    """From 1."""
    ours: TrialResult
    """With the skill."""
    theirs: TrialResult

    @cached_property
    def unit(self) -> Unit:
        """The values that enter the aggregate."""
        arms = (self.ours, self.theirs)
        passed = [arm.verdict is Verdict.PASS for arm in arms]
        errored = any(arm.verdict is Verdict.ERROR for arm in arms)
        outcome = outcome_of(with_passed=passed[0], without_passed=passed[1], errored=errored)
        return Unit(outcome, metrics_of(self.ours), metrics_of(self.theirs))

    @property
    def is_made_up(self) -> bool:
        """True if figures of it are no measures."""
        return any(made_up_figures(arm.execution) for arm in (self.ours, self.theirs))

    @property
    def was_set_up(self) -> bool:
        """True if both arms came as far as the agent."""
        return all(
            arm.execution.duration_s is not None or not arm.execution.failure for arm in (self.ours, self.theirs)
        )


@dataclass(frozen=True)
class Skipped:
    """A case that was not run, and why."""

    series: Series
    case: CaseHead
    reason: str


def records_of(view: RunView) -> Iterator[Record | Skipped]:
    """Every run of every case that both arms of a comparison have a result of, in the order of the cases.

    One case is held at a time. Blocks; call it from a worker thread.
    """
    suites = {suite.id: suite for suite in view.head.suites}
    for case in case_by_case(view):
        suite = suites.get(case.case.suite_id)
        if suite is not None:
            yield from _of_case(suite, case)


def _of_case(suite: SuiteHead, case: CaseReport) -> Iterator[Record | Skipped]:
    for pair in case.pairs:
        series = Series(suite, pair.candidate, pair.baseline)
        ours, theirs = (_by_repeat(case.results.get(key, ())) for key in (pair.candidate, pair.baseline))
        reports = [*ours.values(), *theirs.values()]
        if reports and all(one.verdict is Verdict.SKIPPED for one in reports):
            yield Skipped(series, case.case, "; ".join(dict.fromkeys(reports[0].execution.notes)))
            continue
        for repeat in sorted(ours.keys() & theirs.keys()):
            yield Record(series, case.case, repeat, ours[repeat], theirs[repeat])


def _by_repeat(results: Iterable[TrialResult]) -> dict[int, TrialResult]:
    return {result.repeat: result for result in results}


def metrics_of(result: TrialResult) -> ArmMetrics:
    """Return the figures of an arm. One that its engine does not report is 0; made-up ones go before measured ones."""
    execution = result.execution
    trajectory, usage = execution.trajectory, execution.usage
    events = trajectory.events if trajectory else ()
    calls = sum(event.kind is EventKind.TOOL_CALL for event in events)
    errored = execution.failure is not None and result.verdict is Verdict.ERROR
    metrics = ArmMetrics(
        passed=result.verdict is Verdict.PASS,
        task_attempted=not errored and bool(calls or (execution.text or "").strip()),
        errored=errored,
        duration_ms=round((execution.duration_s or 0.0) * 1000),
        turns=(trajectory.turns or 0) if trajectory else 0,
        total_tokens=usage.all_tokens if usage else 0,
        tool_call_count=calls,
    )
    return replace(metrics, **made_up_figures(execution))


def case_document(record: Record, *, transcripts: bool = True) -> dict[str, Any]:
    """The record as a result document has it."""
    unit = record.unit
    document: dict[str, Any] = {"case_name": record.case.id, "outcome": unit.outcome.value}
    if record.series.suite.runs > 1:
        document["run"] = record.repeat
    if record.was_set_up:
        document["with_skill"] = arm_document(record.ours, unit.with_skill)
        document["without_skill"] = arm_document(record.theirs, unit.without_skill)
    document |= graded_document(record.ours)
    faults = [told for arm in (record.ours, record.theirs) if (told := fault_of(arm))]
    if faults:
        document["error"] = "; ".join(faults)
    if transcripts and record.was_set_up:
        document["transcripts"] = {
            name: transcript_of(record.case.prompt, arm.execution)[:LONGEST_TRANSCRIPT]
            for name, arm, metrics in (
                ("with", record.ours, unit.with_skill),
                ("without", record.theirs, unit.without_skill),
            )
            if not metrics.errored
        }
    return document


def arm_document(result: TrialResult, metrics: ArmMetrics) -> dict[str, Any]:
    """The measures of an arm, and whether it was answered from an earlier run."""
    document: dict[str, Any] = asdict(metrics)
    if result.execution.replayed:
        document["cached"] = True
    if result.execution.failure is not None:
        document["error"] = result.execution.failure.message
    return document


def graded_document(result: TrialResult) -> dict[str, list[dict[str, Any]]]:
    """Return the results of the expectations and the validators of an arm."""
    scores = [score for score in result.scores if not score.beside]
    validators = [validator for score in scores if (validator := _validator(score)) is not None]
    expectations = [_expectation(score) for score in scores if _validator(score) is None]
    return {"expectation_results": expectations, "validator_results": validators}


def fault_of(result: TrialResult) -> str:
    """Return the reason why an arm is an error; empty if it is none."""
    if result.verdict is not Verdict.ERROR:
        return ""
    failure = result.execution.failure
    ungraded = [score.reason for score in result.scores if score.status is ScoreStatus.UNGRADED and not score.beside]
    return f"{result.arm}: {failure.message if failure else '; '.join(ungraded)}"


def _validator(score: Score) -> dict[str, Any] | None:
    evidence = score.evidence
    if not isinstance(evidence, Mapping) or "cmd" not in evidence:
        return None
    return {key: thaw(evidence[key]) for key in _VALIDATOR_KEYS if key in evidence}


def _own_reason(score: Score) -> str:
    """Return a judge's reason about the one statement that it was asked about."""
    answers = score.evidence.get("answers") if isinstance(score.evidence, Mapping) else None
    only = answers[0] if isinstance(answers, tuple) and len(answers) == 1 else None
    return str(only.get("reason") or "") if isinstance(only, Mapping) else ""


def _expectation(score: Score) -> dict[str, Any]:
    document: dict[str, Any] = {
        "expectation": score.check_id,
        "passed": score.status is ScoreStatus.PASSED,
        "reason": _own_reason(score) or score.reason or _NO_REASON,
    }
    if score.status is ScoreStatus.UNGRADED:
        document["errored"] = True
    return document
