"""The output of `test`: a line for each case, or one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

from pydantic import Field

from skillgauge.api import ExitCode, Frozen, ScoreStatus, TrialResult, Verdict, plain
from skillgauge.api.report import Counts, RunState, RunView, counted, duration
from skillgauge.api.run import EndedRun, Evaluation, Invocation

_WORDS = {Verdict.PASS: "PASS", Verdict.FAIL: "FAIL", Verdict.SKIPPED: "SKIP", Verdict.ERROR: "ERROR"}
_REASON = 2_000


class CaseDocument(Frozen):
    """One case, or one of its repeats."""

    suite: str
    case: str
    verdict: Verdict
    duration_s: float | None
    checks: dict[str, ScoreStatus] = Field(default_factory=dict)
    """Each check that was made, by its name."""
    reason: str = ""
    """Why it did not pass."""


class TestDocument(Frozen):
    """The output of `test --json`."""

    __test__ = False

    schema_version: str = "1.0"
    exit_code: int
    verdict: str
    sandbox: str | None = None
    counts: Counts
    cases: tuple[CaseDocument, ...] = ()
    reports: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def empty(cls, verdict: str) -> Self:
        """Of a package without tests."""
        return cls(exit_code=0, verdict=verdict, counts=Counts())


def conclude(call: Invocation, evaluation: Evaluation, outcome: EndedRun) -> ExitCode:
    """Print what became of a run, and write the reports that were asked for."""
    view, output = outcome.view, call.output
    written = evaluation.write_reports(view)
    code, verdict = decided(view)
    code = outcome.exit_code(code, written)
    cases = [case_document(result) for result in view.results()]
    document = TestDocument(
        exit_code=code,
        verdict=verdict,
        sandbox=evaluation.prepared.sandbox,
        counts=view.summary.counts,
        cases=tuple(cases),
        reports={name: str(path) for name, path in written.paths.items()},
    )
    output.document(document.model_dump(mode="json"))
    output.report(lines(cases, written.paths))
    output.verdict(verdict, code)
    return code


def decided(view: RunView) -> tuple[ExitCode, str]:
    """Exit code and last line: an error of the surroundings is worse than a case that failed."""
    counts = view.summary.counts
    text = f"{counts.passed} of {counts.total} passed"
    text += f", {counted(counts.skipped, 'case')} skipped" if counts.skipped else ""
    if view.run.state is RunState.INTERRUPTED:
        return ExitCode.INTERRUPTED, f"interrupted: {counts.total} of {view.head.trial_count} are done ({text})"
    if counts.errors:
        return ExitCode.INVALID_RUN, f"{counted(counts.errors, 'error')} of the surroundings ({text})"
    if counts.failed:
        return ExitCode.GATE_MISSED, f"failed: {counted(counts.failed, 'case')} ({text})"
    return ExitCode.OK, f"done: {text}"


def case_document(result: TrialResult) -> CaseDocument:
    """A result in a few words."""
    return CaseDocument(
        suite=result.suite_id,
        case=result.case_id,
        verdict=result.verdict,
        duration_s=result.execution.duration_s,
        checks={score.check_id: score.status for score in result.scores if not score.beside},
        reason="\n".join(_reasons(result))[:_REASON],
    )


def _reasons(result: TrialResult) -> Iterator[str]:
    execution = result.execution
    if result.verdict is Verdict.SKIPPED:
        yield from execution.notes
    if execution.failure:
        yield execution.failure.message
    for score in result.scores:
        if score.status is not ScoreStatus.PASSED:
            yield f"{score.check_id}: {score.reason}"


def lines(cases: list[CaseDocument], written: Mapping[str, Path]) -> Iterator[str]:
    """For people: each suite with its cases, and why one did not pass."""
    suite = None
    for case in cases:
        if case.suite != suite:
            suite = case.suite
            yield plain(suite)
        took = f" ({duration(case.duration_s)})" if case.duration_s is not None else ""
        yield f"  {_WORDS[case.verdict]} {plain(case.case)}{took}"
        for reason in case.reason.splitlines():
            yield f"       {plain(reason, 300)}"
    for name, path in written.items():
        yield f"{name} report: {path}"
