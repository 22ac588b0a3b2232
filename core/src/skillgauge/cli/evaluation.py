"""Evaluate something from a command line: from parsed options to a run and its reports.

What every command that evaluates shares: `eval`, `validate`, and commands of plugins, which reach it by
`skillgauge.api`.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import ExitCode, PluginError, Problem, UsageError
from ..plan.options import EvalOptions, How, What, Who
from ..plan.overlay import Overlay
from ..plan.preparing import Prepared
from ..run.budget import BudgetLimits
from ..types.plan import Selection
from .added_checks import read_overlay
from .cache_folder import cache_folder
from .configuration import KEYS, Config, Source
from .descriptors import require_descriptors
from .format_options import FormatOptions
from .invocation import Invocation
from .options import Detect, GlobalsCommand, Number, Runs, SeveralWords, paths_and_cases, seconds_of, words
from .plan_document import plan_document, print_plan
from .preparation import prepare_trusted
from .quarantine import quarantined
from .reports import Reports, make_reporters, own_documents, with_agent_formats
from .trusting import granted_checks

if TYPE_CHECKING:
    from ..run.pipeline import Conclusion, Job
    from ..types.plan import Plan
    from ..types.result import RunInfo, RunView

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
            type=Runs(),
            metavar="N|auto[:POINTS]",
            help="Repeats of every case, or as many as show a lift of 50 or that many points.",
        ),
        click.Option(["--concurrency"], type=click.IntRange(1), metavar="N", help="Trials under way at once."),
        click.Option(
            ["--retries"], type=click.IntRange(0), metavar="N", help="Attempts after a failure that may pass."
        ),
        click.Option(
            ["--engine", "--adapter", "--agent", "engine"],
            metavar="NAME",
            multiple=True,
            help="Agent engines; several make a matrix. --adapter and --agent are old spellings.",
        ),
        click.Option(["--model"], metavar="ID", multiple=True, help="Models: one, one an engine, or several for one."),
        click.Option(["--baseline/--no-baseline"], default=None, help="Run the arms without the skill, too, or not."),
        click.Option(["--max-turns"], type=click.IntRange(1), metavar="N", help="Turns of an agent."),
        click.Option(["--max-cost"], type=Number(0, min_open=True), metavar="USD", help="Spend no more."),
        click.Option(["--max-tokens"], type=click.IntRange(1), metavar="N", help="Use no more tokens."),
        click.Option(["--record"], metavar="DIR", help="Record what agents do."),
        click.Option(["--replay"], metavar="DIR", help="Play recordings back instead of running agents."),
        click.Option(["--no-cache"], is_flag=True, help="Run every session without the skill, also one that is known."),
        click.Option(
            ["--untrusted"], is_flag=True, help="Run nothing unless a sandbox confines it strictly, without network."
        ),
        click.Option(["--seed"], type=int, metavar="N", help="Seed of everything random."),
        click.Option(["--timeout"], metavar="TIME", help="Limit of one trial: 30s, 2m, 500ms; a bare number is ms."),
        click.Option(["--executor"], metavar="NAME", help="What decides where trials run; default: this process."),
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
        click.Option(["--output-dir", "--jobs-dir", "output_dir"], metavar="DIR", help="Folder for reports."),
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
    known = {key: values[name] for name, key in _CONFIG_OPTIONS.items() if values.get(name) is not None}
    return {key: value for key, value in known.items() if not isinstance(value, Detect)}


@dataclass(frozen=True)
class Asked:
    """What a command line asks for."""

    options: EvalOptions
    reports: Reports

    def narrowed(self, paths: tuple[Path, ...], targets: tuple[str, ...]) -> Asked:
        """The same evaluation of what is at other paths.

        Args:
            paths: absolute.
            targets: ids of the only targets to evaluate, beside those of the selection; empty adds none.
        """
        what = self.options.what
        selection = what.selection.model_copy(update={"targets": (*what.selection.targets, *targets)})
        return replace(self, options=replace(self.options, what=replace(what, paths=paths, selection=selection)))


class Evaluation:
    """An evaluation that was checked completely and may run."""

    def __init__(self, call: Invocation, options: Reports, prepared: Prepared, *, dry_run: bool = False) -> None:
        self._call = call
        self._options = options
        self.prepared = prepared
        self._reporters = make_reporters(call, options, prepared, dry_run=dry_run)
        self._kept = 0
        self.failed_reports = 0
        """Reports that were asked for and could not be made."""

    @classmethod
    async def prepare(cls, call: Invocation, asked: Asked) -> Evaluation:
        """Find and check everything that a run needs; what does not stop it is printed.

        Raises:
            SkillgaugeError: with every problem that was found; nothing has run.
        """
        options = asked.options
        prepared = quarantined(await prepare_trusted(call, options), call.config)
        if options.who.executor:
            from .worker import recipe_of  # noqa: PLC0415 - only for trials that run elsewhere

            recipe = recipe_of(options, prepared, call.make_registry)
            prepared = replace(prepared, job=replace(prepared.job, recipe=recipe))
        reports = with_agent_formats(asked.reports, prepared, call.config)
        evaluation = cls(call, reports, prepared, dry_run=options.how.dry_run)
        call.output.problems((*prepared.warnings, *prepared.suites.passed_over))
        return evaluation

    def instead(self, plan: Plan, job: Job, *, kept: int = 0) -> Evaluation:
        """The same with another plan and job; so many of the plan's trials have their results already."""
        other = copy(self)
        other.prepared, other._kept = replace(self.prepared, plan=plan, job=job), kept
        return other

    def print_plan(self) -> ExitCode:
        """Say what would run."""
        self._call.output.document(plan_document(self.prepared))
        print_plan(self.prepared, self._call.output)
        return ExitCode.USAGE if self.prepared.suites.passed_over else ExitCode.OK

    async def carry_out(self) -> Conclusion:
        """Run it; the first Ctrl-C stops it and keeps what is finished."""
        if not self.prepared.job.recipe:  # else trials run elsewhere
            require_descriptors(min(self.prepared.job.concurrency, self.prepared.plan.head.trial_count))
        return await _carry_out(self.prepared, self._call, self._kept)

    def write_reports(self, view: RunView) -> dict[str, Path]:
        """Write every report that was asked for; a reporter that fails costs its own report, and is told of.

        Returns:
            Path of each, by reporter, as far as it wrote one.
        """
        from .writing import write_report  # noqa: PLC0415 - a dry run writes none

        reports: dict[str, Callable[[], Path | None]] = {
            name: partial(write_report, view, name, one, self._options.folder) for name, one in self._reporters.items()
        }
        reports |= own_documents(view, self._call.registry, self._options)
        written: dict[str, Path] = {}
        for name, write in reports.items():
            try:
                path = write()
            except PluginError as error:
                self.failed_reports += 1
                self._call.output.problems(error.problems)
            else:
                written |= {name: path} if path else {}
        return written

    def kept_as(self, view: RunView, written: Mapping[str, Path]) -> tuple[str, ...]:
        """What `report show` finds the run by: its id in the store, else its record; empty if nothing keeps it."""
        store = self.prepared.cast.store
        if store is None or not store.durable:
            record = written.get("record")
            return (str(record),) if record else ()
        place = self._call.config.find("store")
        named = ("--store", str(place.value)) if place and place.source is Source.FLAG else ()
        return (view.run.run_id, *named)

    def exit_code(self, decided: ExitCode) -> ExitCode:
        """The exit code once the reports are written: a run of which a report is missing does not end well."""
        return ExitCode.USAGE if self.failed_reports and decided is ExitCode.OK else decided


