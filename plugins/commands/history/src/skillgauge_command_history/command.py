"""`history`: the runs that the store has kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from skillgauge.api import ExitCode, Frozen, JsonObject, Problem, RunQuery, UsageError, did_you_mean
from skillgauge.api.run import GlobalsGroup, Invocation, invocation

if TYPE_CHECKING:
    from skillgauge.api.report import RunView
    from skillgauge.api.run import Output

    from .documents import FlakyDocument, NoiseDocument

_QUARANTINE = timedelta(days=14)
_RUNS_OF_EACH = 50

command = GlobalsGroup("history", help="Show the runs that the store has kept, and take over runs from elsewhere.")


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from skillgauge_run_views.showing import RunDocument  # noqa: PLC0415 - `--help` needs none of it

    from . import documents  # noqa: PLC0415 - as above

    models: dict[str, type[Frozen]] = {
        "list": documents.ListDocument,
        "note": documents.NoteDocument,
        "show": RunDocument,
        "trend": documents.TrendDocument,
        "trends": documents.TrendsDocument,
        "flaky": documents.FlakyDocument,
        "noise": documents.NoiseDocument,
        "import": documents.ImportDocument,
    }
    return {f"history-{name}": model.model_json_schema() for name, model in models.items()}


Callback = TypeVar("Callback", bound=Callable[..., int])


def _store_option(callback: Callback) -> Callback:
    return click.option("--store", metavar="PLACE", help="Where runs are kept; default: as configured.")(callback)


@command.command(
    "list",
    examples=("skillgauge history list", "skillgauge history list --label team=search"),
    help="List runs, newest first.",
)
@click.option("--target", metavar="T", help="Only runs of this target, by its id.")
@click.option("--suite", metavar="S", help="Only runs of this suite, by its id.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Only runs with this label; repeatable.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="At most so many.")
@_store_option
@click.pass_context
def list_runs(
    ctx: click.Context, *, target: str | None, suite: str | None, labels: tuple[str, ...], limit: int, store: str | None
) -> int:
    """List runs, newest first."""
    from skillgauge.api.run import opened_store, parsed_labels, store_place, tell_foreign  # noqa: PLC0415 - as above

    from .listing import listed, print_runs  # noqa: PLC0415 - as above
    from .noting import labelled, notes_of  # noqa: PLC0415 - as above

    call = _invocation(ctx, store)
    with opened_store(call) as runs:
        notes = notes_of(runs)
        query = RunQuery(target_id=target, suite_id=suite, limit=limit)
        views = labelled(runs, query, notes, parsed_labels(labels))
        document = listed(views, store_place(call), notes)
        tell_foreign(call, views)
    call.output.document(document.model_dump(mode="json"))
    if document.runs:
        print_runs(document, call.output)
    else:
        call.output.notice(f"no runs{_matching(target, suite, labels)} are stored in {store_place(call)}")
    return ExitCode.OK


@command.command(
    "note",
    examples=(
        "skillgauge history note latest --name 'before the change' --label team=search",
        "skillgauge history note latest --label team=",
    ),
    help="Name a run, keep a note beside it, or label it; KEY= takes a label away. What is not given stays.",
)
@click.argument("run_id", metavar="RUN_ID|latest")
@click.option("--name", metavar="TEXT", help="Name of the run; an empty text removes it.")
@click.option("--note", metavar="TEXT", help="Keep this note beside it, in place of the earlier one.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Label it; may be repeated.")
@_store_option
@click.pass_context
def note_run(
    ctx: click.Context, *, run_id: str, name: str | None, note: str | None, labels: tuple[str, ...], store: str | None
) -> int:
    """Name, annotate or label a run."""
    from skillgauge.api.run import find_run, opened_store, parsed_labels, store_place  # noqa: PLC0415 - as above

    from .listing import note_verdict, print_note  # noqa: PLC0415 - as above
    from .noting import annotate, require_notes  # noqa: PLC0415 - as above

    call = _invocation(ctx, store)
    changes = parsed_labels(labels, may_remove=True)
    with opened_store(call) as runs:
        view = find_run(runs, run_id)
        if view is None:
            message = f"no runs are stored in {store_place(call)}"
            raise UsageError(Problem("history.no-runs", message, hint="Name another place with --store."))
        document = annotate(require_notes(runs, store_place(call)), view, name, note, changes)
    call.output.document(document.model_dump(mode="json"))
    print_note(document, call.output)
    call.output.verdict(note_verdict(document))
    return ExitCode.OK


@command.command(
    "show",
    examples=("skillgauge history show latest",),
    help="Show one run: by its id, the beginning of it, `latest` or `latest~1`.",
)
@click.argument("run_id", metavar="RUN_ID|latest")
@click.option("--format", "name", metavar="NAME", help="Print it with this reporter instead.")
@click.option("--output", metavar="FILE", help="Where to write that report; default: stdout.")
@_store_option
@click.pass_context
def show(ctx: click.Context, *, run_id: str, name: str | None, output: str | None, store: str | None) -> int:
    """Show one run."""
    from skillgauge.api.run import find_run, opened_store, store_place, tell_foreign  # noqa: PLC0415 - as above
    from skillgauge_run_views.delivery import deliver  # noqa: PLC0415 - as above
    from skillgauge_run_views.showing import run_document, run_verdict, show_run  # noqa: PLC0415 - as above

    if output is not None and name is None:
        hint = "Add --format NAME, for example --format html."
        raise UsageError(Problem("usage.arguments", "--output needs a --format", hint=hint))
    call = _invocation(ctx, store)
    with opened_store(call) as runs:
        view = find_run(runs, run_id)
        tell_foreign(call, [view] if view else [])
        if view is None:
            call.output.document(None)
            call.output.notice(f"no runs are stored in {store_place(call)}")
        elif name is not None:
            deliver(call, view, name, output)
        else:
            view, remarks = call.commented(view)
            if call.output.as_json:
                call.output.document(run_document(view))
            show_run(view, call.output)
            for notice in remarks:
                call.output.notice(notice)
            call.output.verdict(run_verdict(view))
    return ExitCode.OK


@command.command(
    "trend",
    examples=("skillgauge history trend", "skillgauge history trend my-skill"),
    help="Show how a target did from run to run, or all targets with a line each.",
)
@click.argument("target", metavar="[TARGET]", required=False)
@click.option("--suite", metavar="S", help="Only runs of this suite, by its id.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Look at the newest N runs of each suite; default: 50, of one target all.",
)
@_store_option
@click.pass_context
def trend(ctx: click.Context, *, target: str | None, suite: str | None, limit: int | None, store: str | None) -> int:
    """Show how a target did from run to run, or all of them."""
    from skillgauge.api.run import opened_store, store_place, tell_foreign  # noqa: PLC0415 - as above

    from .stored import known_targets, newest_of_each  # noqa: PLC0415 - as above

    call = _invocation(ctx, store)
    query = RunQuery(target_id=target, suite_id=suite)
    most = limit or (None if target else _RUNS_OF_EACH)
    with opened_store(call) as runs:
        views = list(newest_of_each(runs.scan(query), most) if most else runs.scan(query))
        tell_foreign(call, views)
        if target is not None and not views and (targets := known_targets(runs, suite)):
            where = f" of suite {suite!r}" if suite is not None else ""
            message = f"no run{where} is of a target {target!r}{did_you_mean(target, targets)}"
            hint = "List the runs with: skillgauge history list"
            raise UsageError(Problem("history.no-such-target", message, hint=hint))
    if target is None:
        _show_all_trends(call, store_place(call), views, suite)
    else:
        _show_trend(call, store_place(call), views, target, suite)
    return ExitCode.OK


def _show_trend(call: Invocation, place: str, views: Sequence[RunView], target: str, suite: str | None) -> None:
    from skillgauge_run_views.trends import is_finished, is_valid, trends  # noqa: PLC0415 - as above

    from .documents import TrendDocument  # noqa: PLC0415 - as above
    from .trend_listing import print_trend  # noqa: PLC0415 - as above

    finished = [view for view in views if is_finished(view)]
    document = TrendDocument(
        store=place,
        target=target,
        unfinished=len(views) - len(finished),
        invalid=sum(not is_valid(view, target, suite) for view in finished),
        series=trends(finished, target, suite),
    )
    call.output.document(document.model_dump(mode="json"))
    if document.unfinished:
        call.output.notice(f"runs that did not finish and are left out: {document.unfinished}")
    if document.invalid:
        call.output.notice(f"runs that are invalid and are left out: {document.invalid}")
    if document.series:
        print_trend(document, call.output)
    else:
        call.output.notice(f"no finished and valid runs of {target!r} are stored in {place}")


def _show_all_trends(call: Invocation, place: str, views: Sequence[RunView], suite: str | None) -> None:
    from skillgauge_run_views.trends import is_finished, trends_of_all  # noqa: PLC0415 - as above

    from .trend_listing import print_trends, trends_document  # noqa: PLC0415 - as above

    finished = [view for view in views if is_finished(view)]
    by_target = trends_of_all(finished, suite).items()
    document = trends_document(place, len(finished), len(views) - len(finished), by_target)
    call.output.document(document.model_dump(mode="json"))
    if document.unfinished:
        call.output.notice(f"runs that did not finish and are left out: {document.unfinished}")
    if document.targets:
        print_trends(document, call.output)
    else:
        call.output.notice(f"no finished and valid runs{_matching(None, suite)} are stored in {place}")


def _newest_options(callback: Callback) -> Callback:
    """Options that choose the cases and runs to sum up."""
    options = (
        click.option("--target", metavar="T", help="Only cases of this target, by its id."),
        click.option("--suite", metavar="S", help="Only cases of this suite, by its id."),
        click.option(
            "--limit",
            type=click.IntRange(1),
            default=20,
            show_default=True,
            metavar="N",
            help="Look at the newest N runs of each suite.",
        ),
    )
    for option in reversed(options):
        callback = option(callback)
    return callback


@dataclass(frozen=True)
class _Newest:
    """The cases and runs to sum up."""

    target: str | None
    suite: str | None
    limit: int
    store: str | None


@command.command(
    "flaky",
    examples=("skillgauge history flaky --target my-skill --limit 50",),
    help="Show the cases that pass only sometimes, over the newest runs.",
)
@_newest_options
@click.option(
    "--until",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Day on which cases that are proposed for quarantine gate again; default: in two weeks.",
)
@_store_option
@click.pass_context
def flaky(ctx: click.Context, /, *, until: datetime | None, **chosen: Any) -> int:
    """Show the cases that pass only sometimes."""
    from .documents import FlakyDocument  # noqa: PLC0415 - as above
    from .flaky import flaky_cases  # noqa: PLC0415 - as above
    from .flaky_listing import print_flaky  # noqa: PLC0415 - as above
    from .quarantine import proposals  # noqa: PLC0415 - as above

    newest = _Newest(**chosen)
    day = until.date() if until else datetime.now(UTC).date() + _QUARANTINE

    def summed(views: Sequence[RunView], place: str) -> FlakyDocument:
        cases = flaky_cases(views, newest.target, newest.suite)
        return FlakyDocument(
            store=place,
            runs=len(views),
            cases=cases.flaky,
            steady=cases.steady,
            turned=cases.turned,
            restarted=cases.restarted,
            proposals=proposals(cases.flaky, day),
        )

    return _tell_of_newest(ctx, newest, summed, print_flaky)


@command.command(
    "noise",
    examples=("skillgauge history noise --suite my-skill",),
    help="Show how often verdicts flip when nothing has changed, over the newest runs.",
)
@_newest_options
@_store_option
@click.pass_context
def noise(ctx: click.Context, /, **chosen: Any) -> int:
    """Show how often verdicts flip when nothing has changed."""
    from .documents import NoiseDocument  # noqa: PLC0415 - as above
    from .listing import print_noise  # noqa: PLC0415 - as above
    from .noise import noise_of  # noqa: PLC0415 - as above

    newest = _Newest(**chosen)

    def summed(views: Sequence[RunView], place: str) -> NoiseDocument:
        return NoiseDocument(store=place, runs=len(views), noise=noise_of(views, newest.target, newest.suite))

    return _tell_of_newest(ctx, newest, summed, print_noise)


Summed = TypeVar("Summed", "FlakyDocument", "NoiseDocument")


def _tell_of_newest(
    ctx: click.Context,
    newest: _Newest,
    summed: Callable[[Sequence[RunView], str], Summed],
    show: Callable[[Summed, Output], None],
) -> int:
    """Sum up the newest runs of the store, and print what that shows."""
    from skillgauge.api.run import opened_store, store_place, tell_foreign  # noqa: PLC0415 - as above

    from .stored import newest_of_each  # noqa: PLC0415 - as above

    call = _invocation(ctx, newest.store)
    place = store_place(call)
    with opened_store(call) as runs:
        query = RunQuery(target_id=newest.target, suite_id=newest.suite)
        views = list(newest_of_each(runs.scan(query), newest.limit))
        tell_foreign(call, views)
        document = summed(views, place)
    call.output.document(document.model_dump(mode="json"))
    if document.runs:
        show(document, call.output)
    else:
        call.output.notice(f"no runs{_matching(newest.target, newest.suite)} are stored in {place}")
    return ExitCode.OK


@command.command(
    "import",
    examples=("skillgauge history import records/", "skillgauge history import reports/benchmark.json"),
    help="Take run records, result documents or a database of eval-skills over into the store; a run is stored once.",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@_store_option
@click.pass_context
def import_files(ctx: click.Context, *, paths: tuple[str, ...], store: str | None) -> int:
    """Take run records, result documents or a database of eval-skills over into the store."""
    from skillgauge.api.run import opened_store, store_place  # noqa: PLC0415 - as above

    from .importing import require_archive  # noqa: PLC0415 - as above
    from .listing import import_verdict, print_import  # noqa: PLC0415 - as above
    from .reports import import_paths  # noqa: PLC0415 - as above

    call = _invocation(ctx, store)
    place = store_place(call)
    with opened_store(call) as runs:
        archive = require_archive(runs, place)
        document = asyncio.run(import_paths(call, [Path(path) for path in paths], archive, place))
    call.output.document(document.model_dump(mode="json"))
    print_import(document, call.output)
    call.output.verdict(import_verdict(document))
    return ExitCode.USAGE if any(one.damaged for one in document.not_imported) else ExitCode.OK


def _invocation(ctx: click.Context, store: str | None) -> Invocation:
    return invocation(ctx.obj, {} if store is None else {"store": store})


def _matching(target: str | None, suite: str | None, labels: Sequence[str] = ()) -> str:
    return "" if target is None and suite is None and not labels else " that match"
