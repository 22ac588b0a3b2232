"""`plugins new`: make the project of a new plugin."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from skillgauge.api import ExitCode, Frozen, JsonObject
from skillgauge.api.run import GlobalsCommand, Output

from .scaffold import installed_project, write_project


class NewPluginDocument(Frozen):
    """The project that `plugins new` document."""

    schema_version: str = "1.0"
    kind: str
    """Plural, as the entry point group has it."""
    name: str
    """As users type it."""
    distribution: str
    module: str
    """The package to import."""
    folder: str
    """The project's folder."""
    files: tuple[str, ...]
    """Paths relative to the folder."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    return {"plugins-new": NewPluginDocument.model_json_schema()}


@click.command(
    "new",
    cls=GlobalsCommand,
    examples=("skillgauge plugins new scorers acme-brief --summary 'The answer has few words.'",),
    help="Make the project of a new plugin, which works from the start.",
)
@click.argument("kind")
@click.argument("name")
@click.option(
    "--dir", "parent", metavar="DIR", default=".", help="Folder to make the project's folder in; default: here."
)
@click.option(
    "--summary",
    metavar="TEXT",
    default="",
    help="What it will do, in a line, for `plugins list` and the wheel; default: what the example of its kind does.",
)
@click.pass_context
def command(ctx: click.Context, kind: str, name: str, parent: str, summary: str) -> int:
    """Make the project of a new plugin."""
    output = Output(as_json=ctx.obj.as_json, quiet=ctx.obj.quiet)
    project = installed_project(kind, name, summary)
    folder, files = write_project(project, Path(parent))
    document = NewPluginDocument(
        kind=project.kind,
        name=project.name,
        distribution=project.distribution,
        module=project.module,
        folder=str(folder),
        files=files,
    )
    output.document(document.model_dump(mode="json"))
    for file in files:
        output.line(str(folder / file))
    output.notice(f"next: cd {shlex.quote(str(folder))} && pip install -e '.[test]' && python -m pytest")
    if not summary:
        output.notice(f"its summary is that of the example, {project.summary!r}: see plugin.py and pyproject.toml")
    output.verdict(f"made {project.singular} '{project.name}'; its README.md says how to use it")
    return ExitCode.OK
