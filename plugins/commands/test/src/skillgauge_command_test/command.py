"""`test`: the deterministic tests of packages, without any model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from skillgauge.api import EmptySelection, ExitCode, JsonObject, Problem, SkillgaugeError, UsageError
from skillgauge.api.run import (
    Evaluation,
    GlobalsCommand,
    Invocation,
    configured,
    eval_options,
    evaluation_options,
    invocation,
)

from .conclusion import TestDocument, conclude
from .members import members

FORMAT = "uaaps"
_SHARED = (
    "runs",
    "concurrency",
    "sandbox",
    "untrusted",
    "keep_workspaces",
    "formats",
    "output_dir",
    "store",
    "fresh",
    "executor",
    "dry_run",
)
"""Options that mean here what they mean for `eval`."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schema of what `test --json` prints."""
    return {"test": TestDocument.model_json_schema()}


def _test(**values: Any) -> int:
    call = invocation(click.get_current_context().obj, configured(values))
    _require_one_selection(values)
    return asyncio.run(_carry_out(call, values))


async def _carry_out(call: Invocation, values: Mapping[str, Any]) -> int:
    packages = _packages(call, values)
    try:
        evaluation = await Evaluation.prepare(call, _options(call, values, packages))
    except SkillgaugeError as error:
        return _nothing(call, values, packages, error)
    if values["dry_run"]:
        return evaluation.print_plan()
    outcome = await evaluation.carry_out()
    return await asyncio.to_thread(conclude, call, evaluation, outcome)


def _packages(call: Invocation, values: Mapping[str, Any]) -> tuple[Path, ...]:
    named = tuple(call.cwd / word for word in values["paths"]) or (call.cwd,)
    return tuple(path for root in named for path in members(root)) if values["workspace"] else named


def _options(call: Invocation, values: Mapping[str, Any], packages: Sequence[Path]) -> Any:
    """Return the options of `eval` for these packages, but for their tests; nothing is written unless asked for."""
    request = eval_options(call, {**values, "paths": tuple(map(str, packages)), "suite_format": FORMAT})
    chosen: dict[str, Any] = {"stage": "tests", "test_skills": values["skill"], "test_hooks": values["hooks"]}
    if values["event"]:
        chosen["test_event"] = values["event"]
    options, reports = request.options, request.reports
    subject = replace(options.what, paths=tuple(packages), format_options={**options.what.format_options, **chosen})
    who = options.who if options.who.store_given else replace(options.who, store=None)
    if not values["formats"]:
        reports = replace(reports, names=(), own=False)
    return replace(request, options=replace(options, what=subject, who=who), reports=reports)


def _nothing(call: Invocation, values: Mapping[str, Any], packages: Sequence[Path], error: SkillgaugeError) -> int:
    """A package without tests is none of anybody's faults; a selection that fits nothing is."""
    if [problem.code for problem in error.problems] != ["suite.empty"]:
        raise error
    if any(values[name] for name in ("skill", "hooks", "event", "case")):
        hint = "Run with --dry-run and without a selection to see what there is."
        raise EmptySelection(Problem("usage.nothing-selected", "the selection matches no case", hint=hint)) from error
    where = ", ".join(str(path) for path in packages)
    verdict = f"done: there are no tests in {where}"
    call.output.document(TestDocument.empty(verdict).model_dump(mode="json"))
    call.output.verdict(verdict)
    return ExitCode.OK


def _require_one_selection(values: Mapping[str, Any]) -> None:
    if values["skill"] and (values["hooks"] or values["event"]):
        message = "--skill selects skills, --hooks and --event select hooks: give one"
        raise UsageError(Problem("usage.selection", message))


command = GlobalsCommand(
    "test",
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PACKAGE]..."),
        click.Option(["--skill"], metavar="NAME", multiple=True, help="Test this skill only."),
        click.Option(["--hooks"], is_flag=True, help="Test the hooks only."),
        click.Option(["--event"], metavar="EVENT", help="Test hooks of this event only."),
        click.Option(["--case"], metavar="GLOB", multiple=True, help="Cases by name or file stem."),
        click.Option(["--workspace"], is_flag=True, help="Test every package of a workspace."),
        *(option for option in evaluation_options() if option.name in _SHARED),
    ],
    callback=_test,
    examples=(
        "skillgauge test my-package",
        "skillgauge test my-package --skill pdf-tools --case 01-basic",
        "skillgauge test --workspace --format junit",
    ),
    help="Run the deterministic tests of packages: their skills' and hooks' commands, without any model.",
)
