"""`convert`: suites in another format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from skillgauge.api import ExitCode, JsonObject, Problem, Severity, SuiteError, UsageError
from skillgauge.api.report import counted
from skillgauge.api.run import GlobalsCommand, invocation, write_whole

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
    converted = [convert(call, suite, to, format_) for suite in loaded.suites]
    folders = _folders(converted, to, call.cwd, output)
    states = _states(converted, folders)
    losses = [loss for suite in converted for loss in suite.losses]
    problems = [refusal for suite in converted for refusal in suite.refusals]
    if not overwrite:
        problems += _in_the_way(states)
    if strict:
        problems += _losses_as_errors(losses, loaded.passed_over)
    if problems:
        remarks = [] if strict else [*losses, *loaded.passed_over]
        raise SuiteError([*problems, *remarks])
    _write(converted, folders, states)
    call.output.problems([*loaded.passed_over, *losses])
    call.output.document(document_of(converted, folders, states, loaded.passed_over, to).model_dump(mode="json"))
    for place, state in states.items():
        call.output.line(f"{state}: {place}")
    call.output.verdict(f"{counted(len(converted), 'suite')} converted to {to}; {_loss_text(len(losses))}")
    return _exit_code(loaded.passed_over)


def _exit_code(passed_over: Sequence[Problem]) -> ExitCode:
    """Return a failure if there were suites that could not be read."""
    is_incomplete = any(problem.severity is Severity.ERROR for problem in passed_over)
    return ExitCode.USAGE if is_incomplete else ExitCode.OK


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


def _folders(converted: Sequence[Converted], to: str, cwd: Path, output: str | None) -> list[Path]:
    """Return a folder for each suite; the named one itself if there is only one suite."""
    if output is None:
        folders = [cwd / f"{safe_name(each.suite.id)}-{to}" for each in converted]
    elif len(converted) == 1:
        folders = [cwd / output]
    else:
        folders = [cwd / output / safe_name(each.suite.id) for each in converted]
    doubled = sorted({str(folder) for folder in folders if folders.count(folder) > 1})
    if doubled:
        hint = "Convert them one by one, each with -o."
        message = f"several suites would be written to {', '.join(doubled)}"
        raise UsageError(Problem("convert.same-place", message, hint=hint))
    return folders


def _states(converted: Sequence[Converted], folders: Sequence[Path]) -> dict[Path, FileState]:
    """Return what is to become of each file."""
    states = {}
    for suite, folder in zip(converted, folders, strict=True):
        for relative, content in suite.files:
            states[folder / relative] = _state(folder / relative, content)
    return states


def _state(place: Path, content: bytes) -> FileState:
    if not place.exists() and not place.is_symlink():
        return FileState.WRITTEN
    try:
        is_same = place.is_file() and place.read_bytes() == content
    except OSError:
        is_same = False
    return FileState.UNCHANGED if is_same else FileState.REPLACED


def _in_the_way(states: Mapping[Path, FileState]) -> Iterator[Problem]:
    """Yield a problem for each file that would be replaced."""
    hint = "Name another folder with -o, or replace it with --overwrite."
    for place, state in states.items():
        if state is FileState.REPLACED:
            yield Problem("convert.exists", f"{str(place)!r} is there already, with another content", hint=hint)


def _losses_as_errors(losses: Sequence[Problem], passed_over: Sequence[Problem]) -> Iterator[Problem]:
    """Yield what makes a strict conversion fail."""
    for loss in losses:
        yield Problem(loss.code, loss.message, origin=loss.origin, hint=loss.hint)
    for problem in passed_over:
        if problem.severity is Severity.ERROR:
            yield problem


def _write(converted: Sequence[Converted], folders: Sequence[Path], states: Mapping[Path, FileState]) -> None:
    """Write the files that are not there yet with this content."""
    for suite, folder in zip(converted, folders, strict=True):
        for relative, content in suite.files:
            if states[folder / relative] is not FileState.UNCHANGED:
                write_whole(folder / relative, (content,))


def _loss_text(losses: int) -> str:
    if not losses:
        return "nothing is lost"
    noun = "loss" if losses == 1 else "losses"
    return f"{losses:,} {noun}, listed above"
