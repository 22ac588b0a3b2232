"""`init`: a configuration file and the usual folders, or first evals for skills that have none."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from skillgauge.api import ExitCode, Frozen, JsonObject, Problem, SkillgaugeError, UsageError, plain
from skillgauge.api.report import counted, listed
from skillgauge.api.run import GlobalsCommand, Invocation, invocation
from skillgauge_skill_folders import SKILL_FILE

from .asking import MOST_SESSIONS, SILENT, TASKS
from .drafting import propose
from .engines import FoundEngine, choose, find_engines
from .ignoring import unignored
from .scaffold import FOLDERS, Part, State, make_project
from .writing import DraftedSkill, accept, draft_evals, skills_in, without_evals

_ENDED = {ExitCode.INTERRUPTED: "interrupted: ", ExitCode.BUDGET: "stopped by --max-cost: "}
BEST = "*"
"""What stands for `--engine` without a name; no engine can be called so."""


class InitDocument(Frozen):
    """The output of `init --json`."""

    schema_version: str = "1.0"
    folder: str
    """As the user wrote it."""
    parts: tuple[Part, ...]
    engine: str | None = None
    """The engine that the configuration names, if `--engine` asked for one or one drafted evals."""
    engines: tuple[FoundEngine, ...] = ()
    """The engines that were found, the best first, if any was looked for."""
    drafted: tuple[DraftedSkill, ...] = ()
    """The skills that an agent drafted evals for."""
    accepted: Mapping[str, int] = Field(default_factory=dict)
    """With `--accept`, how many drafts became evals, by file."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    return {"init": InitDocument.model_json_schema()}