def eval_options(call: Invocation, values: Mapping[str, Any]) -> Asked:
    """What parsed options and configuration ask for; options that a command does not have are as if not given.

    Args:
        call: the command line.
        values: parsed options: those of `evaluation_options` and of the formats.

    Raises:
        UsageError: an option is wrong.
    """
    options = EvalOptions(cwd=call.cwd, what=_what(values, call), who=_who(values, call), how=_how(values, call.config))
    return Asked(options, _reports(values, call))


def _what(values: Mapping[str, Any], call: Invocation) -> What:
    options = FormatOptions.of_installed()
    named, cases = paths_and_cases(values.get("paths", ()), call.cwd)
    format_paths = {name: found for name, found in options.paths(values, call.cwd).items() if found}
    return What(
        paths=named if named or format_paths else (call.cwd,),
        format_paths=format_paths,
        suite_format=values.get("suite_format"),
        format_options=options.values(values),
        selection=Selection(
            cases=(*words(values.get("case", ())), *cases),
            tags=words(values.get("tag", ())),
            targets=words(values.get("target", ())),
        ),
        overlay=_overlay(call, values.get("check", ())),
    )


def _who(values: Mapping[str, Any], call: Invocation) -> Who:
    config = call.config
    store = config.get("store")
    judges, judge_models = _judges(values, config)
    return Who(
        engines=_engines(values, config),
        models=words(values.get("model", ())) or words([config.get("model") or ""]),
        judges=judges,
        judge_models=judge_models,
        judge_temperature=config.get("judgeTemperature"),
        judge_required=bool(values.get("judge") or values.get("judge_model")),
        sandbox=config.get("sandbox"),
        executor=values.get("executor"),
        store=None if store == "none" else store,
        store_given=config.is_set("store"),
        cache=None if values.get("no_cache", True) else cache_folder(call),
        record=call.cwd / values["record"] if values.get("record") else None,
        replay=call.cwd / values["replay"] if values.get("replay") else None,
    )


