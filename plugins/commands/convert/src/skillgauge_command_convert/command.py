"""`convert`: suites in another format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from skillgauge.api import (
    ExitCode,
    GlobalsCommand,
    JsonObject,
    Problem,
    Severity,
    SuiteError,
    UsageError,
    counted,
    invocation,
    write_whole,
)

from .converting import Converted, convert, safe_name
from .documents import ConvertDocument, FileState, document_of


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    return {"convert": ConvertDocument.model_json_schema()}


_OPTIONS: list[click.Parameter] = [
    click.Argument(["path"], metavar="PATH"),
    click.Option(
        ["--to"],
        required=True,
        metavar="FORMAT",
        help="The format to write; see `skillgauge plugins list --kind formats`.",
    ),
    click.Option(["--suite-format"], metavar="FORMAT", help="The format of PATH, where several claim it."),
    click.Option(
        ["-o", "--output", "output"], metavar="DIR", help="Where to; default: a folder named after the suite."
    ),
    click.Option(["--strict"], is_flag=True, help="A loss is an error: exit 2, and nothing is written."),
    click.Option(["--overwrite"], is_flag=True, help="Replace files that are there with another content."),
]


def _convert(*, path: str, to: str, suite_format: str | None, output: str | None, strict: bool, overwrite: bool) -> int:
    call = invocation(click.get_current_context().obj)
    format_ = call.suite_format(to)
    loaded = call.suites(call.cwd / path, suite_format=suite_format)
    made = [convert(call, suite, to, format_) for suite in loaded.suites]
    folders = _folders(made, to, call.cwd, output)
    states = {one: state for whole, folder in zip(made, folders, strict=True) for one, state in _states(whole, folder)}
    losses = [loss for whole in made for loss in whole.losses]
    problems = [refusal for whole in made for refusal in whole.refusals]
    problems += [_in_the_way(place) for place, state in states.items() if state is FileState.REPLACED and not overwrite]
    if strict:
        problems += [Problem(one.code, one.message, origin=one.origin, hint=one.hint) for one in losses]
        problems += [one for one in loaded.passed_over if one.severity is Severity.ERROR]
    if problems:
        raise SuiteError([*problems, *([] if strict else [*losses, *loaded.passed_over])])
    for whole, folder in zip(made, folders, strict=True):
        for relative, content in whole.files:
            if states[folder / relative] is not FileState.UNCHANGED:
                write_whole(folder / relative, (content,))
    call.output.problems([*loaded.passed_over, *losses])
    call.output.document(document_of(made, folders, states, loaded.passed_over, to).model_dump(mode="json"))
    for place, state in states.items():
        call.output.line(f"{state}: {place}")
    number = len(losses)
    told = f"{number:,} {'loss' if number == 1 else 'losses'}, listed above" if number else "nothing is lost"
    call.output.verdict(f"{counted(len(made), 'suite')} converted to {to}; {told}")
    bad = any(one.severity is Severity.ERROR for one in loaded.passed_over)
    return ExitCode.USAGE if bad else ExitCode.OK


command = GlobalsCommand(
    "convert",
    params=_OPTIONS,
    callback=_convert,
    examples=(
        "skillgauge convert my-skill --to benchflow",
        "skillgauge convert my-skill --to benchflow -o converted --strict",
    ),
    help="Write suites in another format, and say what it cannot hold.",
)


def _folders(made: list[Converted], to: str, cwd: Path, output: str | None) -> list[Path]:
    """A folder for each suite; the named one itself if there is only one suite."""
    names = [f"{safe_name(one.suite.id)}-{to}" for one in made]
    if output is None:
        folders = [cwd / name for name in names]
    else:
        folders = [cwd / output] if len(made) == 1 else [cwd / output / safe_name(one.suite.id) for one in made]
    doubled = sorted({str(one) for one in folders if folders.count(one) > 1})
    if doubled:
        hint = "Convert them one by one, each with -o."
        message = f"several suites would be written to {', '.join(doubled)}"
        raise UsageError(Problem("convert.same-place", message, hint=hint))
    return folders


def _states(whole: Converted, folder: Path) -> list[tuple[Path, FileState]]:
    return [(folder / relative, _state(folder / relative, content)) for relative, content in whole.files]


def _state(place: Path, content: bytes) -> FileState:
    if not place.exists() and not place.is_symlink():
        return FileState.WRITTEN
    try:
        is_same = place.is_file() and place.read_bytes() == content
    except OSError:
        is_same = False
    return FileState.UNCHANGED if is_same else FileState.REPLACED


def _in_the_way(place: Path) -> Problem:
    hint = "Name another folder with -o, or replace it with --overwrite."
    return Problem("convert.exists", f"{str(place)!r} is there already, with another content", hint=hint)
