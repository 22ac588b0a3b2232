"""A run for people, and as one JSON document."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

from skillgauge.api import Frozen, PlanHead, Problem, TrialResult, UsageError, Verdict, did_you_mean, plain
from skillgauge.api.report import (
    RunInfo,
    RunState,
    RunView,
    Summary,
    case_by_case,
    case_name,
    catalogue,
    compared,
    counted,
    differing,
    duration,
    extent_text,
    listed,
    moment,
    reason_of,
    score_text,
    sentences,
)
from skillgauge.api.run import Output, human_lines, width_of

from .looking import Wanted, require_target

LISTED = 50
"""Trials without a pass that are listed for people."""
_WIDE = 1_000
_SUITES = 8
"""Suites up to which each has a line."""
_COLUMNS = {"suite_id": "Suite", "target_id": "Target", "arm": "Arm", "runner": "Engine", "model": "Model"}
"""What may tell trials apart: fields of `GroupKey`, and how their columns are called."""


class RunDocument(Frozen):
    """A run as `--json` prints it."""

    schema_version: str = "1.0"
    run: RunInfo
    plan: PlanHead
    summary: Summary
    results: tuple[TrialResult, ...]
    """In plan order; fields that have their default value are left out."""


def run_document(view: RunView, arm: str | None = None, target: str | None = None) -> dict[str, object]:
    """A run as one JSON document, of the shape of `RunDocument`; with the results of one arm or target, if named."""
    return {
        "schema_version": "1.0",
        "run": view.run.model_dump(mode="json"),
        "plan": view.head.model_dump(mode="json"),
        "summary": view.summary.model_dump(mode="json"),
        "results": [
            json.loads(result.model_dump_json(exclude_defaults=True))
            for result in view.results()
            if arm in (None, result.arm) and target in (None, result.target_id)
        ],
    }


def show_run(view: RunView, output: Output, arm: str | None = None, target: str | None = None) -> None:
    """Print what the run was, its rates with their intervals, the answer, and which trials did not pass and why.

    Results are read once and not kept. Prints nothing if a JSON document is wanted.

    Args:
        view: the run.
        output: where to.
        arm: list only trials of this arm.
        target: list only trials of this target.

    Raises:
        UsageError: the run has no such arm or target.
    """
    require_target(view, target)
    arms = sorted({group.arm for group in view.summary.groups})
    if arm is not None and arm not in arms:
        message = f"the run has no arm {plain(arm)!r}{did_you_mean(arm, arms)}"
        raise UsageError(
            Problem("report.no-such-arm", plain(message, _WIDE), hint=f"Its arms are: {listed(arms) or 'none'}")
        )
    if output.as_json:
        return
    for line in (*_head_lines(view), *human_lines(view, width_of(sys.stdout), target)):
        output.line(line)
    for sentence in _answers(view, target):
        output.line(plain(sentence, _WIDE))
    _print_not_passed(view, output, Wanted("*", arm, target))


def _answers(view: RunView, target: str | None) -> Iterator[str]:
    """Yield the answers on a target, or on all; many skills have a table instead."""
    if target is None and catalogue(view):
        return
    for pair, sentence in zip(compared(view), sentences(view), strict=True):
        if target in (None, pair.candidate.target_id):
            yield sentence


def _print_not_passed(view: RunView, output: Output, selection: Wanted) -> None:
    """Print the trials that did not pass, of those that are meant."""
    columns = tuple(name for name in _COLUMNS if name in differing(view.summary.groups))
    rows, left_out = _not_passed(view, columns, selection)
    if rows:
        output.line()
        output.table([*(_COLUMNS[name] for name in columns), "Case", "Run", "Verdict", "Reason"], rows)
    if left_out:
        output.line(f"and {left_out:,} more; the report `record` holds all of them")


def run_verdict(view: RunView) -> str:
    """The run in one sentence, for the last line on stderr."""
    partial = "" if view.run.state is RunState.FINISHED else f"{view.run.state}: "
    return f"{partial}{plain(score_text(view), _WIDE)}"


def _head_lines(view: RunView) -> Iterator[str]:
    run, head = view.run, view.head
    took = "" if run.finished_at is None else f", took {duration(max(0.0, run.finished_at - run.started_at))}"
    yield f"Run {plain(run.run_id)} of {moment(run.started_at)}: {run.state}{took}"
    yield f"{extent_text(view)}, seed: {head.seed}"
    if len(head.suites) > _SUITES:
        cases = counted(sum(suite.case_count for suite in head.suites), "case")
        yield f"{len(head.suites)} suites, {cases}"
    for suite in head.suites if len(head.suites) <= _SUITES else ():
        version = f" {plain(suite.version)}" if suite.version else ""
        cases = counted(suite.case_count, "case")
        yield f"Suite {plain(suite.id)}{version} (format {plain(suite.format)}), {cases}"
    for validity in view.summary.validity:
        if not validity.valid:
            yield f"Invalid: {plain(validity.suite_id)}: {plain(validity.reason)}"


def _not_passed(view: RunView, columns: Sequence[str], selection: Wanted) -> tuple[list[list[str]], int]:
    """The first trials that did not pass, and how many more there are."""
    rows: list[list[str]] = []
    left_out = 0
    for report in case_by_case(view, is_abridged=True):
        for group, results in report.results.items():
            if not selection.includes(group):
                continue
            for result in results:
                if result.verdict is Verdict.PASS:
                    continue
                if len(rows) == LISTED:
                    left_out += 1
                    continue
                named = [plain(getattr(group, name) or "", 40) for name in columns]
                row = [str(result.repeat), result.verdict, plain(reason_of(result))]
                rows.append([*named, case_name(report.case), *row])
    return rows, left_out
