"""The last two stages: choose among the skills that were evaluated, and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from skillgauge.api import ExitCode
from skillgauge.api.report import RunInfo, RunState, RunView, Summary, counted, listed
from skillgauge.api.run import (
    EndedRun,
    Evaluation,
    Invocation,
    Output,
    ProblemDocument,
    human_lines,
    problem_documents,
)
from skillgauge_skill_selection.catalogue import Candidate
from skillgauge_skill_selection.evidence import newest, reports_of
from skillgauge_skill_selection.selection import Selection, select
from skillgauge_skill_selection.showing import (
    SelectionDocument,
    ranking_table,
    selection_document,
    selection_notices,
)
from skillgauge_skill_selection.strategy import Strategy


class RunDocument(SelectionDocument):
    """The output of `run --json`."""

    exit_code: int
    verdict: str
    notices: tuple[str, ...] = ()
    sandbox: str
    run: RunInfo
    summary: Summary
    reports: dict[str, str]
    """Path of each report that was written, by reporter."""
    problems: tuple[ProblemDocument, ...] = ()
    """Warnings, and files that a search passed over."""


def conclude(
    call: Invocation, evaluation: Evaluation, outcome: EndedRun, candidates: Sequence[Candidate], strategy: Strategy
) -> ExitCode:
    """Select, write the reports, print everything.

    Args:
        call: the command line.
        evaluation: what was carried out.
        outcome: what became of it. From a run that was stopped nothing is selected: half a run compares nothing.
        candidates: the skills that were evaluated.
        strategy: how to choose.
    """
    (view, remarks), output = call.commented(outcome.view), call.output
    bad_files = bool(evaluation.prepared.suites.passed_over)
    finished = view.run.state is RunState.FINISHED
    reports, notices = reports_of(view) if finished else ((), ())
    evidence = newest(reports)
    selection = select(candidates, evidence.by_skill, strategy)
    if finished:
        notices = (*notices, *selection_notices(selection, evidence))
        chosen, total = len(selection.selected), counted(selection.total, "skill")
        output.notice(f"[3/4] Select: {chosen or 'none'} of {total}")
    notices = (*notices, *remarks)
    written = evaluation.write_reports(view)
    output.notice(f"[4/4] Report: {', '.join(written.paths) or 'none'}")
    exit_code, verdict = _verdict(view, selection, bad_files=bad_files, is_kept=evaluation.prepared.job.store.durable)
    exit_code = outcome.exit_code(exit_code, written)
    prepared = evaluation.prepared
    document = RunDocument(
        **dict(selection_document(selection, strategy)),
        exit_code=exit_code,
        verdict=verdict,
        notices=notices,
        sandbox=prepared.sandbox,
        run=view.run,
        summary=view.summary,
        reports={name: str(path) for name, path in written.paths.items()},
        problems=problem_documents((*prepared.warnings, *outcome.failures, *prepared.suites.passed_over)),
    )
    output.document(document.model_dump(mode="json"))
    if not output.quiet:
        _print(output, view, selection, strategy, written.paths)
    if outcome.already_done:
        output.notice(f"done before the interruption, so not run again: {counted(outcome.already_done, 'trial')}")
    for notice in notices:
        output.notice(notice)
    output.verdict(verdict, exit_code)
    return exit_code


def _print(
    output: Output, view: RunView, selection: Selection, strategy: Strategy, written: Mapping[str, Path]
) -> None:
    for line in human_lines(view):
        output.line(line)
    for name, path in written.items():
        output.line(f"{name} report: {path}")
    if selection.selected or selection.rejected:
        output.line()
        output.table(*ranking_table((*selection.selected, *selection.rejected), strategy, selection.cost_unit))
    if selection.selected:
        ids = [one.candidate.id for one in selection.selected]
        output.line(f"Top {len(ids)} selected: {listed(ids, len(ids))}")


def _verdict(view: RunView, selection: Selection, *, bad_files: bool, is_kept: bool) -> tuple[ExitCode, str]:
    """The worst news first: a run that was stopped decides nothing, and an invalid one proves nothing."""
    counts = view.summary.counts
    score = f"{counts.passed} of {counts.total} trials passed"
    done = f"{counts.total} of {counted(view.head.trial_count, 'trial')} are done ({score}), nothing was selected"
    match view.run.state:
        case RunState.INTERRUPTED:
            next_run = "the same command resumes the run" if is_kept else "without a store the same command starts over"
            return ExitCode.INTERRUPTED, f"interrupted: {done}; {next_run}"
        case RunState.STOPPED:
            return ExitCode.BUDGET, f"stopped by a budget: {done}"
        case RunState.FINISHED | RunState.RUNNING:
            pass
        case _:
            assert_never(view.run.state)
    chosen = f"{len(selection.selected) or 'none'} of {counted(selection.total, 'skill')} selected ({score})"
    invalid = [f"{one.suite_id}: {one.reason}" for one in view.summary.validity if not one.valid]
    if invalid:
        return ExitCode.INVALID_RUN, f"invalid run: {'; '.join(invalid)}; {chosen}"
    if bad_files:
        return ExitCode.USAGE, f"some files or cases could not be read; of the others {chosen}"
    return ExitCode.OK, f"done: {chosen}"
