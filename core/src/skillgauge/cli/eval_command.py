"""`eval`: everything that evaluates."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ..artifacts import only_suites, write_report, write_whole
from ..assembly import Assembled, Request, assemble
from ..config import Config
from ..errors import ExitCode, PluginError, Problem, UsageError
from ..gates import Decision, GateOptions, decide
from ..pipeline import Outcome, carry_out
from ..planning import Selection, applies
from ..protocols import Reporter
from ..registry import REPORTERS, Registry
from ..types.result import RunInfo, RunView
from .eval_document import document, human_lines, plan_document
from .format_options import FormatOptions
from .options import Globals, GlobalsCommand, Invocation, SeveralWords, invocation, words
from .output import Output
from .progress import make_progress

OWN_DOCUMENT = "json"
"""The word of `--format` for "the document of the suite's own format"."""


class EvalCommand(GlobalsCommand):
    """Adds the load options of the installed formats to its own."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Learn the formats' options before parsing."""
        FormatOptions.of_installed().add_to(self)
        return super().make_context(info_name, args, parent, **extra)


def _is_no_reporter(word: str) -> bool:
    from ..index import read_index  # noqa: PLC0415 - needed only if `--format` is followed by several words

    return word != OWN_DOCUMENT and not all(read_index().find("reporters", part) for part in words([word]))


_OPTIONS: list[click.Parameter] = [
    click.Argument(["paths"], nargs=-1, metavar="[PATH|CASE]..."),
    click.Option(["--suite-format"], metavar="NAME", help="Read the paths with this format."),
    click.Option(["--case"], metavar="GLOB", multiple=True, help="Cases to run, by id or file stem."),
    click.Option(["--tag"], metavar="TAG", multiple=True, help="Run cases with any of these tags."),
    click.Option(["--target"], metavar="ID", multiple=True, help="Targets to run."),
    click.Option(["--runs"], type=click.IntRange(1), metavar="N", help="Repeats of every case."),
    click.Option(["--concurrency"], type=click.IntRange(1), metavar="N", help="Trials under way at once."),
    click.Option(["--retries"], type=click.IntRange(0), metavar="N", help="Attempts after a failure that may pass."),
    click.Option(["--seed"], type=int, metavar="N", help="Seed of everything random."),
    click.Option(["--timeout"], metavar="TIME", help="Limit of one trial: 30s, 2m, 500ms; a bare number is ms."),
    click.Option(["--sandbox"], metavar="NAME", help="Sandbox for every process."),
    click.Option(["--judge"], metavar="NAME", help="Judge of rubric checks, or one of its model ids."),
    click.Option(["--judge-model"], metavar="ID", help="Model of the judge."),
    click.Option(["--keep-workspaces"], is_flag=True, help="Leave workspaces behind for inspection."),
    SeveralWords(
        ["--format", "formats"],
        metavar="NAME...",
        stops_at=_is_no_reporter,
        text="Reporters; `json` is the document of the suite's own format.",
    ),
    click.Option(["--output-dir"], metavar="DIR", help="Folder for reports."),
    click.Option(["-o", "output_file"], metavar="FILE", help="Write the suite's own document to FILE."),
    click.Option(["--exit-on-fail"], is_flag=True, help="Exit 1 if a target stays below --min-completion."),
    click.Option(["--min-completion"], type=click.FloatRange(0, 1), metavar="R", help="Threshold; default 0.7."),
    click.Option(["--store"], metavar="PLACE", help="Where runs are kept; `none` keeps nothing."),
    click.Option(["--fresh"], is_flag=True, help="Do not resume an unfinished run."),
    click.Option(["--dry-run"], is_flag=True, help="Check everything, show what would run, create nothing."),
]

_CONFIG_OPTIONS = {
    "runs": "runs",
    "concurrency": "concurrency",
    "retries": "retries",
    "seed": "seed",
    "sandbox": "sandbox",
    "judge": "judge",
    "judge_model": "judgeModel",
    "output_dir": "outputDir",
    "store": "store",
}


