"""Evaluate something from a command line: from parsed options to a run and its reports.

What every command that evaluates shares: `eval`, `validate`, and commands of plugins, which reach it by
`skillgauge.api`.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ..contract.reporters import Reporter
from ..errors import ExitCode, PluginError, Problem, UsageError
from ..plan.assembly import Assembled, Request, assemble
from ..plan.overlay import Overlay, read_overlay
from ..plugins.kinds import REPORTERS
from ..plugins.registry import Registry
from ..reading.config import KEYS, Config
from ..report.writing import only_suites, write_report, write_whole
from ..run.budget import BudgetLimits
from ..run.pipeline import Conclusion, carry_out
from ..types.plan import Selection
from ..types.result import RunInfo, RunView
from .format_options import FormatOptions
from .invocation import Invocation
from .options import GlobalsCommand, Number, SeveralWords, words
from .plan_document import plan_document, print_plan
from .progress import make_progress

"""The engine that `--replay` stands for."""

OWN_DOCUMENT = "json"
"""The word of `--format` for "the document of the suite's own format"."""


class EvaluationCommand(GlobalsCommand):
    """A command that evaluates: it adds the load options of the installed formats to its own."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Learn the formats' options before parsing."""
        FormatOptions.of_installed().add_to(self)
        return super().make_context(info_name, args, parent, **extra)


def _is_no_reporter(word: str) -> bool:
    from ..plugins.index import read_index  # noqa: PLC0415 - needed only if `--format` is followed by several words

    return word != OWN_DOCUMENT and not all(read_index().find("reporters", part) for part in words([word]))


def evaluation_options() -> list[click.Parameter]:
    """The options of a command that evaluates, beside what to evaluate and which gates there are."""
    return [
        click.Option(
            ["--runs"],
            type=click.IntRange(1),
            metavar="N",
            help="Repeats of every case; default: as the suite says, else 1.",
        ),
        click.Option(["--concurrency"], type=click.IntRange(1), metavar="N", help="Trials under way at once."),
        click.Option(
            ["--retries"], type=click.IntRange(0), metavar="N", help="Attempts after a failure that may pass."
        ),
        click.Option(["--engine"], metavar="NAME", multiple=True, help="Agent engines; several make a matrix."),
        click.Option(["--model"], metavar="ID", multiple=True, help="Models: one for all engines, or one for each."),
        click.Option(["--baseline/--no-baseline"], default=None, help="Run the arms without the skill, too, or not."),
        click.Option(["--max-turns"], type=click.IntRange(1), metavar="N", help="Turns of an agent."),
        click.Option(["--max-cost"], type=Number(0, min_open=True), metavar="USD", help="Spend no more."),
        click.Option(["--max-tokens"], type=click.IntRange(1), metavar="N", help="Use no more tokens."),
        click.Option(["--record"], metavar="DIR", help="Record what agents do."),
        click.Option(["--replay"], metavar="DIR", help="Play recordings back instead of running agents."),
        click.Option(
            ["--untrusted"], is_flag=True, help="Run nothing unless a sandbox confines it strictly, without network."
        ),
        click.Option(["--seed"], type=int, metavar="N", help="Seed of everything random."),
        click.Option(["--timeout"], metavar="TIME", help="Limit of one trial: 30s, 2m, 500ms; a bare number is ms."),
        click.Option(["--sandbox"], metavar="NAME", help="Sandbox for every process."),
        click.Option(
            ["--check"], metavar="NAME[=JSON]", multiple=True, help="Add a scorer, with its options, to every case."
        ),
        click.Option(
            ["--judge"], metavar="NAME", multiple=True, help="Judge of rubric checks, or a model id; several: a panel."
        ),
        click.Option(
            ["--judge-model"], metavar="ID", multiple=True, help="Model of the judge; of several, one for each."
        ),
        click.Option(["--keep-workspaces"], is_flag=True, help="Leave workspaces behind for inspection."),
        SeveralWords(
            ["--format", "formats"],
            metavar="NAME...",
            stops_at=_is_no_reporter,
            text="Reporters; `json` is the document of the suite's own format.",
        ),
        click.Option(["--output-dir"], metavar="DIR", help="Folder for reports."),
        click.Option(["-o", "output_file"], metavar="FILE", help="Write the suite's own document to FILE."),
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
    "output_dir": "outputDir",
    "store": "store",
}


