"""`init`: a configuration file and the usual folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from skillgauge.api import ExitCode, Frozen, JsonObject
from skillgauge.api.run import GlobalsCommand, invocation
from skillgauge_skill_folders import SKILL_FILE

from .drafting import is_without_evals, propose
from .engines import FoundEngine, choose, find_engines
from .scaffold import FOLDERS, Part, State, make_project

BEST = "*"
"""What stands for `--engine` without a name; no engine can be called so."""


class InitDocument(Frozen):
    """The output of `init --json`."""

    schema_version: str = "1.0"
    folder: str
    """As the user wrote it."""
    parts: tuple[Part, ...]
    engine: str | None = None
    """The engine that the configuration names, if `--engine` asked for one."""
    engines: tuple[FoundEngine, ...] = ()
    """What `--engine` found, the best first."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    return {"init": InitDocument.model_json_schema()}


@click.command(
    cls=GlobalsCommand,
    examples=(
        "skillgauge init",
        "skillgauge init --engine",
        "skillgauge init --dir my-skill",
    ),
    help=(
        "Make a configuration file, and folders for skills, benchmarks and reports; with --engine the file alone. "
        "In the folder of a skill without evals: drafts of evals from the headings of SKILL.md."
    ),
)
@click.option("--dir", "folder", default=".", show_default=True, help="Where; made if it is not there.", metavar="DIR")
@click.option(
    "--engine",
    is_flag=False,
    flag_value=BEST,
    metavar="[NAME]",
    help="Find the agents, logins and keys that are here, and configure NAME, or the best that works.",
)
@click.option("--model", metavar="ID", help="Model of that engine.")
@click.pass_context
def command(ctx: click.Context, *, folder: str, engine: str | None, model: str | None) -> int:
    """Make a project."""
    call = invocation(ctx.obj)
    engines = find_engines(call, model) if engine is not None else ()
    chosen = choose(engines, None if engine == BEST else engine) if engine is not None else None
    settings = {"engine": chosen.name, **({"model": model} if model else {})} if chosen else {}
    if chosen is None and is_without_evals(Path(folder)):
        parts = propose(Path(folder))
    else:  # whoever asks for an agent, or is in a skill, has his skills somewhere already
        is_project = chosen is None and not Path(folder, SKILL_FILE).is_file()
        folders = FOLDERS if is_project else ()
        parts = make_project(Path(folder), settings, folders=folders, foreign=call.others.files)
    document = InitDocument(folder=folder, parts=parts, engine=chosen.name if chosen else None, engines=engines)
    call.output.document(document.model_dump(mode="json"))
    for one in engines:
        call.output.line(f"{'works' if one.works else 'missing':<8} {one.name}: {_told(one)}")
    for part in document.parts:
        place = Path(folder, part.path)
        shown = f"{place}/" if part.path.endswith("/") else f"{place}"
        call.output.line(f"{part.state:<8} {shown}{f': {part.note}' if part.note else ''}")
    created = sum(part.state is State.CREATED for part in document.parts)
    named = f"; engine {chosen.name}" if chosen else ""
    call.output.verdict(f"{created} created, {len(document.parts) - created} there already{named}")
    return ExitCode.OK


def _told(one: FoundEngine) -> str:
    return one.credentials if one.works else "; ".join(one.problems)