def _evaluate(**values: Any) -> int:
    context = click.get_current_context()
    flags = {key: values[name] for name, key in _CONFIG_OPTIONS.items() if values[name] is not None}
    given: Globals = context.obj
    call = invocation(given, flags)
    return asyncio.run(_run(call, values))


command = EvalCommand("eval", params=_OPTIONS, callback=_evaluate, help="Evaluate skills and suites.")


@dataclass(frozen=True)
class _Reports:
    """Which reporters to use, made before anything runs."""

    by_name: Mapping[str, Reporter]
    own: bool
    """Whether the suites' own documents are wanted."""


async def _run(call: Invocation, values: Mapping[str, Any]) -> int:
    request = evaluation_request(call, values)
    assembled = await assemble(request, call.registry, call.config)
    reports = _reporters(call, values, assembled)
    call.output.problems((*assembled.warnings, *assembled.passed_over))
    if values["dry_run"]:
        call.output.document(plan_document(assembled))
        _print_plan(assembled, call.output)
        return ExitCode.USAGE if assembled.passed_over else ExitCode.OK
    outcome = await _carry_out(assembled, call)
    return await asyncio.to_thread(_report, outcome, assembled, reports, call, values)


def evaluation_request(call: Invocation, values: Mapping[str, Any]) -> Request:
    """What the parsed options ask for; options that a command does not have are as if not given."""
    config = call.config
    options = FormatOptions.of_installed()
    paths, cases = _paths_and_cases(values["paths"], call.cwd)
    format_paths = options.paths(values, call.cwd)
    if not paths and not any(format_paths.values()):
        paths = (call.cwd,)
    store = config.get("store")
    return Request(
        cwd=call.cwd,
        paths=paths,
        format_paths={name: found for name, found in format_paths.items() if found},
        suite_format=values["suite_format"],
        format_options=options.values(values),
        selection=Selection(
            cases=(*words(values.get("case", ())), *cases),
            tags=words(values.get("tag", ())),
            targets=words(values.get("target", ())),
        ),
        timeout_s=_timeout(values.get("timeout"), config),
        runs=config.get("runs"),
        seed=config.get("seed"),
        concurrency=config.get("concurrency"),
        retries=config.get("retries"),
        sandbox=config.get("sandbox"),
        judge=config.get("judge"),
        judge_model=config.get("judgeModel") or config.get("llm.model"),
        store=None if store == "none" else store,
        store_given=config.is_set("store"),
        fresh=values.get("fresh", False),
        keep_workspaces=values.get("keep_workspaces", False),
    )