@click.command(
    cls=GlobalsCommand,
    examples=(
        "skillgauge init",
        "skillgauge init --engine",
        "skillgauge init --dir my-skill --yes --max-cost 2",
        "skillgauge init --dir my-skill --accept",
    ),
    help=(
        "Start: a configuration file, and folders for skills, benchmarks and reports. Where there are skills without "
        "evals, an agent that works here drafts some and tries each with and without the skill, once you agree to the "
        "sessions; without an agent, drafts to be filled in are made from the headings of SKILL.md."
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
@click.option("--yes", is_flag=True, help="Draft evals without asking first.")
@click.option("--judge", metavar="NAME", help="Judge that writes the drafts; default: the engine's own program.")
@click.option(
    "--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="Most that trying drafts may cost."
)
@click.option("--accept", "accepts", is_flag=True, help="Accept the drafts: take their mark off.")
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> int:
    """Make a project, or first evals."""
    call = invocation(ctx.obj)
    folder = Path(values["folder"])
    if values["accepts"]:
        return _accept(call, folder)
    skills = without_evals(folder)
    engines, chosen = _engines(call, values, wanted=bool(skills))
    if chosen is not None and skills and _agrees(call, skills, chosen, yes=values["yes"]):
        return _draft(call, values, skills, engines, chosen)
    if values["engine"] is not None and chosen is not None:
        parts = _make_configuration(folder, chosen, values["model"], call.others.files)
    else:
        chosen = None
        parts = _make_drafts_or_project(folder, skills, call.others.files)
    engine = chosen.name if chosen else None
    shown = engines if values["engine"] is not None else ()
    document = InitDocument(folder=values["folder"], parts=parts, engine=engine, engines=shown)
    _print(call, document)
    return ExitCode.OK


def _engines(
    call: Invocation, values: Mapping[str, Any], *, wanted: bool
) -> tuple[tuple[FoundEngine, ...], FoundEngine | None]:
    """The engines that are here and the one to take.

    Args:
        call: the command line.
        values: its options.
        wanted: whether an engine is of use although the user named none.

    Raises:
        UsageError: the user named one, and it does not work.
    """
    named = values["engine"]
    if named is None and not wanted:
        return (), None
    name = call.config.get("engine") if named is None else None if named == BEST else named
    engines = find_engines(call, values["model"] or (call.config.get("model") if named is None else None))
    if named is None:
        return engines, next((one for one in engines if one.works and name in (None, "", one.name)), None)
    return engines, choose(engines, name)


def _agrees(call: Invocation, skills: Sequence[Path], engine: FoundEngine, *, yes: bool) -> bool:
    """Tell whether the user agrees to the sessions that drafting takes, after saying how many these are."""
    names = listed(plain(skill.resolve().name) for skill in skills[:5])
    more = f" and {len(skills) - 5} more" if len(skills) > 5 else ""
    plan = (
        f"{engine.name} ({engine.credentials}) drafts {TASKS + SILENT} evals for {names}{more} and tries each with and "
        f"without the skill: up to {counted(MOST_SESSIONS * len(skills), 'session')}, which may cost money"
    )
    if yes:
        call.output.notice(plan)
        return True
    if call.output.as_json or not sys.stdin.isatty():
        call.output.notice(f"with --yes, {plan}")
        return False
    return click.confirm(f"{plan}. Go on?", err=True)


def _draft(
    call: Invocation,
    values: Mapping[str, Any],
    skills: Sequence[Path],
    engines: tuple[FoundEngine, ...],
    engine: FoundEngine,
) -> int:
    """Draft evals for each skill; one that fails does not keep the others from theirs."""
    model = values["model"] or call.config.get("model")
    options = {"engine": (engine.name,), "model": (model,) if model else (), "max_cost": values["max_cost"]}
    drafted: list[DraftedSkill] = []
    problems: list[Problem] = []
    code = ExitCode.OK
    for skill in skills:
        try:
            of_skill, code = draft_evals(call, skill, values["judge"], options)
        except SkillgaugeError as error:
            problems += error.problems
            continue
        drafted.append(of_skill)
        if code is not ExitCode.OK:
            break
    if not drafted:
        raise UsageError(problems)
    parts: tuple[Part, ...] = ()
    if not call.config.get("engine"):
        is_skill = (Path(values["folder"]) / SKILL_FILE).is_file()
        place = Path() if is_skill else Path(values["folder"])
        parts = _make_configuration(place, engine, model, call.others.files)
        parts = tuple(part.model_copy(update={"path": str(place / part.path)}) for part in parts)
    document = InitDocument(
        folder=values["folder"], parts=parts, engine=engine.name, engines=engines, drafted=tuple(drafted)
    )
    call.output.problems(problems)
    _print(call, document, base="", ended=_ENDED.get(code, ""))
    if code is not ExitCode.OK:
        return code
    return ExitCode.USAGE if problems else ExitCode.OK


def _accept(call: Invocation, folder: Path) -> int:
    """Take the mark of a draft off all evals of the skills in a folder.

    Raises:
        UsageError: there is none.
    """
    accepted = accept(skills_in(folder))
    if not accepted:
        hint = "Name the folder of the skill, or of a repository with skills, with --dir."
        message = f"no evals in {str(folder)!r} are drafts that could be accepted"
        raise UsageError(Problem("init.nothing-to-accept", message, hint=hint))
    document = InitDocument(folder=str(folder), parts=(), accepted=accepted)
    call.output.document(document.model_dump(mode="json"))
    for path, number in accepted.items():
        call.output.line(f"accepted {path}: {counted(number, 'eval')}")
    call.output.verdict(f"{counted(sum(accepted.values()), 'draft')} accepted")
    return ExitCode.OK


def _print(call: Invocation, document: InitDocument, base: str | None = None, ended: str = "") -> None:
    """Print what was made, on every kind of output.

    Args:
        call: the command line.
        document: what was made.
        base: the folder that parts are named from, if it is not that of the document.
        ended: what ended the drafting before its end, as the beginning of the verdict.
    """
    folder = document.folder if base is None else base
    call.output.document(document.model_dump(mode="json"))
    engines = () if document.drafted else document.engines
    for line in (*map(_engine_line, engines), *(_part_line(folder, part) for part in document.parts)):
        call.output.line(line)
    for one in document.drafted:
        for text in _drafted_lines(one):
            call.output.line(text)
    if names := unignored(Path(document.folder)):
        call.output.notice(f"git would add results to your repository; put {' and '.join(names)} into .gitignore")
    call.output.verdict(ended + _verdict(document))


def _drafted_lines(drafted: DraftedSkill) -> list[str]:
    """The drafts of a skill, those of use first."""
    cost = f", for ${drafted.cost_usd:.2f}" if drafted.cost_usd is not None else ""
    place = f"drafted  {drafted.path}: " if drafted.kept else "drafted  nothing of use: "
    kept = [f"  kept     {prompt}" for prompt in drafted.kept]
    dropped = [f"  dropped  {each.prompt}: {each.reason}" for each in drafted.dropped]
    total = counted(len(drafted.kept) + len(drafted.dropped), "draft")
    return [f"{place}{len(drafted.kept)} of {total} kept{cost}", *kept, *dropped]


def _make_configuration(
    folder: Path, engine: FoundEngine, model: str | None, foreign: Sequence[str]
) -> tuple[Part, ...]:
    """Make the file alone: whoever asks for an agent has their skills somewhere already."""
    settings = {"engine": engine.name}
    if model:
        settings["model"] = model
    return make_project(folder, settings, folders=(), foreign=foreign)


def _make_drafts_or_project(folder: Path, skills: Sequence[Path], foreign: Sequence[str]) -> tuple[Part, ...]:
    """Make drafts to be filled in for a skill that has no evals, the file alone beside skills, a project elsewhere."""
    if tuple(skills) == (folder,):
        return propose(folder)
    if len(skills) == 1:
        below = skills[0].relative_to(folder)
        return tuple(part.model_copy(update={"path": str(below / part.path)}) for part in propose(skills[0]))
    return make_project(folder, folders=() if skills_in(folder) else FOLDERS, foreign=foreign)


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
    if document.drafted:
        kept = sum(len(one.kept) for one in document.drafted)
        of = counted(sum(len(one.kept) + len(one.dropped) for one in document.drafted), "draft")
        then = "; next: skillgauge eval, then read them and `skillgauge init --accept`" if kept else ""
        return f"{kept} of {of} kept{then}"
    created = sum(part.state is State.CREATED for part in document.parts)
    named = f"; engine {document.engine}" if document.engine is not None else ""
    return f"{created} created, {len(document.parts) - created} already present{named}"
