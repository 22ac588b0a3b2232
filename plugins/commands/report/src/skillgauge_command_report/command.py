"""`report`: show a report, convert it, say what changed from one to another, and join several."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

import click

from skillgauge.api import ExitCode, Frozen, JsonObject, Problem, SkillgaugeError, UsageError, did_you_mean, json_text
from skillgauge.api.report import RunView
from skillgauge.api.run import GlobalsGroup, Invocation, invocation, write_whole

if TYPE_CHECKING:
    from skillgauge_run_comparisons.document import DiffDocument

MAX_DROP = 0.05  # that of `regression`, which `--help` need not import

command = GlobalsGroup("report", help="Show, convert, compare and join reports.")


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from skillgauge_run_comparisons.document import DiffDocument  # noqa: PLC0415 - as above
    from skillgauge_run_views.delivery import Delivered  # noqa: PLC0415 - `--help` needs none of it
    from skillgauge_run_views.looking import CasesDocument  # noqa: PLC0415 - as above
    from skillgauge_run_views.showing import RunDocument  # noqa: PLC0415 - as above

    models: dict[str, type[Frozen]] = {
        "report-diff": DiffDocument,
        "report-convert": Delivered,
        "report-show": RunDocument,
        "report-show-case": CasesDocument,
    }
    return {name: model.model_json_schema() for name, model in models.items()}


class DiffFormat(StrEnum):
    """The forms in which a comparison can be written."""

    MARKDOWN = "markdown"
    JSON = "json"
    HTML = "html"


def _number(_ctx: click.Context, _param: click.Parameter, value: float | None) -> float | None:
    """Refuse `nan`, which no range does: a gate that compares with it would always be met."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is no number")
    return value


Callback = TypeVar("Callback", bound=Callable[..., int])


def _store_option(callback: Callback) -> Callback:
    return click.option("--store", metavar="PLACE", help="Where runs are kept; default: as configured.")(callback)


class _ReporterOptions(TypedDict):
    """Options of a reporter that `convert` takes under a flag."""

    gate_threshold: float | None
    rows: str | None


@command.command(
    "convert",
    examples=(
        "skillgauge report convert --input latest --format html --output report.html",
        "skillgauge report convert --input latest --format csv --rows trials --output trials.csv",
    ),
    help="Write a report in another format.",
)
@click.option(
    "--input",
    "source",
    required=True,
    metavar="FILE|RUN",
    help="A report that an installed reporter reads, or a stored run: id, latest, latest~1.",
)
@click.option(
    "--format",
    "name",
    default="markdown",
    show_default=True,
    metavar="NAME",
    help="An installed reporter; `json` is the document of the suite's own format.",
)
@click.option("--output", metavar="FILE", help="Where to write it; default: stdout.")
@click.option("--into", metavar="FILE", help="Enter the report, which must be JSON, into the JSON object of FILE.")
@click.option(
    "--gate-threshold",
    type=click.FloatRange(0, 1),
    callback=_number,
    metavar="R",
    help="Threshold of the gates that the report holds: the option `threshold` of its reporter.",
)
@click.option(
    "--rows",
    metavar="WHAT",
    help="What a row of a table is, such as trials, checks or cases with --format csv: the option `rows` of its "
    "reporter.",
)
@_store_option
@click.pass_context
def convert(
    ctx: click.Context,
    *,
    source: str,
    name: str,
    output: str | None,
    into: str | None,
    store: str | None,
    **values: Unpack[_ReporterOptions],
) -> int:
    """Write a report in another format."""
    if into is not None and output is not None:
        hint = "Name one file."
        raise UsageError(Problem("usage.into", "--into and --output exclude each other", hint=hint))
    from skillgauge.api.run import run_reports  # noqa: PLC0415 - `--help` needs none of it
    from skillgauge_run_views.delivery import OWN_DOCUMENT, deliver  # noqa: PLC0415 - `--help` needs none of it

    options = {"threshold": values["gate_threshold"], "rows": values["rows"]}
    given = {key: value for key, value in options.items() if value is not None}
    assigned = tuple(f"reporters.{name}.{key}={json.dumps(value)}" for key, value in given.items())
    ctx.obj = ctx.obj.merged({"assign": assigned})
    call = _invocation(ctx, store)
    problems: list[Problem] = []
    if name != OWN_DOCUMENT:
        try:
            call.reporter(name)
        except SkillgaugeError as error:
            problems.extend(error.problems)
    with run_reports(call, [source], problems) as (view,):
        if into is not None:
            from .entering import enter  # noqa: PLC0415 - few reports are entered anywhere

            return enter(call, view, name, Path(into))
        deliver(call, view, name, output)
    return ExitCode.OK


