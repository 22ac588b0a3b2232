"""Write a run through a reporter: to a file, to stdout, or into the one JSON document."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from skillgauge.api import Artifact, Frozen, PluginError, Problem, UsageError
from skillgauge.api.report import Reporter, RunView, counted
from skillgauge.api.run import Invocation, write_whole

OWN_DOCUMENT = "json"
"""The word for "the document of the suite's own format", as in `eval --format`."""
STDOUT = "-"
"""The word for stdout in the place of a file's name."""
_SHOWN = 10
"""Files of a report that are named one by one."""


class Delivered(Frozen):
    """The fate of a report, as `--json` prints it."""

    schema_version: str = "1.0"
    format: str
    files: tuple[str, ...]
    """Paths of the files that were written; empty without `--output`."""
    content: str | None
    """The report itself; `None` with `--output`."""


def reporter_for(call: Invocation, name: str, view: RunView) -> Reporter:
    """The reporter that a `--format` means for a run.

    Raises:
        UsageError: `json` is asked for, and the run has no document of its own or several.
        PluginError: no such reporter is installed, or it does not work.
    """
    if name != OWN_DOCUMENT:
        return call.reporter(name)
    documents = sorted({suite.document for suite in view.head.suites if suite.document})
    if len(documents) == 1:
        return call.reporter(documents[0])
    if documents:
        message = f"the run has suites of several formats, each with a document of its own: {', '.join(documents)}"
        hint = "Name one of them with --format."
    else:
        message, hint = "the format of this run has no document of its own", "Use --format record."
    raise UsageError(Problem("report.own-document", message, hint=hint))


def deliver(call: Invocation, view: RunView, name: str, output: str | None) -> None:
    """Write a run with the reporter that a `--format` means, and say where it is.

    Args:
        call: the command line.
        view: the run.
        name: a reporter's name, or `json`.
        output: file to write; for a report of several files their folder. `None` and `-` print the report.

    Raises:
        SkillgaugeError: there is no such reporter, or the place cannot be written.
    """
    reporter = reporter_for(call, name, view)
    view, _ = call.commented(view)
    artifacts = reporter.render(view)
    if output is not None and output != STDOUT:
        files = _write(artifacts, reporter.suffix, Path(output))
        shown = files if len(files) <= _SHOWN else files[:1]
        for path in shown:
            call.output.line(f"{name} report: {path}")
        if others := files[len(shown) :]:
            folder = os.path.commonpath([path.parent for path in others])
            call.output.line(f"{name} report: and {counted(len(others), 'file')} in {folder}")
        document = Delivered(format=name, files=tuple(str(path) for path in files), content=None)
        call.output.document(document.model_dump(mode="json"))
    elif call.output.as_json:
        content = b"".join(_printed(artifacts, name, call)).decode()
        call.output.document(Delivered(format=name, files=(), content=content).model_dump(mode="json"))
    else:
        sys.stdout.flush()
        for chunk in _printed(artifacts, name, call):
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()


def _printed(artifacts: Iterable[Artifact], name: str, call: Invocation) -> Iterator[bytes]:
    """The content of a report's own file; what belongs to it beside that is only mentioned.

    Raises:
        UsageError: it has no file of its own.
    """
    rest = iter(artifacts)
    first = next(rest, None)
    if first is None or first.path:
        hint = "Name a folder for them with --output."
        raise UsageError(Problem("report.several-files", f"the report {name!r} consists of several files", hint=hint))
    yield from first.chunks
    if left_out := [artifact.path for artifact in rest]:
        call.output.notice(f"left out, because only --output can hold them: {', '.join(left_out)}")


def _write(artifacts: Iterable[Artifact], suffix: str, output: Path) -> list[Path]:
    """Write the files one after another, since one may depend on what was written before it.

    A report that begins with a file of its own name needs a folder, which is then `output`; else `output` is the file,
    and what comes after it goes to a folder beside it.
    """
    written: list[Path] = []
    folder = output.with_name(f"{output.name}.files")
    for artifact in artifacts:
        if artifact.path and not written:
            folder, output = output, output / f"report.{suffix}"
        written.append(folder / _inside(artifact.path) if artifact.path else output)
        write_whole(written[-1], artifact.chunks)
    return written


def _inside(path: str) -> PurePosixPath:
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts:
        raise PluginError(Problem("report.outside", f"the reporter wants to write {path!r}, outside its folder"))
    return relative
