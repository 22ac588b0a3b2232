"""`store`: places where runs are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import click

from skillgauge.api import ExitCode, JsonObject
from skillgauge.api.run import GlobalsGroup, invocation

command = GlobalsGroup("store", help="Places where runs are kept.")


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from .copying import CopyDocument  # noqa: PLC0415 - `--help` needs none of it

    return {"store-copy": CopyDocument.model_json_schema()}


@command.command(
    "copy",
    examples=("skillgauge store copy skillgauge.db postgresql://db.example/evals",),
    help="Copy the finished runs of one store into another; runs that are there already are passed over.",
)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--run", "run_ids", metavar="ID", multiple=True, help="Copy only the run of this id; can be repeated.")
@click.pass_context
def copy(ctx: click.Context, *, source: str, target: str, run_ids: tuple[str, ...]) -> int:
    """Copy runs."""
    from .copying import copy_runs  # noqa: PLC0415 - `--help` needs none of it

    call = invocation(ctx.obj)
    document = asyncio.run(copy_runs(call, source, target, run_ids))
    call.output.document(document.model_dump(mode="json"))
    call.output.verdict(document.verdict())
    return ExitCode.OK
