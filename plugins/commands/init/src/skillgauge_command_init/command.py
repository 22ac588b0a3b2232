"""`init`: a configuration file and the usual folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from skillgauge.api import ExitCode, Frozen, JsonObject
from skillgauge.api.run import GlobalsCommand, invocation
from skillgauge_skill_folders import SKILL_FILE

from .drafting import is_without_evals, propose
from .engines import FoundEngine, choose, find_engines
from .ignoring import unignored
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
    engines: tuple[FoundEngine, ...] = ()
    chosen: FoundEngine | None = None
    if engine is not None:
        engines = find_engines(call, model)
        chosen = choose(engines, None if engine == BEST else engine)
    if chosen is not None:
        parts = _make_configuration(Path(folder), chosen, model, call.others.files)
    else:
        parts = _make_drafts_or_project(Path(folder), call.others.files)
    document = InitDocument(folder=folder, parts=parts, engine=chosen.name if chosen else None, engines=engines)
    call.output.document(document.model_dump(mode="json"))
    for line in (*map(_engine_line, engines), *(_part_line(folder, part) for part in parts)):
        call.output.line(line)
    if names := unignored(Path(folder)):
        call.output.notice(f"git would add results to your repository; put {' and '.join(names)} into .gitignore")
    call.output.verdict(_verdict(document))
    return ExitCode.OK


def _make_configuration(
    folder: Path, engine: FoundEngine, model: str | None, foreign: Sequence[str]
) -> tuple[Part, ...]:
    """Make the file alone: whoever asks for an agent has their skills somewhere already."""
    settings = {"engine": engine.name}
    if model:
        settings["model"] = model
    return make_project(folder, settings, folders=(), foreign=foreign)


def _make_drafts_or_project(folder: Path, foreign: Sequence[str]) -> tuple[Part, ...]:
    """Make drafts of evals in a skill that has none, the file alone in another skill, a whole project elsewhere."""
    if is_without_evals(folder):
        return propose(folder)
    is_skill = (folder / SKILL_FILE).is_file()
    return make_project(folder, folders=() if is_skill else FOLDERS, foreign=foreign)


def _engine_line(engine: FoundEngine) -> str:
    if engine.works:
        return f"{'works':<8} {engine.name}: {engine.credentials}"
    return f"{'missing':<8} {engine.name}: {'; '.join(engine.problems)}"


def _part_line(folder: str, part: Part) -> str:
    place = str(Path(folder, part.path))
    if part.path.endswith("/"):
        place += "/"
    note = f": {part.note}" if part.note else ""
    return f"{part.state:<8} {place}{note}"


def _verdict(document: InitDocument) -> str:
    created = sum(part.state is State.CREATED for part in document.parts)
    named = f"; engine {document.engine}" if document.engine is not None else ""
    return f"{created} created, {len(document.parts) - created} already present{named}"
