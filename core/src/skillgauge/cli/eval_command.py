"""`eval`: everything that evaluates."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from .evaluation import Asked, Evaluation, eval_options
from .evaluation_options import EvaluationCommand, configured, evaluation_options, selection_options
from .foresight import coarse
from .invocation import Invocation, invocation
from .options import Number

if TYPE_CHECKING:
    from ..types.result import RunView

_OPTIONS: list[click.Parameter] = [
    click.Argument(["paths"], nargs=-1, metavar="[PATH|CASE]..."),
    click.Option(["--suite-format"], metavar="NAME", help="Read the paths with this format."),
    *selection_options(),
    click.Option(["-x", "--fail-fast"], is_flag=True, help="Stop at the first failure or error."),
    click.Option(["--list", "listed"], is_flag=True, help="List the cases that are selected; run nothing."),
    *evaluation_options(),
    click.Option(
        ["--confirm"], metavar="RUN", help="Run again what that run leaves in doubt, or --case, and join the results."
    ),
    click.Option(["--report"], is_flag=True, help="Write the document of the suite's own format, too."),
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
    click.Option(
        ["--against"], metavar="BASELINE", help="Ask --gate of the change since that baseline, report or stored run."
    ),
]


def _evaluate(**values: Any) -> int:
    call = invocation(click.get_current_context().obj, configured(values))
    if values["listed"]:
        from .case_list import list_cases  # noqa: PLC0415 - nothing is evaluated then

        return list_cases(call, eval_options(call, values))
    if values["confirm"] is None and values["against"] is None:
        return asyncio.run(_run(call, values, _Read()))
    from .stored_runs import run_reports  # noqa: PLC0415 - only what needs an earlier run reads one

    named = {name: values[name] for name in ("confirm", "against") if values[name] is not None}
    if "against" in named:
        from .against import baseline_source  # noqa: PLC0415 - as above

        named["against"] = baseline_source(call, named["against"])
    with run_reports(call, list(named.values())) as views:
        return asyncio.run(_run(call, values, _Read(**dict(zip(named, views, strict=True)))))


command = EvaluationCommand("eval", params=_OPTIONS, callback=_evaluate, help="Evaluate skills and suites.")


@dataclass(frozen=True)
class _Read:
    """The earlier runs that an evaluation needs."""

    confirm: RunView | None = None
    """That it adds to."""
    against: RunView | None = None
    """That a gate compares it with."""


async def _run(call: Invocation, values: Mapping[str, Any], read: _Read) -> int:
    asked = eval_options(call, values)
    earlier = None
    if read.against:
        from .against import Earlier  # noqa: PLC0415 - few gates compare with an earlier run
        from .conclusion import demands  # noqa: PLC0415 - as above

        earlier = Earlier(read.against, values["against"])
        earlier.require_usable(demands(values))
    evaluation = await (_confirming(call, asked, read.confirm) if read.confirm else Evaluation.prepare(call, asked))
    if values["dry_run"]:
        return evaluation.print_plan()
    from .conclusion import conclude  # noqa: PLC0415 - slow, and a dry run comes to none

    for warning in coarse(evaluation.prepared):
        call.output.notice(warning)
    outcome = await evaluation.carry_out(fail_fast=values["fail_fast"])
    return await asyncio.to_thread(conclude, outcome, evaluation, call, values, earlier)


async def _confirming(call: Invocation, asked: Asked, earlier: RunView) -> Evaluation:
    from .confirming import doubt_of, joined, notice  # noqa: PLC0415 - few commands add to a run

    what, how = asked.options.what, asked.options.how
    doubt = doubt_of(earlier, what.selection, how.runs)
    here = what.paths == (call.cwd,) and not what.format_paths
    again = replace(asked, options=doubt.options(asked.options, here=here), words=())  # they are cases of that run
    evaluation = joined(await Evaluation.prepare(call, again), doubt)
    call.output.notice(notice(doubt))
    return evaluation