@command.command(
    "show",
    examples=(
        "skillgauge report show latest",
        "skillgauge report show latest --target commit-message --case typo --arm with_skill",
    ),
    help="Show the rates of a report or of a stored run (id, latest, latest~1), and what did not pass and why; with "
    "--case everything that happened in a case.",
    short_help="Show a run, or what happened in a case of it.",
)
@click.argument("source", metavar="FILE|RUN")
@click.option("--case", metavar="C", help="Print all that happened in this case: its id, its name, or a pattern.")
@click.option("--target", metavar="T", help="Only trials of this target, as a skill is one.")
@click.option("--arm", metavar="A", help="Only trials of this arm.")
@_store_option
@click.pass_context
def show(
    ctx: click.Context, *, source: str, case: str | None, target: str | None, arm: str | None, store: str | None
) -> int:
    """Show a run on the terminal."""
    from skillgauge.api.run import run_reports  # noqa: PLC0415 - `--help` needs none of it
    from skillgauge_run_views.looking import Wanted, show_cases  # noqa: PLC0415 - `--help` needs none of it
    from skillgauge_run_views.showing import run_document, run_verdict, show_run  # noqa: PLC0415 - as above

    call = _invocation(ctx, store)
    with run_reports(call, [source]) as (view,):
        if case is not None:
            call.output.verdict(show_cases(view, Wanted(case, arm, target), call.output))
            return ExitCode.OK
        view, remarks = call.commented(view)
        show_run(view, call.output, arm, target)
        if call.output.as_json:
            call.output.document(run_document(view, arm, target))
        for notice in remarks:
            call.output.notice(notice)
        call.output.verdict(run_verdict(view))
    return ExitCode.OK


class _Asked(TypedDict):
    """The request for a comparison."""

    output: str | None
    name: str
    fail_on_regression: bool
    max_drop: float
    across: tuple[str, ...]
    any_loss: bool


