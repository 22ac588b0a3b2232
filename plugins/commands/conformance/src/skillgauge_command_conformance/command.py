"""`conformance`: the goldens of skillevaluation against anyone's runner."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from skillgauge.api import ExitCode, JsonObject, Problem, UsageError
from skillgauge.api.run import GlobalsCommand, invocation

CATEGORIES = ("parser", "outcomes", "verdict", "aggregation", "trajectory")


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from .checking import Conformance  # noqa: PLC0415 - `--help` needs none of it

    return {"conformance": Conformance.model_json_schema()}


@click.command(
    "conformance",
    cls=GlobalsCommand,
    examples=("skillgauge conformance --only verdict ./my-runner",),
    help="Run the conformance data of skillevaluation against a runner: a command that gets the name of a category as "
    "its last argument and a fixture on stdin, and answers on stdout.",
    short_help="Run skillevaluation's conformance data against a runner.",
)
@click.argument("runner", required=False, metavar="RUNNER-COMMAND")
@click.option("--only", type=click.Choice(CATEGORIES), multiple=True, help="Only these categories; repeatable.")
@click.option("--list", "listing", is_flag=True, help="Say where fixtures, contract and schemas lie.")
@click.option("--answer", type=click.Choice(CATEGORIES), help="Answer a fixture on stdin, as a runner does.")
@click.pass_context
def command(ctx: click.Context, *, runner: str | None, only: tuple[str, ...], listing: bool, answer: str | None) -> int:
    """Run the conformance data of skillevaluation against a runner."""
    if answer is not None:
        from .answering import answered  # noqa: PLC0415 - `--help` needs none of it

        text, code = answered(answer, sys.stdin.buffer.read())
        stream = sys.stderr if code else sys.stdout
        stream.flush()
        stream.buffer.write(text.encode())
        stream.buffer.flush()
        return code
    from .checking import checked, places  # noqa: PLC0415 - `--help` needs none of it

    call = invocation(ctx.obj)
    if listing:
        for part, path in places():
            call.output.line(f"{part}: {path}")
        call.output.document({"places": dict(places())})
        return ExitCode.OK
    if runner is None:
        hint = "Name one: skillgauge conformance 'my-runner conform'."
        raise UsageError(Problem("usage.runner", "there is no command of a runner", hint=hint))
    document = checked(runner, only or CATEGORIES)
    for row in document.categories:
        call.output.line(f"{row.name}: {row.passed} of {row.fixtures} passed")
    for failure in document.failures:
        call.output.line(f"  {failure.category}/{failure.fixture}: {failure.reason}")
    call.output.document(document.model_dump(mode="json"))
    summary = f"{document.passed} of {document.fixtures} fixtures of skillevaluation {document.version} passed"
    call.output.verdict(summary)
    return ExitCode.OK if document.passed == document.fixtures else ExitCode.GATE_MISSED