def _paths_and_cases(given: Sequence[str], cwd: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Words that exist or look like a path are paths; the others select cases of the suites here."""
    paths, cases = [], []
    for word in given:
        path = cwd / word
        if path.exists() or "/" in word or "\\" in word or word.startswith(".") or Path(word).suffix:
            paths.append(path)
        else:
            cases.append(word)
    return tuple(paths), tuple(cases)


def _timeout(text: str | None, config: Config) -> float | None:
    if text is None:
        return config.get("timeoutMs") / 1000 if config.is_set("timeoutMs") else None
    units = {"ms": 0.001, "s": 1.0, "m": 60.0}
    unit = next((unit for unit in units if text.endswith(unit)), "")
    try:
        seconds = float(text.removesuffix(unit)) * units.get(unit, 0.001)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        hint = "Write a number with a unit: 30s, 2m or 500ms; a bare number is milliseconds."
        raise UsageError(Problem("usage.timeout", f"--timeout {text!r} is no time", hint=hint))
    return seconds


def _reporters(call: Invocation, values: Mapping[str, Any], assembled: Assembled) -> _Reports:
    """Make every reporter before anything runs; a default one that is not installed is only mentioned."""
    explicit = words(values["formats"])
    by_name: dict[str, Reporter] = {}
    missing = []
    for name in explicit or call.config.get("defaultFormats"):
        if name == OWN_DOCUMENT:
            continue
        try:
            resolved = call.registry.resolve("reporters", name)
        except PluginError:
            if explicit or call.config.is_set("defaultFormats"):
                raise
            missing.append(name)
        else:
            by_name[resolved.name] = call.registry.make(REPORTERS, name)
    own = OWN_DOCUMENT in (explicit or call.config.get("defaultFormats")) or values["output_file"] is not None
    if own:
        for suite in assembled.plan.head.suites:
            if suite.document:
                call.registry.resolve("reporters", suite.document)
    if missing:
        call.output.notice(f"not installed, so not written: {', '.join(missing)} (reporters)")
    return _Reports(by_name, own)


def _print_plan(assembled: Assembled, output: Output) -> None:
    head = assembled.plan.head
    output.line(f"{head.trial_count} trials in sandbox {assembled.sandbox}; runs: {head.runs}, seed: {head.seed}")
    rows = []
    for suite in assembled.plan.suites:
        for cell in suite.cells:
            cases = sum(applies(case, cell.target) for _, case in suite.cases())
            target = cell.target.id if cell.target else "-"
            rows.append([suite.suite.id, target, cell.arm.name, cell.runner.name, str(cases)])
    output.table(["Suite", "Target", "Arm", "Runs with", "Cases"], rows)
    output.line("Nothing was executed and nothing was created.")


async def _carry_out(assembled: Assembled, call: Invocation) -> Outcome:
    """Run the plan; the first Ctrl-C stops it and keeps what is finished."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    progress = make_progress(assembled.plan.head.trial_count, quiet=call.output.quiet)

    def begun(run: RunInfo) -> None:
        if run.resumed:
            call.output.notice(f"resuming run {run.run_id}, which was interrupted (--fresh starts a new one)")

    try:
        with progress:
            return await carry_out(assembled.plan, assembled.job.watched(progress.finished, begun), stop)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _report(
    outcome: Outcome, assembled: Assembled, reports: _Reports, call: Invocation, values: Mapping[str, Any]
) -> int:
    view = outcome.view
    folder = call.cwd / call.config.get("outputDir")
    written = {name: write_report(view, name, one, folder) for name, one in reports.by_name.items()}
    if reports.own:
        written |= _own_documents(view, call.registry, folder, values["output_file"])
    gate = GateOptions(
        exit_on_fail=values["exit_on_fail"],
        min_completion=values["min_completion"] if values["min_completion"] is not None else 0.7,
        threshold_given=values["min_completion"] is not None,
    )
    decision = decide(view, gate, has_bad_files=bool(assembled.passed_over))
    _print(view, decision, written, outcome, assembled, call.output)
    return decision.exit_code


def _own_documents(view: RunView, registry: Registry, folder: Path, output_file: str | None) -> dict[str, Path]:
    """The documents of the suites' own formats; each format gets its part of the run."""
    by_document: dict[str, set[str]] = {}
    for suite in view.head.suites:
        if suite.document:
            by_document.setdefault(suite.document, set()).add(suite.id)
    written = {}
    for name, ids in by_document.items():
        reporter = registry.make(REPORTERS, name)
        part = only_suites(view, frozenset(ids))
        if output_file is not None:
            place = Path(output_file) if len(by_document) == 1 else Path(output_file) / f"{name}.{reporter.suffix}"
            for artifact in reporter.render(part):
                write_whole(place, artifact.chunks)
            written[name] = place
        else:
            suffix = reporter.suffix if len(by_document) == 1 else f"{name}.{reporter.suffix}"
            written[name] = write_report(part, name, reporter, folder, suffix=suffix)
    return written


def _print(
    view: RunView,
    decision: Decision,
    written: Mapping[str, Path],
    outcome: Outcome,
    assembled: Assembled,
    output: Output,
) -> None:
    output.document(document(view, decision, written, assembled) if output.as_json else None)
    for line in human_lines(view):
        output.line(line)
    for name, path in written.items():
        output.line(f"{name} report: {path}")
    if outcome.already_done:
        output.notice(f"{outcome.already_done} trials had been done before the interruption and were not run again")
    for notice in decision.notices:
        output.notice(notice)
    output.verdict(decision.verdict)
