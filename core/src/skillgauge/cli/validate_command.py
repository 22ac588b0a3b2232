"""`validate`: check suites without running anything."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from ..errors import ExitCode
from ..report.wording import counted
from .evaluation import eval_options
from .evaluation_options import EvaluationCommand
from .invocation import invocation
from .plan_document import plan_document
from .preparation import prepare_trusted


def _validate(**values: Any) -> int:
    call = invocation(click.get_current_context().obj)
    prepared = asyncio.run(prepare_trusted(call, eval_options(call, {**values, "dry_run": True}).options))
    call.output.problems((*prepared.warnings, *prepared.suites.passed_over))
    call.output.document(plan_document(prepared))
    head = prepared.plan.head
    cases = sum(suite.case_count for suite in head.suites)
    verdict = f"valid: {counted(len(head.suites), 'suite')}, {counted(cases, 'case')}"
    if prepared.suites.passed_over:
        verdict = f"some files could not be read; the others are {verdict}"
    code = ExitCode.USAGE if prepared.suites.passed_over else ExitCode.OK
    call.output.verdict(verdict, code)
    return code


command = EvaluationCommand(
    "validate",
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PATH]..."),
        click.Option(["--suite-format"], metavar="NAME", help="Read the paths with this format."),
    ],
    callback=_validate,
    help="Check suites, their checks and the plugins they need, without running anything.",
)