def _how(values: Mapping[str, Any], config: Config) -> How:
    return How(
        runs=config.get("runs") if config.is_set("runs") else None,
        detect=values["runs"].difference if isinstance(values.get("runs"), Detect) else None,
        baseline=values.get("baseline"),
        seed=config.get("seed"),
        concurrency=config.get("concurrency"),
        retries=config.get("retries") if config.is_set("retries") else None,
        timeout_s=seconds_of(values.get("timeout")),
        timeout_is_bare=str(values.get("timeout")).replace(".", "").isdigit(),
        direct_timeout_s=config.get("timeoutMs") / 1000,
        max_turns=values.get("max_turns"),
        budget=BudgetLimits(values.get("max_cost"), values.get("max_tokens")),
        untrusted=values.get("untrusted", False),
        fresh=values.get("fresh", False),
        dry_run=values.get("dry_run", False),
        keep_workspaces=values.get("keep_workspaces", False),
    )


def _reports(values: Mapping[str, Any], call: Invocation) -> Reports:
    explicit = words(values.get("formats", ()))
    names = explicit or tuple(call.config.get("defaultFormats"))
    file = values.get("output_file")
    return Reports(
        names=tuple(name for name in names if name != OWN_DOCUMENT),
        own=OWN_DOCUMENT in names or file is not None or bool(values.get("report")),
        optional=frozenset(() if explicit else KEYS["defaultFormats"].default),
        folder=call.cwd / call.config.get("outputDir"),
        folder_given=call.config.is_set("outputDir"),
        file=Path(file) if file is not None else None,
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
    configured = config.get("judgeModel") or ""
    return named or words([config.get("judge") or ""]), models or (() if len(named) > 1 else words([configured]))


def _overlay(call: Invocation, given: Sequence[str]) -> Overlay:
    held, configured = granted_checks(call.config, call.registry), call.config.find("checks")
    if held:
        return read_overlay(held.value, held.file, given)
    return read_overlay(configured.value if configured else (), configured.where if configured else "", given)


async def _carry_out(prepared: Prepared, call: Invocation, kept: int) -> Conclusion:
    """Run the plan; the first Ctrl-C stops it and keeps what is finished."""
    from ..run.pipeline import carry_out  # noqa: PLC0415 - a dry run ends before
    from .progress import make_progress  # noqa: PLC0415

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _ending_signals():
        loop.add_signal_handler(number, stop.set)
    progress = make_progress(prepared.plan.head.trial_count - kept, quiet=call.output.quiet)

    def begun(run: RunInfo) -> None:
        if run.resumed:
            call.output.notice(f"resuming run {run.run_id}, which was interrupted (--fresh starts a new one)")

    try:
        with progress:
            return await carry_out(prepared.plan, prepared.job.watched(progress.finished, begun, progress.step), stop)
    finally:
        await prepared.job.store.close()
        for number in _ending_signals():
            loop.remove_signal_handler(number)


def _ending_signals() -> list[signal.Signals]:
    """Those that ask for an end: a closed terminal, too, unless somebody started us with `nohup`."""
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    found = [signal.Signals[name] for name in names]
    return [one for one in found if one.name != "SIGHUP" or signal.getsignal(one) is not signal.SIG_IGN]
