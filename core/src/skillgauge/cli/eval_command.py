"""`eval`: everything that evaluates."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from ..decide.foresight import coarse
from ..errors import ExitCode, Problem, SkillgaugeError, UsageError
from ..evaluation.arguments import OPTIONS, configured, declared
from ..evaluation.evaluation import Evaluation
from ..evaluation.invocation import Invocation, invocation
from ..evaluation.options import Asked, eval_options
from ..evaluation.preparation import prepare_trusted
from ..plan.options import EvalOptions
from .evaluation_options import EvaluationCommand, click_option

if TYPE_CHECKING:
    from ..types.result import RunView

_OPTIONS: list[click.Parameter] = [
    click.Argument(["paths"], nargs=-1, metavar="[PATH|CASE]..."),
    *(click_option(option) for option in declared()),
]


def _evaluate(**values: Any) -> int:
    call = invocation(click.get_current_context().obj, configured(values))
    if values["listed"]:
        from .case_list import list_cases  # noqa: PLC0415 - nothing is evaluated then

        asked = eval_options(call, values)
        return list_cases(call, asked.options, asked.words)
    if values["confirm"] and (values["last_failed"] or values["changed"]):
        message = "--confirm continues whole comparisons; it cannot be combined with --last-failed or --changed"
        hint = "Leave out --confirm to run those cases by themselves."
        raise UsageError(Problem("usage.confirm", message, hint=hint))
    if values["confirm"] is None and values["against"] is None:
        return asyncio.run(_run(call, values, _Read()))
    from ..evaluation.stored import run_reports  # noqa: PLC0415 - only what needs an earlier run reads one

    named = {name: values[name] for name in ("confirm", "against") if values[name] is not None}
    if values["confirm"] is not None:
        joined = [values["confirm"]]
    else:
        joined = []
    with run_reports(call, list(named.values()), counted_in=joined) as views:
        return asyncio.run(_run(call, values, _Read(**dict(zip(named, views, strict=True)))))


command = EvaluationCommand(
    "eval",
    params=_OPTIONS,
    callback=_evaluate,
    help="Evaluate skills and suites: what is at PATH, or here; a word that is no path names a case.",
    examples=(
        "skillgauge eval my-skill --engine claude-code",
        "skillgauge eval my-skill --list -k 'csv and not slow'",
        "skillgauge eval my-skill --changed -x",
        "skillgauge eval my-skill -n 3 -j 8 --gate better --format junit html",
    ),
)


@dataclass(frozen=True)
class _Read:
    """The earlier runs that an evaluation needs."""

    confirm: RunView | None = None
    """That it adds to."""
    against: RunView | None = None
    """That a gate compares it with."""


async def _run(call: Invocation, values: Mapping[str, Any], read: _Read) -> int:
    request = eval_options(call, values)
    earlier = None
    if read.against:
        from ..decide.earlier.matching import Earlier  # noqa: PLC0415 - few runs are compared with an earlier one

        earlier = Earlier.of(read.against, values["against"])
        earlier.require_usable()
    if read.confirm:
        evaluation = await _confirming(call, request, read.confirm, _gate_options(values))
    elif values["last_failed"] or values["changed"]:
        chosen = await _chosen_by_earlier(call, request, values)
        if chosen is None:
            verdict = "done: nothing has changed, so nothing was run"
            call.output.document({"exit_code": ExitCode.OK.value, "verdict": verdict, "problems": []})
            call.output.verdict(verdict, ExitCode.OK)
            return ExitCode.OK
        evaluation = chosen
    else:
        evaluation = await Evaluation.prepare(call, request)
    if _gate_options(values):
        from ..evaluation.conclusion import gate_options, unanswerable_gates  # noqa: PLC0415 - few runs have gates

        gates = gate_options(values, call.config)
        for notice in await asyncio.to_thread(unanswerable_gates, call, evaluation.prepared, gates, earlier):
            call.output.notice(notice)
    if values["dry_run"]:
        return evaluation.print_plan()
    from ..evaluation.conclusion import conclude  # noqa: PLC0415 - slow, and a dry run comes to none

    for warning in coarse(evaluation.prepared):
        call.output.notice(warning)
    outcome = await evaluation.carry_out(fail_fast=values["fail_fast"])
    return await asyncio.to_thread(conclude, outcome, evaluation, call, values, earlier)


async def _chosen_by_earlier(call: Invocation, request: Asked, values: Mapping[str, Any]) -> Evaluation | None:
    """The cases that failed last, or have changed since; `None` if none has."""
    from ..evaluation.stored import only_changed, only_failed  # noqa: PLC0415 - few commands read earlier runs

    options: EvalOptions | None = request.options
    if values["last_failed"]:
        options = await asyncio.to_thread(only_failed, call, request.options)
        request = replace(request, options=options)
    if values["changed"]:
        whole = await prepare_trusted(call, request.options)
        options = await asyncio.to_thread(only_changed, call, request.options, whole.plan)
        await whole.job.store.close()
    if options:
        return await Evaluation.prepare(call, replace(request, options=options))
    return None


def _gate_options(values: Mapping[str, Any]) -> list[str]:
    """Options of the command that ask for a gate."""
    asking = [option for option in OPTIONS["Gates"] if option.asks_gate]
    return [option.flags for option in asking if values[option.value_name] not in (None, False, ())]


async def _confirming(call: Invocation, request: Asked, earlier: RunView, demanded: Sequence[str]) -> Evaluation:
    from ..evaluation.confirming import continuation_of, continued, notice, require_no_gate  # noqa: PLC0415 - few commands need it

    subject, how = request.options.what, request.options.how
    continuation = continuation_of(earlier, subject.selection, how.runs)
    if continuation.chosen:
        require_no_gate(demanded)
    else:
        await asyncio.to_thread(_require_latest_look, call, earlier)
    here = subject.paths == (call.cwd,) and not subject.format_paths
    options = continuation.options(request.options, here=here)
    again = replace(request, options=options, words=())  # words are cases of that run
    evaluation = continued(await Evaluation.prepare(call, again), continuation)
    call.output.notice(notice(continuation))
    return evaluation


def _require_latest_look(call: Invocation, earlier: RunView) -> None:
    """Refuse to continue a run past another one of the store that did so already.

    Raises:
        UsageError: the run was continued; with the run to continue instead.
    """
    from ..evaluation.confirmable import continued_by  # noqa: PLC0415 - few commands add to a run
    from ..evaluation.stored import opened_store  # noqa: PLC0415 - as above

    problems: list[Problem] = []
    with suppress(SkillgaugeError), opened_store(call) as store:
        problems = list(continued_by(store, earlier))
    UsageError.raise_for(problems)