@command.command(
    "diff",
    examples=("skillgauge report diff latest~1 latest --fail-on-regression",),
    help="Say what changed from report A to report B, skill by skill and case by case. Each is a file or a stored run: "
    "its id, latest, latest~1.",
    short_help="Compare two reports.",
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--label-a", default="Before", show_default=True, metavar="TEXT", help="What to call A.")
@click.option("--label-b", default="After", show_default=True, metavar="TEXT", help="What to call B.")
@click.option("--output", metavar="FILE", help="Where to write the comparison; default: stdout.")
@click.option(
    "--format",
    "name",
    type=click.Choice([one.value for one in DiffFormat]),
    default=DiffFormat.MARKDOWN.value,
    show_default=True,
    help="What to write it as.",
)
@click.option("--fail-on-regression", is_flag=True, help="Exit 1 if a skill regressed, 3 if that cannot be told.")
@click.option(
    "--max-drop",
    type=click.FloatRange(0, 1),
    callback=_number,
    default=MAX_DROP,
    show_default=True,
    metavar="R",
    help="Loss of pass rate that is no regression, 0.05 = 5 points.",
)
@click.option(
    "--across",
    multiple=True,
    metavar="WHAT",
    help="Judge though this changed: model, engine, judge; repeat it or use commas.",
)
@click.option(
    "--any-loss",
    is_flag=True,
    help="Call every case that passed before and fails now a regression, however little proves it.",
)
@_store_option
@click.pass_context
def diff(
    ctx: click.Context, *, a: str, b: str, label_a: str, label_b: str, store: str | None, **request: Unpack[_Asked]
) -> int:
    """Say what changed from report A to report B."""
    from skillgauge.api.run import run_reports  # noqa: PLC0415 - `--help` needs none of it
    from skillgauge_run_comparisons.comparison import compare  # noqa: PLC0415 - as above
    from skillgauge_run_comparisons.document import Circumstance, Regression  # noqa: PLC0415 - as above
    from skillgauge_run_comparisons.inputs import Report, Terms  # noqa: PLC0415 - as above

    is_gate = request["fail_on_regression"]
    across = tuple(map(Circumstance, _words(request["across"], Circumstance)))
    terms = Terms(is_gate=is_gate, across=across, max_drop=request["max_drop"], any_loss=request["any_loss"])
    call = _invocation(ctx, store)
    with run_reports(call, [a, b]) as (before, after):
        sides = ((before, label_a, a), (after, label_b, b))
        first, second = (
            Report(view, label, word, _again(view, word, store), call.commented(view)[1]) for view, label, word in sides
        )
        document = compare(first, second, terms)
    if request["output"] is not None or not call.output.as_json:
        _write(call, _written(document, DiffFormat(request["name"])), request["output"])
    if call.output.as_json:
        call.output.document(document.model_dump(mode="json"))
    for warning in document.warnings:
        call.output.notice(warning)
    if document.regression is Regression.YES and not is_gate:
        call.output.notice("add --fail-on-regression to make this fail the command")
    call.output.verdict(document.verdict)
    return document.exit_code


@command.command(
    "join",
    examples=(
        "skillgauge report join latest~1 latest",
        "skillgauge report join claude.record.json codex.record.json --format html --output matrix.html",
    ),
    help="Make one run of several runs of the same suites, as of further engines, models or repeats: every session "
    "counts once, every figure is computed anew. Each is a file or a stored run: its id, latest, latest~1.",
    short_help="Join runs of the same suites.",
)
@click.argument("sources", metavar="RUN RUN...", nargs=-1, required=True)
@click.option(
    "--format",
    "name",
    metavar="NAME",
    help="An installed reporter; default: with --output `record`, which every other command reads, else the terminal.",
)
@click.option("--output", metavar="FILE", help="Where to write it; default: stdout.")
@_store_option
@click.pass_context
def join_runs(
    ctx: click.Context, *, sources: tuple[str, ...], name: str | None, output: str | None, store: str | None
) -> int:
    """Make one run of several."""
    from skillgauge.api.run import run_reports  # noqa: PLC0415 - `--help` needs none of it
    from skillgauge_run_views.delivery import deliver  # noqa: PLC0415 - as above
    from skillgauge_run_views.showing import run_document, run_verdict, show_run  # noqa: PLC0415 - as above

    from .joining import join  # noqa: PLC0415 - as above

    call = _invocation(ctx, store)
    with run_reports(call, sources, counted_in=sources) as views:
        joined = join(views, call.figures)
        view, remarks = call.commented(joined.view)
        if name is not None or output is not None:
            deliver(call, joined.view, name or "record", output)
        else:
            show_run(view, call.output)
            if call.output.as_json:
                call.output.document(run_document(view))
    for notice in (*joined.notices, *remarks):
        call.output.notice(notice)
    call.output.verdict(run_verdict(view))
    return ExitCode.OK


def _written(document: DiffDocument, form: DiffFormat) -> str:
    """The comparison as text; only one of the three ways is imported."""
    match form:
        case DiffFormat.MARKDOWN:
            from .markdown import render as as_markdown  # noqa: PLC0415 - only one of the three is needed

            return as_markdown(document)
        case DiffFormat.HTML:
            from .page import render as as_page  # noqa: PLC0415 - only one of the three is needed

            return as_page(document)
        case DiffFormat.JSON:
            return json_text(json.dumps(document.model_dump(mode="json"), indent=2, ensure_ascii=False)) + "\n"


def _words(given: Sequence[str], vocabulary: type[StrEnum]) -> tuple[str, ...]:
    """Words that are repeated or stand with commas, each once.

    Raises:
        UsageError: one of them is none of those that are known.
    """
    words = tuple(dict.fromkeys(word.strip() for one in given for word in one.split(",")))
    names = [one.value for one in vocabulary]
    problems = [
        Problem("usage.value", f"{word!r} is none of {', '.join(names)}{did_you_mean(word, names)}")
        for word in words
        if word not in names
    ]
    if problems:
        raise UsageError(problems)
    return words


def _again(view: RunView, word: str, store: str | None) -> str:
    """Return the name by which `eval --confirm` finds a report; empty if it does not say exactly what was executed."""
    if not view.head.runners or not all(case.digest for case in view.cases()):
        return ""
    named = [word] if Path(word).exists() else [view.run.run_id, *(("--store", store) if store is not None else ())]
    return shlex.join(named)


def _invocation(ctx: click.Context, store: str | None) -> Invocation:
    return invocation(ctx.obj, {} if store is None else {"store": store})


def _write(call: Invocation, content: str, output: str | None) -> None:
    from skillgauge_run_views.delivery import STDOUT  # noqa: PLC0415 - `--help` needs none of it

    if output is None or output == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(content.encode())
        sys.stdout.buffer.flush()
        return
    write_whole(Path(output), [content.encode()])
    call.output.line(f"comparison: {output}")
