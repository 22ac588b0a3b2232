"""`rescore`: grade a stored run again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from skillgauge.api.run import (
    EvaluationCommand,
    Invocation,
    Number,
    configured,
    eval_options,
    evaluation_options,
    invocation,
)

if TYPE_CHECKING:
    from skillgauge.api.report import RunView

_SHARED = (
    "concurrency",
    "max_cost",
    "max_tokens",
    "check",
    "judge",
    "judge_model",
    "formats",
    "output_dir",
    "output_file",
    "store",
    "fresh",
    "dry_run",
)
"""Options of `eval` that mean something where nothing is executed."""
_OPTIONS: list[click.Parameter] = [
    click.Argument(["source"], metavar="RUN|FILE"),
    click.Argument(["paths"], nargs=-1, metavar="[PATH]..."),
    click.Option(["--suite-format"], metavar="NAME", help="Read the paths with this format."),
    *(option for option in evaluation_options() if option.name in _SHARED),
    click.Option(["--exit-on-fail"], is_flag=True, help="Exit 1 if a target stays below --min-completion."),
    click.Option(["--min-completion"], type=Number(0, 1), metavar="R", help="Threshold; default 0.7."),
]


def _rescore(**values: Any) -> int:
    from skillgauge.api.run import run_reports  # noqa: PLC0415 - `--help` needs none of it

    call = invocation(click.get_current_context().obj, configured(values))
    with run_reports(call, [values["source"]], counted_in=[values["source"]]) as (view,):
        return asyncio.run(_carry_out(call, values, view))


command = EvaluationCommand(
    "rescore",
    params=_OPTIONS,
    callback=_rescore,
    examples=(
        "skillgauge rescore latest",
        "skillgauge rescore latest --judge claude-sonnet-4-5 --format html",
    ),
    help="Grade what a stored run has done again, with the checks and judges of now; nothing is executed.",
)


async def _carry_out(call: Invocation, values: Mapping[str, Any], view: RunView) -> int:
    from skillgauge.api.run import conclude  # noqa: PLC0415 - as above
    from skillgauge_regrading import asked_for, regrade  # noqa: PLC0415 - as above

    evaluation = await regrade(call, asked_for(eval_options(call, values), view, here=not values["paths"]), view)
    if values["dry_run"]:
        return evaluation.print_plan()
    outcome = await evaluation.carry_out()
    return await asyncio.to_thread(conclude, outcome, evaluation, call, values)
