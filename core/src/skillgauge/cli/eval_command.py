"""`eval`: everything that evaluates."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..report.answer import spending_text
from ..run.pipeline import Conclusion
from ..types.result import RunView
from .decision import Decision, GateOptions, decide
from .eval_document import document, human_lines
from .evaluation import Evaluation, EvaluationCommand, configured, eval_options, evaluation_options
from .failing import failing_lines
from .foresight import coarse
from .invocation import Invocation, invocation
from .options import Number
from .output import Output

_OPTIONS: list[click.Parameter] = [
    click.Argument(["paths"], nargs=-1, metavar="[PATH|CASE]..."),
    click.Option(["--suite-format"], metavar="NAME", help="Read the paths with this format."),
    click.Option(["--case"], metavar="GLOB", multiple=True, help="Cases to run, by id or file stem."),
    click.Option(["--tag"], metavar="TAG", multiple=True, help="Run cases with any of these tags."),
    click.Option(["--target"], metavar="ID", multiple=True, help="Targets to run."),
    *evaluation_options(),
    click.Option(["--exit-on-fail"], is_flag=True, help="Exit 1 if a target stays below --min-completion."),
    click.Option(["--min-completion"], type=Number(0, 1), metavar="R", help="Threshold; default 0.7."),
]


def _evaluate(**values: Any) -> int:
    call = invocation(click.get_current_context().obj, configured(values))
    return asyncio.run(_run(call, values))


command = EvaluationCommand("eval", params=_OPTIONS, callback=_evaluate, help="Evaluate skills and suites.")


async def _run(call: Invocation, values: Mapping[str, Any]) -> int:
    evaluation = await Evaluation.prepare(call, eval_options(call, values))
    if values["dry_run"]:
        return evaluation.print_plan()
    for warning in coarse(evaluation.prepared):
        call.output.notice(warning)
    outcome = await evaluation.carry_out()
    return await asyncio.to_thread(_report, outcome, evaluation, call, values)


def _report(outcome: Conclusion, evaluation: Evaluation, call: Invocation, values: Mapping[str, Any]) -> int:
    view = outcome.view
    written = evaluation.write_reports(view)
    gate = GateOptions(
        exit_on_fail=values["exit_on_fail"],
        min_completion=values["min_completion"] if values["min_completion"] is not None else 0.7,
        threshold_given=values["min_completion"] is not None,
    )
    decision = decide(view, gate, has_bad_files=bool(evaluation.prepared.suites.passed_over))
    notices = (*decision.notices, *call.run_notices(view))
    decision = replace(decision, exit_code=evaluation.exit_code(decision.exit_code), notices=notices)
    _print(view, decision, written, outcome, evaluation, call.output)
    return decision.exit_code


def _print(
    view: RunView,
    decision: Decision,
    written: Mapping[str, Path],
    outcome: Conclusion,
    evaluation: Evaluation,
    output: Output,
) -> None:
    output.document(document(view, decision, written, evaluation.prepared) if output.as_json else None)
    for line in human_lines(view):
        output.line(line)
    for line in () if output.as_json else failing_lines(view, evaluation.kept_as(view, written)):
        output.line(line)
    if spent := spending_text(view.summary.spending):
        output.line(spent)
    for name, path in written.items():
        output.line(f"{name} report: {path}")
    if outcome.already_done:
        output.notice(f"{outcome.already_done} trials had been done before the interruption and were not run again")
    for notice in decision.notices:
        output.notice(notice)
    output.verdict(decision.verdict)
