"""`view`: runs in a browser, served on this machine or written as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgauge.api import ExitCode, Frozen, JsonObject, Problem, SkillgaugeError, UsageError
from skillgauge.api.run import GlobalsCommand, GlobalsGroup, invocation

if TYPE_CHECKING:
    from skillgauge.api.report import RunView
    from skillgauge.api.run import Invocation

    from .rows import RunRow
    from .sources import Runs

_SERVE = "serve"


class ViewGroup(GlobalsGroup):
    """Serves unless a command of the group is named: `view reports/` is `view serve reports/`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the command in front where none is named."""
        asks_for_help = bool({*args} & {*ctx.help_option_names})
        if not asks_for_help and (not args or args[0] not in self.commands):
            args = [_SERVE, *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command of a word; any word that names none is a path to serve."""
        return super().get_command(ctx, cmd_name) or self.commands[_SERVE]


command = ViewGroup(
    "view",
    help="Look at runs in a browser: `view [PATH...]` serves the runs of records, of folders of reports and of stores "
    "on this machine until Ctrl-C; `view export` writes pages that open without a server.",
    short_help="Look at runs in a browser.",
)


class ServeDocument(Frozen):
    """The start of the server, as `--json` prints it."""

    schema_version: str = "1.0"
    address: str
    """Opens the first page, once."""
    port: int
    sources: tuple[str, ...]
    """The places whose runs are shown."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    return {
        "view-serve": ServeDocument.model_json_schema(),
        "view-export": ExportDocument.model_json_schema(),
    }


@command.command(
    _SERVE,
    cls=GlobalsCommand,
    examples=("skillgauge view serve reports/ --store team.db", "skillgauge view serve --port 8800 --no-open"),
    help="Serve the runs of records, of folders of reports and of stores on this machine, until Ctrl-C. Without PATH "
    "and --store the runs of the configured store. The word serve may be left out.",
    short_help="Serve runs on this machine (the word may be left out).",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--store", "stores", multiple=True, metavar="PLACE", help="Also the runs of this store; may be repeated.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; default: a free one.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen. Any other than this machine's own lets others look who get the address.",
)
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option(
    "--labels",
    "labels",
    default="labels.jsonl",
    show_default=True,
    metavar="FILE",
    help="File that labels of judged checks are added to, as by `judge label`.",
)
@click.option("--read-only", is_flag=True, help="Take no labels.")
@click.pass_context
def serve(ctx: click.Context, /, **chosen: Any) -> int:
    """Serve runs until Ctrl-C."""
    from .access import is_loopback  # noqa: PLC0415 - `--help` needs none of it
    from .downloads import Downloads  # noqa: PLC0415 - as above
    from .pages.label_page import Labels  # noqa: PLC0415 - as above
    from .serving import Place, Server, opened_in_browser  # noqa: PLC0415 - as above

    call = invocation(ctx.obj, {})
    with _runs(ctx, call, chosen["paths"], chosen["stores"]) as runs:
        labels = Labels(Path(chosen["labels"]), can_add=not chosen["read_only"])
        server = Server(runs, Place(chosen["host"], chosen["port"]), labels, Downloads(call))
        document = ServeDocument(address=server.address, port=server.port, sources=runs.labels)
        call.output.document(document.model_dump(mode="json"))
        call.output.line(f"Runs of {', '.join(runs.labels)}: {server.address}")
        if not is_loopback(chosen["host"]):
            call.output.notice(
                "whoever reaches this address and has the token reads every run, with prompts, transcripts and files; "
                "the connection is not encrypted"
            )
        call.output.notice("the address opens the pages once, in one browser; Ctrl-C ends it")
        _flush()
        opens = not chosen["no_open"] and not call.output.as_json
        with opened_in_browser(server.address, call.output.notice) if opens else nullcontext():
            server.serve()
        call.output.verdict("done: viewed", ExitCode.OK)
    return ExitCode.OK


class ExportDocument(Frozen):
    """The pages that were written, as `--json` prints them."""

    schema_version: str = "1.0"
    folder: str
    first: str
    """The page to begin with."""
    files: int


@command.command(
    "export",
    cls=GlobalsCommand,
    examples=("skillgauge view export page/ latest", "skillgauge view export pages/ latest~1 latest"),
    help="Write the pages of runs to a new folder, as files that open without a server and ask nothing of any other "
    "place. With several runs also their list, and each skill from run to run.",
    short_help="Write pages that open without a server.",
)
@click.argument("folder", metavar="DIR")
@click.argument("sources", nargs=-1, required=True, metavar="FILE|RUN...")
@click.option("--store", metavar="PLACE", help="Where runs are kept; default: as configured.")
@click.pass_context
def export(ctx: click.Context, *, folder: str, sources: tuple[str, ...], store: str | None) -> int:
    """Write the pages of runs as files."""
    from skillgauge.api.report import counted  # noqa: PLC0415 - `--help` needs none of it
    from skillgauge.api.run import run_reports  # noqa: PLC0415 - as above

    from .export import export as pages_of  # noqa: PLC0415 - as above
    from .rows import row_of  # noqa: PLC0415 - as above
    from .sources import key_of  # noqa: PLC0415 - as above

    call = invocation(ctx.obj, {} if store is None else {"store": store})
    with run_reports(call, sources) as views:
        runs: dict[str, tuple[RunRow, RunView]] = {}
        for view, source in zip(views, sources, strict=True):
            key = key_of(view.run.run_id)
            runs.setdefault(key, (row_of(view, key, source), view))
        files = len(list(pages_of(list(runs.values()), Path(folder))))
    document = ExportDocument(folder=folder, first=str(Path(folder, "index.html")), files=files)
    call.output.document(document.model_dump(mode="json"))
    call.output.line(f"pages: {document.first}")
    call.output.verdict(f"done: wrote {counted(files, 'page')} of {counted(len(runs), 'run')}", ExitCode.OK)
    return ExitCode.OK


def _flush() -> None:
    import sys  # noqa: PLC0415 - as above

    sys.stdout.flush()


@contextmanager
def _runs(ctx: click.Context, call: Invocation, paths: Sequence[str], stores: Sequence[str]) -> Iterator[Runs]:
    """The runs of all places, readable until the end.

    Raises:
        UsageError: with every problem of every place.
    """
    from skillgauge.api.run import opened_store, store_place  # noqa: PLC0415 - as above

    from .sources import RunFiles, Runs, StoredRuns  # noqa: PLC0415 - as above

    sources: list[RunFiles | StoredRuns] = []
    problems: list[Problem] = []
    with ExitStack() as stack:
        for path in paths:
            try:
                files = RunFiles(path, call, Path(path))
                files.check()
                sources.append(files)
            except SkillgaugeError as error:
                problems += error.problems
        calls = [invocation(ctx.obj, {"store": place}) for place in stores]
        if not paths and not stores:
            calls = [call]
        for own in calls:
            try:
                store = stack.enter_context(opened_store(own))
                stored = StoredRuns(store_place(own), store)
                next(stored.rows(), None)
                sources.append(stored)
            except SkillgaugeError as error:
                problems += error.problems
        UsageError.raise_for(problems)
        yield Runs(sources)
