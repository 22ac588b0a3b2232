"""`eval`: everything that evaluates."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import click

from .evaluation import Evaluation, EvaluationCommand, configured, eval_options, evaluation_options
from .foresight import coarse
from .invocation import Invocation, invocation
from .options import Number

_OPTIONS: list[click.Parameter] = [
    click.Argument(["paths"], nargs=-1, metavar="[PATH|CASE]..."),
    click.Option(["--suite-format"], metavar="NAME", help="Read the paths with this format."),
    click.Option(["--case"], metavar="GLOB", multiple=True, help="Cases to run, by id or file stem."),
    click.Option(["--tag"], metavar="TAG", multiple=True, help="Run cases with any of these tags."),
    click.Option(["--target"], metavar="ID", multiple=True, help="Targets to run."),
    *evaluation_options(),
    click.Option(["--exit-on-fail"], is_flag=True, help="Exit 1 if a target stays below --min-completion."),
    click.Option(["--min-completion"], type=Number(0, 1), metavar="R", help="Threshold; default 0.7."),
    click.Option(
        ["--min-delta-pts"], type=Number(-100, 100), metavar="X", help="Exit 1 if a skill helps by fewer points."
    ),
    click.Option(
        ["--fail-on-verdict"],
        type=click.Choice(["fail", "mixed", "error"]),
        multiple=True,
        help="Exit 1 if the cases of a comparison come to this verdict; repeatable.",
    ),
    click.Option(
        ["--gate"],
        type=click.Choice(["better", "not-worse"]),
        help="Exit 1 if a skill is shown not to be that, and 3 if the run cannot tell.",
    ),
    click.Option(["--margin"], type=Number(0, 100), metavar="PTS", help="Points that --gate allows or asks for."),
]


def _evaluate(**values: Any) -> int:
    call = invocation(click.get_current_context().obj, configured(values))
    return asyncio.run(_run(call, values))


command = EvaluationCommand("eval", params=_OPTIONS, callback=_evaluate, help="Evaluate skills and suites.")


async def _run(call: Invocation, values: Mapping[str, Any]) -> int:
    evaluation = await Evaluation.prepare(call, eval_options(call, values))
    if values["dry_run"]:
        return evaluation.print_plan()
    from .conclusion import conclude  # noqa: PLC0415 - slow, and a dry run comes to none

    for warning in coarse(evaluation.prepared):
        call.output.notice(warning)
    outcome = await evaluation.carry_out()
    return await asyncio.to_thread(conclude, outcome, evaluation, call, values)
