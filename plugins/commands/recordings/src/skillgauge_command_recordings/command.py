"""`recordings`: what agents did in earlier runs, kept to be played back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from skillgauge.api import ExitCode, JsonObject, Problem, UsageError
from skillgauge.api.run import (
    EvaluationCommand,
    GlobalsGroup,
    Invocation,
    configured,
    evaluation_options,
    invocation,
)

command = GlobalsGroup("recordings", help="Recordings of agents' sessions, made by --record.")


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from .documents import ListDocument, PruneDocument  # noqa: PLC0415 - `--help` needs none of it

    return {
        "recordings-list": ListDocument.model_json_schema(),
        "recordings-prune": PruneDocument.model_json_schema(),
    }


@command.command("list", examples=("skillgauge recordings list recordings",), help="Show every recording of a folder.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.pass_context
def list_(ctx: click.Context, *, folder: Path) -> int:
    """Show every recording of a folder."""
    from .documents import listed  # noqa: PLC0415 - `--help` needs none of it

    call = invocation(ctx.obj)
    document = listed(_existing(call, folder))
    call.output.document(document.model_dump(mode="json"))
    for recording in document.recordings:
        call.output.line(recording.line())
    damaged = sum(recording.damaged for recording in document.recordings)
    damage = f", {damaged} of them damaged and never played" if damaged else ""
    call.output.verdict(f"{len(document.recordings)} recordings in {folder}{damage}")
    return ExitCode.OK


def _prune(**values: Any) -> int:
    from .documents import pruned  # noqa: PLC0415 - `--help` needs none of it

    removes, folder = values.pop("yes"), values.pop("folder")
    call = invocation(click.get_current_context().obj, configured(values))
    document = asyncio.run(pruned(call, values, _existing(call, folder), removes=removes))
    call.output.document(document.model_dump(mode="json"))
    for recording in document.stale:
        call.output.line(recording.line())
    stale = len(document.stale)
    if removes:
        call.output.verdict(f"removed {stale} recordings, kept {document.kept}")
    elif stale:
        words = f"{stale} recordings fit no session of these suites, {document.kept} do"
        call.output.verdict(f"{words}; remove them with --yes")
    else:
        call.output.verdict(f"all {document.kept} recordings fit a session of these suites")
    return ExitCode.OK


def _existing(call: Invocation, folder: Path) -> Path:
    path = call.cwd / folder
    if not path.is_dir():
        hint = "Name the folder that --record made."
        raise UsageError(Problem("recordings.none", f"there is no folder {folder}", hint=hint))
    return path


command.add_command(
    EvaluationCommand(
        "prune",
        params=[
            click.Argument(["folder"], metavar="DIR", type=click.Path(path_type=Path)),
            click.Argument(["paths"], nargs=-1, metavar="[PATH]..."),
            click.Option(["--yes"], is_flag=True, help="Remove them."),
            *evaluation_options(),
        ],
        callback=_prune,
        examples=(
            "skillgauge recordings prune recordings my-skill",
            "skillgauge recordings prune recordings my-skill --yes",
        ),
        help="Find the recordings that fit no session of these suites any more, and remove them with --yes.",
    )
)
