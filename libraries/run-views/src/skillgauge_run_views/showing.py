"""A run for people, and as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterator

from skillgauge.api import (
    Frozen,
    Output,
    PlanHead,
    RunInfo,
    RunState,
    RunView,
    Summary,
    TrialResult,
    Verdict,
    counted,
    duration,
    human_lines,
    moment,
    plain,
    reason_of,
)

LISTED = 50
"""Trials without a pass that are listed for people."""
_WIDE = 1_000


class RunDocument(Frozen):
    """A run as `--json` prints it."""

    schema_version: str = "1.0"
    run: RunInfo
    plan: PlanHead
    summary: Summary
    results: tuple[TrialResult, ...]
    """In plan order; fields that have their default value are left out."""


def run_document(view: RunView) -> dict[str, object]:
    """A run as one JSON document, of the shape of `RunDocument`."""
    return {
        "schema_version": "1.0",
        "run": view.run.model_dump(mode="json"),
        "plan": view.head.model_dump(mode="json"),
        "summary": view.summary.model_dump(mode="json"),
        "results": [json.loads(result.model_dump_json(exclude_defaults=True)) for result in view.results()],
    }


def show_run(view: RunView, output: Output) -> None:
    """Print what the run was, its rates with their intervals, and which trials did not pass and why.

    Results are read once and not kept. Prints nothing if a JSON document is wanted.
    """
    if output.as_json:
        return
    for line in _head_lines(view):
        output.line(line)
    for line in human_lines(view):
        told = line.lstrip(" ")
        output.line(" " * (len(line) - len(told)) + plain(told, _WIDE))
    rows, left_out = _not_passed(view)
    if rows:
        several = len(view.summary.groups) > 1
        heads = ["Target", "Case", "Run", "Verdict", "Reason"]
        output.line()
        output.table(heads if several else heads[1:], [row if several else row[1:] for row in rows])
    if left_out:
        output.line(f"and {left_out:,} more; the report `record` holds all of them")


def run_verdict(view: RunView) -> str:
    """The run in one sentence, for the last line on stderr."""
    counts = view.summary.counts
    score = f"{counts.passed} of {counts.total} passed"
    errors = f", {counted(counts.errors, 'error')}" if counts.errors else ""
    partial = "" if view.run.state is RunState.FINISHED else f"{view.run.state}: "
    return f"{partial}{score}{errors}"


def _head_lines(view: RunView) -> Iterator[str]:
    run, head = view.run, view.head
    took = "" if run.finished_at is None else f", took {duration(max(0.0, run.finished_at - run.started_at))}"
    yield f"Run {plain(run.run_id)} of {moment(run.started_at)}: {run.state}{took}"
    yield f"{counted(head.trial_count, 'trial')}, runs: {head.runs}, seed: {head.seed}"
    for suite in head.suites:
        version = f" {plain(suite.version)}" if suite.version else ""
        cases = counted(suite.case_count, "case")
        yield f"Suite {plain(suite.id)}{version} (format {plain(suite.format)}), {cases}"
    for validity in view.summary.validity:
        if not validity.valid:
            yield f"Invalid: {plain(validity.suite_id)}: {plain(validity.reason)}"


def _not_passed(view: RunView) -> tuple[list[list[str]], int]:
    """The first trials that did not pass, and how many more there are."""
    rows: list[list[str]] = []
    left_out = 0
    for result in view.results():
        if result.verdict is Verdict.PASS:
            continue
        if len(rows) == LISTED:
            left_out += 1
            continue
        target = plain(result.target_id or result.arm, 40)
        rows.append([target, plain(result.case_id, 60), str(result.repeat), result.verdict, plain(reason_of(result))])
    return rows, left_out
