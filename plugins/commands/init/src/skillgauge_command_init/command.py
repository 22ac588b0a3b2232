"""`init`: a configuration file and the usual folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from skillgauge.api import ExitCode, Frozen, GlobalsCommand, JsonObject, invocation

from .scaffold import Part, State, make_project


class InitDocument(Frozen):
    """What `init --json` prints."""

    schema_version: str = "1.0"
    folder: str
    """As the user wrote it."""
    parts: tuple[Part, ...]


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    return {"init": InitDocument.model_json_schema()}


@click.command(cls=GlobalsCommand, help="Make a configuration file, and folders for skills, benchmarks and reports.")
@click.option("--dir", "folder", default=".", show_default=True, help="Where; made if it is not there.", metavar="DIR")
@click.pass_context
def command(ctx: click.Context, *, folder: str) -> int:
    """Make a project."""
    call = invocation(ctx.obj)
    made = InitDocument(folder=folder, parts=make_project(Path(folder)))
    call.output.document(made.model_dump(mode="json"))
    for part in made.parts:
        place = Path(folder, part.path)
        shown = f"{place}/" if part.path.endswith("/") else f"{place}"
        call.output.line(f"{part.state:<8} {shown}{f': {part.note}' if part.note else ''}")
    created = sum(part.state is State.CREATED for part in made.parts)
    call.output.verdict(f"{created} created, {len(made.parts) - created} there already")
    return ExitCode.OK
