"""`eval`: everything that evaluates."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from skillgauge_documents.immutables import immutable

from ..config.arguments import configured, declared, flags_asking_gates
from ..decide.foresight import coarse
from ..errors import ExitCode, Problem, UsageError
from ..evaluation.evaluation import Evaluation
from ..evaluation.invocation import Invocation, invocation
from ..evaluation.options import Asked, eval_options
from .evaluation_options import EvaluationCommand, click_option

if TYPE_CHECKING:
    from ..evaluation.beginning.noting import Noting
    from ..evaluation.beginning.viewing import Viewing
    from ..types.results.runs import RunView

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
    joined = []
    if values["confirm"] is not None:
        joined.append(values["confirm"])
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


@immutable
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
    evaluation = await _prepared(call, request, values, read.confirm)
    if evaluation is None:
        verdict = "done: nothing has changed, so nothing was run"
        call.output.document({"exit_code": ExitCode.OK.value, "verdict": verdict, "problems": []})
        call.output.verdict(verdict, ExitCode.OK)
        return ExitCode.OK
    if flags_asking_gates(values):
        from ..evaluation.conclusion import gate_options, unanswerable_gates  # noqa: PLC0415 - few runs have gates

        gates = gate_options(values, call.config)
        for notice in await asyncio.to_thread(unanswerable_gates, call, evaluation.prepared, gates, earlier):
            call.output.notice(notice)
    if values["dry_run"]:
        return evaluation.print_plan()
    from ..evaluation.conclusion import conclude  # noqa: PLC0415 - slow, and a dry run comes to none

    for warning in coarse(evaluation.prepared):
        call.output.notice(warning)
    noting = _noting(evaluation, values)
    with _viewing(evaluation, is_asked=values["view"]) as viewing:
        outcome = await evaluation.carry_out(fail_fast=values["fail_fast"], viewing=viewing, noting=noting)
        return await asyncio.to_thread(conclude, outcome, evaluation, call, values, earlier)


def _noting(evaluation: Evaluation, values: Mapping[str, Any]) -> Noting | None:
    """Return the words of the user about the run; `None` if there are none."""
    name, note, labels = values["run_name"], values["note"], values["labels"]
    if name is None and note is None and not labels:
        return None
    from ..evaluation.beginning.noting import Noting, parsed_labels  # noqa: PLC0415 - few runs have a name

    return Noting(evaluation.prepared.cast.store, name, note, parsed_labels(labels))


@contextmanager
def _viewing(evaluation: Evaluation, *, is_asked: bool) -> Iterator[Viewing | None]:
    """A viewer for the run; at a terminal its pages stay until Ctrl-C."""
    if not is_asked:
        yield None
        return
    from ..evaluation.beginning.viewing import Viewing  # noqa: PLC0415 - few runs are looked at

    viewing = Viewing(evaluation.call, evaluation.prepared.cast.store)
    try:
        yield viewing
        if sys.stdin is not None and sys.stdin.isatty():
            viewing.wait()
    finally:
        viewing.close()


async def _prepared(
    call: Invocation, request: Asked, values: Mapping[str, Any], confirm: RunView | None
) -> Evaluation | None:
    """Prepare the evaluation, of the cases that an earlier run leaves; `None` if it leaves none."""
    if confirm:
        from ..evaluation.confirming.continued_run import prepare_further  # noqa: PLC0415 - few commands add to a run

        return await prepare_further(call, request, confirm, flags_asking_gates(values))
    if not (values["last_failed"] or values["changed"]):
        return await Evaluation.prepare(call, request)
    from ..evaluation.stored import by_earlier_runs  # noqa: PLC0415 - few commands read earlier runs

    options = await by_earlier_runs(call, request.options, last_failed=values["last_failed"], changed=values["changed"])
    return await Evaluation.prepare(call, replace(request, options=options)) if options else None
