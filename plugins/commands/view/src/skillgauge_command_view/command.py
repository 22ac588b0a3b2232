"""`view`: runs in a browser, served on this machine or written as files."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgauge.api import ExitCode, Frozen, JsonObject, Problem, SkillgaugeError, UsageError
from skillgauge.api.run import GlobalsCommand, GlobalsGroup, invocation

if TYPE_CHECKING:
    from skillgauge.api.report import RunView
    from skillgauge.api.run import Invocation

    from .rows import RunRow
    from .serving import Server
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
@click.option("--run", metavar="RUN", help="Begin with the page of this run: its id, or latest.")
@click.option(
    "--open/--no-open", "opens", default=None, help="Whether to open a browser; default: yes, but not with --json."
)
@click.option("--until-eof", is_flag=True, help="Also end when standard input ends, for programs that start it.")
@click.option(
    "--labels",
    "labels",
    default="labels.jsonl",
    show_default=True,
    metavar="FILE",
    help="File that labels of judged checks are added to, as by `judge label`.",
)
@click.option("--read-only", is_flag=True, help="Take no labels, names, notes or tags, and stop no run.")
@click.pass_context
def serve(ctx: click.Context, /, **chosen: Any) -> int:
    """Serve runs until Ctrl-C."""
    from skillgauge.api.run import store_place  # noqa: PLC0415 - `--help` needs none of it

    from .access import is_loopback  # noqa: PLC0415 - as above
    from .app import Desk  # noqa: PLC0415 - as above
    from .beside import noted, place_of  # noqa: PLC0415 - as above
    from .downloads import Downloads  # noqa: PLC0415 - as above
    from .pages.label_page import Labels  # noqa: PLC0415 - as above
    from .pages.map_page import Maps  # noqa: PLC0415 - as above
    from .pages.remarks import Remarks  # noqa: PLC0415 - as above
    from .quarantining import Quarantine  # noqa: PLC0415 - as above
    from .serving import Place, Server, opened_in_browser  # noqa: PLC0415 - as above
    from .stopping import Stopper  # noqa: PLC0415 - as above

    call = invocation(ctx.obj, {})
    with ExitStack() as stack:
        runs = stack.enter_context(_runs(ctx, call, chosen["paths"], chosen["stores"]))
        labels = Labels(Path(chosen["labels"]), can_add=not chosen["read_only"])
        first = _first(runs, chosen["run"])
        calls = _calls(ctx, call, chosen["paths"], chosen["stores"])
        # Who looks from elsewhere need not be this user.
        places = {store_place(own): place_of(own) for own in calls} if is_loopback(chosen["host"]) else {}
        stopper = Stopper(call, places)
        maps, remarks = Maps(_folders(call, chosen["paths"])), Remarks(call.commented, call.cwd, store_place(call))
        desk = Desk(labels, Downloads(call), Quarantine(call), stopper, maps, remarks)
        server = Server(runs, Place(chosen["host"], chosen["port"]), desk)
        stack.callback(server.close)
        stack.enter_context(noted(call, server.port, _places(ctx, call, chosen["paths"], chosen["stores"])))
        address = server.address_of(first)
        document = ServeDocument(address=address, port=server.port, sources=runs.labels)
        call.output.document(document.model_dump(mode="json"))
        call.output.line(f"Runs of {', '.join(runs.labels)}: {address}")
        if not is_loopback(chosen["host"]):
            call.output.notice(
                "whoever reaches this address and has the token reads every run, with prompts, transcripts and files; "
                "the connection is not encrypted"
            )
        call.output.notice("the address opens the pages once, in one browser; Ctrl-C ends it")
        sys.stdout.flush()
        opens = chosen["opens"]
        if opens is None:
            opens = not call.output.as_json
        if opens:
            stack.enter_context(opened_in_browser(address, call.output.notice))
        if chosen["until_eof"]:
            threading.Thread(target=_until_eof, args=(server,), daemon=True).start()
        server.serve()
        call.output.verdict("done: viewed", ExitCode.OK)
    return ExitCode.OK


def _folders(call: Invocation, paths: Sequence[str]) -> list[Path]:
    """The folders that maps are looked for in: those that were named, or else the one that reports are written to."""
    return [Path(path) for path in paths] or [call.cwd / call.config.get("outputDir")]


def _first(runs: Runs, reference: str | None) -> str:
    """The name in addresses of the run to begin with; empty if it is the list.

    Raises:
        UsageError: there is no such run.
    """
    if reference is None:
        return ""
    rows = sorted(runs.rows(), key=lambda row: row.started_at, reverse=True)
    key = next((row.key for row in rows if reference in ("latest", row.run_id)), None)
    if key is None:
        hint = "`skillgauge history list` shows the ids of a store."
        raise UsageError(Problem("view.run", f"no run {reference!r} is here", hint=hint))
    return key


def _until_eof(server: Server) -> None:
    """End a server when standard input ends."""
    while sys.stdin.buffer.read(1024):
        pass
    server.stop()


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
    from skillgauge.api.run import run_reports, store_place  # noqa: PLC0415 - as above

    from .export import export as pages_of  # noqa: PLC0415 - as above
    from .links import key_of  # noqa: PLC0415 - as above
    from .pages.map_page import Maps  # noqa: PLC0415 - as above
    from .pages.remarks import Remarks  # noqa: PLC0415 - as above
    from .rows import row_of  # noqa: PLC0415 - as above

    call = invocation(ctx.obj, {} if store is None else {"store": store})
    with run_reports(call, sources) as views:
        runs: dict[str, tuple[RunRow, RunView]] = {}
        for view, source in zip(views, sources, strict=True):
            key = key_of(view.run.run_id)
            runs.setdefault(key, (row_of(view, key, source), view))
        maps, remarks = Maps(_folders(call, ())), Remarks(call.commented, call.cwd, store_place(call))
        files = len(list(pages_of(list(runs.values()), Path(folder), maps, remarks)))
    document = ExportDocument(folder=folder, first=str(Path(folder, "index.html")), files=files)
    call.output.document(document.model_dump(mode="json"))
    call.output.line(f"pages: {document.first}")
    call.output.verdict(f"done: wrote {counted(files, 'page')} of {counted(len(runs), 'run')}", ExitCode.OK)
    return ExitCode.OK


def _calls(ctx: click.Context, call: Invocation, paths: Sequence[str], stores: Sequence[str]) -> list[Invocation]:
    """A command line for each store that is shown."""
    return [invocation(ctx.obj, {"store": place}) for place in stores] if paths or stores else [call]


def _places(ctx: click.Context, call: Invocation, paths: Sequence[str], stores: Sequence[str]) -> list[str]:
    """The stores that are shown, for evaluations that look for a viewer."""
    from .beside import place_of  # noqa: PLC0415 - `--help` needs none of it

    return [place_of(own) for own in _calls(ctx, call, paths, stores)]


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
        for own in _calls(ctx, call, paths, stores):
            try:
                store = stack.enter_context(opened_store(own))
                stored = StoredRuns(store_place(own), store)
                next(stored.rows(), None)
                sources.append(stored)
            except SkillgaugeError as error:
                problems += error.problems
        UsageError.raise_for(problems)
        yield Runs(sources)