def configured(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the parsed options that are configuration values, by their keys; unset ones are absent."""
    return {key: values[name] for name, key in _CONFIG_OPTIONS.items() if values.get(name) is not None}


@dataclass(frozen=True)
class _Reports:
    """Which reporters to use, made before anything runs."""

    by_name: Mapping[str, Reporter]
    own: bool
    """Whether the suites' own documents are wanted."""


class Evaluation:
    """An evaluation that was checked completely and may run."""

    def __init__(self, call: Invocation, values: Mapping[str, Any], assembled: Assembled) -> None:
        self._call, self._values = call, values
        self.assembled = assembled
        self._reports = _reporters(call, values, assembled)

    @classmethod
    async def prepare(
        cls,
        call: Invocation,
        values: Mapping[str, Any],
        *,
        paths: Sequence[Path] | None = None,
        targets: Sequence[str] = (),
    ) -> Evaluation:
        """Find and check everything that a run needs; what does not stop it is printed.

        Args:
            call: the command line.
            values: parsed options: those of `evaluation_options` and of the formats; absent ones are as if not given.
            paths: what to evaluate, absolute; default: what the options name, else the current folder.
            targets: ids of the only targets to evaluate; empty means all.

        Raises:
            SkillgaugeError: with every problem that was found; nothing has run.
        """
        request = evaluation_request(call, values, paths=paths, targets=targets)
        assembled = await assemble(request, call.registry, call.config)
        evaluation = cls(call, values, assembled)
        call.output.problems((*assembled.warnings, *assembled.passed_over))
        return evaluation

    def print_plan(self) -> ExitCode:
        """Say what would run."""
        self._call.output.document(plan_document(self.assembled))
        print_plan(self.assembled, self._call.output)
        return ExitCode.USAGE if self.assembled.passed_over else ExitCode.OK

    async def carry_out(self) -> Conclusion:
        """Run it; the first Ctrl-C stops it and keeps what is finished."""
        return await _carry_out(self.assembled, self._call)

    def write_reports(self, view: RunView) -> dict[str, Path]:
        """Write every report that was asked for.

        Returns:
            Path of each, by reporter.
        """
        folder = self._call.cwd / self._call.config.get("outputDir")
        written = {name: write_report(view, name, one, folder) for name, one in self._reports.by_name.items()}
        if self._reports.own:
            output_file = self._values.get("output_file")
            written |= _own_documents(view, self._call.registry, folder, output_file)
        return written


def evaluation_request(
    call: Invocation, values: Mapping[str, Any], *, paths: Sequence[Path] | None = None, targets: Sequence[str] = ()
) -> Request:
    """What the parsed options ask for; options that a command does not have are as if not given."""
    config = call.config
    options = FormatOptions.of_installed()
    named, cases = _paths_and_cases(values.get("paths", ()), call.cwd)
    format_paths = options.paths(values, call.cwd)
    if paths is None:
        paths = named if named or any(format_paths.values()) else (call.cwd,)
    store = config.get("store")
    judges, judge_models = _judges(values, config)
    return Request(
        cwd=call.cwd,
        paths=tuple(paths),
        format_paths={name: found for name, found in format_paths.items() if found},
        suite_format=values.get("suite_format"),
        format_options=options.values(values),
        selection=Selection(
            cases=(*words(values.get("case", ())), *cases),
            tags=words(values.get("tag", ())),
            targets=(*words(values.get("target", ())), *targets),
        ),
        timeout_s=_timeout(values.get("timeout")),
        timeout_is_bare=str(values.get("timeout")).replace(".", "").isdigit(),
        engines=_engines(values, config),
        models=words(values.get("model", ())) or words([config.get("model") or ""]),
        baseline=values.get("baseline"),
        max_turns=values.get("max_turns"),
        budget=BudgetLimits(values.get("max_cost"), values.get("max_tokens")),
        record=call.cwd / values["record"] if values.get("record") else None,
        replay=call.cwd / values["replay"] if values.get("replay") else None,
        untrusted=values.get("untrusted", False),
        runs=config.get("runs") if config.is_set("runs") else None,
        seed=config.get("seed"),
        concurrency=config.get("concurrency"),
        retries=config.get("retries"),
        sandbox=config.get("sandbox"),
        judges=judges,
        judge_models=judge_models,
        judge_temperature=config.get("llm.temperature"),
        judge_required=bool(values.get("judge") or values.get("judge_model")),
        overlay=_overlay(config, values.get("check", ())),
        store=None if store == "none" else store,
        store_given=config.is_set("store"),
        fresh=values.get("fresh", False),
        keep_workspaces=values.get("keep_workspaces", False),
    )


def _engines(values: Mapping[str, Any], config: Config) -> tuple[str, ...]:
    named = words(values.get("engine", ()))
    if values.get("replay"):
        if named or values.get("record"):
            other = "--record" if values.get("record") else "--engine"
            hint = "A replay takes engine and model from the recordings."
            raise UsageError(Problem("usage.replay", f"--replay and {other} exclude each other", hint=hint))
        return ()
    return named or words([config.get("engine") or ""])


def _judges(values: Mapping[str, Any], config: Config) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Judges and their models; a configured model is the one judge's, not one of a panel named in the command."""
    named, models = words(values.get("judge", ())), words(values.get("judge_model", ()))
    configured = config.get("judgeModel") or config.get("llm.model") or ""
    return named or words([config.get("judge") or ""]), models or (() if len(named) > 1 else words([configured]))


def _overlay(config: Config, given: Sequence[str]) -> Overlay:
    configured = config.find("checks")
    return read_overlay(configured.value if configured else (), configured.where if configured else "", given)


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


def _timeout(text: str | None) -> float | None:
    if text is None:
        return None
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
    explicit = words(values.get("formats", ()))
    by_name: dict[str, Reporter] = {}
    missing = []
    for name in explicit or call.config.get("defaultFormats"):
        if name == OWN_DOCUMENT:
            continue
        try:
            resolved = call.registry.resolve("reporters", name)
        except PluginError:
            if explicit or name not in KEYS["defaultFormats"].default:
                raise
            missing.append(name)
        else:
            by_name[resolved.name] = call.registry.make(REPORTERS, name)
    own = OWN_DOCUMENT in (explicit or call.config.get("defaultFormats")) or values.get("output_file") is not None
    if own:
        for suite in assembled.plan.head.suites:
            if suite.document:
                call.registry.resolve("reporters", suite.document)
    if missing:
        call.output.notice(f"not installed, so not written: {', '.join(missing)} (reporters)")
    return _Reports(by_name, own)


async def _carry_out(assembled: Assembled, call: Invocation) -> Conclusion:
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
