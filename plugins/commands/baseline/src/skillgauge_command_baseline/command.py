"""`baseline`: runs that are kept under names, in files that are made to be committed."""

from __future__ import annotations

from collections.abc import Mapping

import click

from skillgauge.api import ExitCode, JsonObject, Problem, UsageError, did_you_mean
from skillgauge.api.run import GlobalsGroup, invocation

command = GlobalsGroup("baseline", help="Keep runs under names, so that later ones are gated against them.")


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from skillgauge_run_views.showing import RunDocument  # noqa: PLC0415 - `--help` needs none of it

    from .documents import ListDocument, SavedDocument  # noqa: PLC0415 - as above

    return {
        "baseline-save": SavedDocument.model_json_schema(),
        "baseline-list": ListDocument.model_json_schema(),
        "baseline-show": RunDocument.model_json_schema(),
    }


@command.command(
    "save",
    examples=("skillgauge baseline save main",),
    help="Keep a run (latest, unless named) as baselines/NAME.record.json.",
)
@click.argument("name", metavar="NAME")
@click.argument("source", metavar="[FILE|RUN]", default="latest")
@click.option("--force", is_flag=True, help="Replace a baseline of this name.")
@click.option("--store", metavar="PLACE", help="Where runs are kept; default: as configured.")
@click.pass_context
def save(ctx: click.Context, *, name: str, source: str, force: bool, store: str | None) -> int:
    """Keep a run under a name."""
    from skillgauge.api.run import baseline_file, run_reports, why_unusable  # noqa: PLC0415 - `--help` needs none of it

    from .documents import SavedDocument, advice, entry_of, save_as  # noqa: PLC0415 - as above

    call = invocation(ctx.obj, {} if store is None else {"store": store})
    target = baseline_file(call, name)
    problems = []
    if target.exists() and not force:
        problems.append(Problem("baseline.exists", f"there is a baseline {name!r}", hint="Add --force to replace it."))
    with run_reports(call, [source], problems) as (view,):
        if why := why_unusable(view):
            call.output.document(SavedDocument(saved=None, reason=why).model_dump(mode="json"))
            call.output.verdict(f"nothing is kept: {why}")
            return ExitCode.INVALID_RUN
        save_as(call, view, target)
        entry = entry_of(name, target, view)
        next_step = advice(name, view)
    call.output.document(SavedDocument(saved=entry).model_dump(mode="json"))
    call.output.line(f"baseline: {target.relative_to(call.cwd)}")
    call.output.verdict(f"kept as {name}; {next_step}")
    return ExitCode.OK


@command.command("list", examples=("skillgauge baseline list",), help="List the baselines of this folder.")
@click.pass_context
def list_(ctx: click.Context) -> int:
    """List the baselines of this folder."""
    from .documents import listed, print_baselines  # noqa: PLC0415 - `--help` needs none of it

    call = invocation(ctx.obj)
    document, problems = listed(call)
    call.output.document(document.model_dump(mode="json"))
    print_baselines(document, call.output)
    call.output.problems(problems)
    return ExitCode.USAGE if problems else ExitCode.OK


@command.command(
    "show",
    examples=("skillgauge baseline show main",),
    help="Show the rates of a baseline, and what did not pass and why.",
)
@click.argument("name", metavar="NAME")
@click.pass_context
def show(ctx: click.Context, *, name: str) -> int:
    """Show a baseline."""
    from skillgauge.api.run import baseline_files  # noqa: PLC0415 - `--help` needs none of it
    from skillgauge_run_views.showing import run_document, run_verdict, show_run  # noqa: PLC0415 - as above

    call = invocation(ctx.obj)
    files = baseline_files(call)
    if name not in files:
        message = f"there is no baseline {name!r}{did_you_mean(name, list(files))}"
        raise UsageError(Problem("baseline.absent", message, hint="List them with: skillgauge baseline list"))
    view, remarks = call.commented(call.read_run(files[name]))
    if call.output.as_json:
        call.output.document(run_document(view))
    show_run(view, call.output)
    for notice in remarks:
        call.output.notice(notice)
    call.output.verdict(run_verdict(view))
    return ExitCode.OK
