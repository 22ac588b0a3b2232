"""`grade`: sessions that agents' programs kept, with figures on firing, cost and turns, or graded by a suite."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgauge.api import ExitCode, JsonObject, Problem, UsageError
from skillgauge.api.run import EvaluationCommand, Invocation, configured, evaluation_options, invocation

if TYPE_CHECKING:
    from .finding import Sessions

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
_OF_SUITE = ("case_id", "suite_format", "without_judged", *_SHARED)
"""Values that mean something with a suite only."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from .documents import SessionsDocument  # noqa: PLC0415 - `--help` needs none of it

    return {"grade": SessionsDocument.model_json_schema()}


def _grade(**values: Any) -> int:
    from .finding import find_sessions  # noqa: PLC0415 - `--help` needs none of it

    with_suite = [name for name in _OF_SUITE if values.get(name)]
    call = invocation(click.get_current_context().obj, configured(values))
    if with_suite and not values["suite"]:
        named = ", ".join(f"--{name.removesuffix('_id').replace('_', '-')}" for name in with_suite)
        hint = "Name the suite to grade by: --suite PATH."
        raise UsageError(Problem("grade.no-suite", f"{named}: means something with --suite only", hint=hint))
    sessions = find_sessions(call, [call.cwd / path for path in values["sessions"]])
    code = asyncio.run(_by_suite(call, values, sessions)) if values["suite"] else _shown(call, sessions)
    return ExitCode.USAGE if code == ExitCode.OK and sessions.problems else code


command = EvaluationCommand(
    "grade",
    params=[
        click.Argument(["sessions"], nargs=-1, required=True, metavar="SESSIONS...", type=click.Path(path_type=Path)),
        click.Option(["--suite"], metavar="PATH", help="Grade by the cases of this suite; matched by their prompts."),
        click.Option(["--suite-format"], metavar="NAME", help="Read the suite with this format."),
        click.Option(["--case", "case_id"], metavar="ID", help="The case that a single session is of."),
        click.Option(["--without-judged"], is_flag=True, help="Skip the cases that need a judge."),
        *(option for option in evaluation_options() if option.name in _SHARED),
    ],
    callback=_grade,
    examples=(
        "skillgauge grade sessions",
        "skillgauge grade sessions --suite my-skill",
        "skillgauge grade session.jsonl --suite my-skill --case greets",
    ),
    help="Show which skills fired in sessions that agents' programs kept, or grade them by a suite.",
)


def _shown(call: Invocation, sessions: Sessions) -> int:
    """Print a line a session, the figures of each skill, and all together."""
    from .documents import SessionsDocument, print_sessions  # noqa: PLC0415 - as above

    document = SessionsDocument.of(sessions, call.cwd)
    call.listener.problems(sessions.problems)
    call.output.document(document.model_dump(mode="json"))
    print_sessions(document, call.output)
    return ExitCode.OK


async def _by_suite(call: Invocation, values: Mapping[str, Any], sessions: Sessions) -> int:
    from skillgauge.api.run import conclude, eval_options  # noqa: PLC0415 - as above

    from .grading import by_suite  # noqa: PLC0415 - as above

    chosen = {name: value for name, value in values.items() if name not in ("sessions", "suite", "case_id")}
    request = eval_options(call, {**chosen, "paths": (values["suite"],)})
    evaluation = await by_suite(call, request, sessions, values["case_id"])
    if values["dry_run"]:
        return evaluation.print_plan()
    outcome = await evaluation.carry_out()
    return await asyncio.to_thread(conclude, outcome, evaluation, call, values)
