"""`worker`: makes attempts of the runs of an executor, until it is stopped."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from skillgauge.api import ExitCode, JsonObject, Problem, UsageError
from skillgauge.api.run import GlobalsCommand, invocation

if TYPE_CHECKING:
    from skillgauge_workers import Offer

    from .executors import Host


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from .documents import WorkerDocument  # noqa: PLC0415 - `--help` needs none of it

    return {"worker": WorkerDocument.model_json_schema()}


@click.command(
    "worker",
    cls=GlobalsCommand,
    examples=(
        "skillgauge worker --set executors.dask.scheduler_file=scheduler.json --places 4",
        "skillgauge worker --set executors.dask.address=tls://10.0.0.5:8786 --resource docker=4",
    ),
    help="Start a worker that makes attempts of the runs of an executor, until Ctrl-C or the end of its cluster. Each "
    "run admits it, or refuses it with every reason, before it gets a trial.",
    short_help="Start a worker for the runs of an executor.",
)
@click.option("--executor", metavar="NAME", help="Executor to work for; default: the only one that has such workers.")
@click.option("--places", type=click.IntRange(min=1), metavar="N", help="Attempts at once; default: processors.")
@click.option(
    "--resource",
    "resources",
    multiple=True,
    metavar="NAME=N",
    help="Something that this machine has so much of, such as docker=4; may be repeated.",
)
@click.option("--name", metavar="NAME", help="Name in messages of runs; default: host and process.")
@click.option("--host", metavar="ADDRESS", help="Address of this machine at which the cluster reaches the worker.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    executor: str | None,
    places: int | None,
    resources: tuple[str, ...],
    name: str | None,
    host: str | None,
) -> int:
    """Start a worker."""
    from skillgauge_workers import Offer, name_here  # noqa: PLC0415 - `--help` needs none of it

    from .documents import WorkerDocument  # noqa: PLC0415 - as above
    from .executors import find_host  # noqa: PLC0415 - as above
    from .inventory import take_inventory  # noqa: PLC0415 - as above

    call = invocation(ctx.obj)
    offer = Offer(
        name=name or name_here(),
        places=places or os.cpu_count() or 1,
        resources=dict(_amount(word) for word in resources),
        host=host,
    )
    serving = find_host(call, executor)
    inventory = asyncio.run(take_inventory(call))
    document = WorkerDocument.of(serving.executor, offer, inventory)
    call.output.document(document.model_dump(mode="json"))
    for line in document.lines():
        call.output.line(line)
    sys.stdout.flush()  # a worker lives for long, and its output mostly goes to a file
    asyncio.run(_serve(serving, offer))
    call.output.verdict(f"worker {offer.name} has ended")
    return ExitCode.OK


async def _serve(serving: Host, offer: Offer) -> None:
    await serving.serve(offer, lambda line: click.echo(line, err=True))


def _amount(word: str) -> tuple[str, float]:
    name, _, number = word.partition("=")
    try:
        amount = float(number)
    except ValueError:
        amount = 0.0
    if not name or not 0 < amount < float("inf"):
        hint = "Write --resource NAME=N, such as docker=4."
        raise UsageError(Problem("worker.resource", f"{word!r} is no NAME=N with a number above 0", hint=hint))
    return name, amount
