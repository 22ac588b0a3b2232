"""Evaluate something from a command line: from parsed options to a run and its reports.

What every command that evaluates shares: `eval`, `validate`, and commands of plugins, which reach it by
`skillgauge.api`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config.added_checks import read_overlay
from ..config.configuration import KEYS, Config, Source
from ..config.overlay import Overlay
from ..config.trusting import granted_checks
from ..errors import ExitCode, PluginError, Problem, Severity, UsageError
from ..plan.images import built_since
from ..plan.options import EvalOptions, How, What, Who
from ..plan.preparing import Prepared
from ..run.budget import BudgetLimits
from ..types.result import TrialResult, Verdict
from .arguments import OWN_DOCUMENT, PAGE, Detect, paths_and_cases, seconds_of, words
from .cache_folder import cache_folder
from .descriptors import require_descriptors
from .ending import stopped_by_signals
from .format_options import FormatOptions
from .invocation import Invocation
from .listeners import failures_of_extensions
from .named_cases import require_cases
from .plan_document import plan_document, print_plan
from .preparation import prepare_trusted
from .quarantine import quarantined
from .reports import Reports, make_reporters, own_documents, with_agent_formats
from .selecting import choice

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from ..run.pipeline import Conclusion, Job
    from ..run.stage import OpenStage, Stage
    from ..types.plan import Plan
    from ..types.result import RunInfo, RunView
    from ..types.trial import Trial


@dataclass(frozen=True)
class Asked:
    """What a command line asks for."""

    options: EvalOptions
    reports: Reports
    words: tuple[str, ...] = ()
    """What is no path and must therefore be the name of a case."""

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
        self.overlay = Overlay()
        """The checks that the user adds to cases."""
        self.stopped_at: TrialResult | None = None
        """The failure that ended the run, if the first one was to end it."""
        self.failed_reports = 0
        """Reports that were asked for and could not be made."""
        self.failed_extensions = 0
        """Extensions that the user named and that failed once the run had begun."""

    @classmethod
    async def prepare(cls, call: Invocation, asked: Asked) -> Evaluation:
        """Find and check everything that a run needs; what does not stop it is printed.

        Raises:
            SkillgaugeError: with every problem that was found; nothing has run.
        """
        options = asked.options
        reports = asked.reports
        require_cases(asked.words, options, call.registry, after_format=not reports.optional)
        prepared = quarantined(await prepare_trusted(call, options), call.config)
        if options.who.executor:
            from .worker import recipe_of  # noqa: PLC0415 - only for trials that run elsewhere

            recipe = recipe_of(options, prepared, call.make_registry)
            prepared = replace(prepared, job=replace(prepared.job, recipe=recipe))
        reports = with_agent_formats(reports, prepared, call.config)
        evaluation = cls(call, reports, prepared, dry_run=options.how.dry_run)
        if isinstance(options.what.revise, Overlay):
            evaluation.overlay = options.what.revise
        call.output.problems((*prepared.warnings, *prepared.suites.passed_over))
        return evaluation

    def instead(self, plan: Plan, job: Job, *, kept: int = 0) -> Evaluation:
        """The same with another plan and job; so many of the plan's trials have their results already."""
        other = copy(self)
        other.prepared, other._kept = replace(self.prepared, plan=plan, job=job), kept
        return other

    def print_plan(self) -> ExitCode:
        """Say what would run."""
        if self._call.output.as_json:
            self._call.output.document(plan_document(self.prepared))
        else:
            print_plan(self.prepared, self._call.output)
        return ExitCode.USAGE if self.prepared.suites.passed_over else ExitCode.OK

    async def carry_out(self, *, fail_fast: bool = False) -> Conclusion:
        """Run it; the first Ctrl-C stops it and keeps what is finished.

        Args:
            fail_fast: whether the first failure stops it, too: of an arm that is not a mere baseline, or an error.
        """
        if not self.prepared.job.recipe:  # else trials run elsewhere
            require_descriptors(min(self.prepared.job.concurrency, self.prepared.plan.head.trial_count))
        heads = {suite.id: suite for suite in self.prepared.plan.head.suites}

        def ends(result: TrialResult) -> bool:
            mere_baseline = heads[result.suite_id].is_baseline(result.arm)
            ends = result.verdict is Verdict.ERROR or (result.verdict is Verdict.FAIL and not mere_baseline)
            if ends and fail_fast:
                self.stopped_at = self.stopped_at or result
            return ends and fail_fast

        outcome = await _carry_out(self.prepared, self._call, self._kept, ends)
        for image in await built_since(self.prepared.cast.images):
            self._call.output.notice(image.removal)
        failures = failures_of_extensions(self._call, self.prepared)
        self._call.output.problems(failures)
        self.failed_extensions = sum(problem.severity is Severity.ERROR for problem in failures)
        self.prepared = replace(self.prepared, warnings=(*self.prepared.warnings, *failures))
        return outcome

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
        """The exit code once the reports are written: a run that lacks a report, or an extension, does not end well."""
        incomplete = self.failed_reports or self.failed_extensions
        return ExitCode.USAGE if incomplete and decided is ExitCode.OK else decided


def eval_options(call: Invocation, values: Mapping[str, Any]) -> Asked:
    """What parsed options and configuration ask for; options that a command does not have are as if not given.

    Args:
        call: the command line.
        values: parsed options: those of `evaluation_options` and of the formats.

    Raises:
        UsageError: an option is wrong.
    """
    options = EvalOptions(cwd=call.cwd, what=_what(values, call), who=_who(values, call), how=_how(values, call.config))
    return Asked(options, _reports(values, call), paths_and_cases(values.get("paths", ()), call.cwd)[1])


def _what(values: Mapping[str, Any], call: Invocation) -> What:
    options = FormatOptions.of_installed()
    named, cases = paths_and_cases(values.get("paths", ()), call.cwd)
    format_paths = {name: found for name, found in options.paths(values, call.cwd).items() if found}
    return What(
        paths=named if named or format_paths else (call.cwd,),
        format_paths=format_paths,
        suite_format=values.get("suite_format"),
        format_options=options.values(values),
        selection=choice(values, cases),
        revise=_overlay(call, values.get("check", ())),
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
        agent_timeout_s=config.get("agentTimeoutMs") / 1000,
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
    if values.get("open_report") and PAGE not in names:
        names = (*names, PAGE)
    file = values.get("output_file")
    return Reports(
        names=tuple(name for name in names if name != OWN_DOCUMENT),
        own=OWN_DOCUMENT in names or file is not None or bool(values.get("report")),
        optional=frozenset(() if explicit else KEYS["defaultFormats"].default) - {PAGE},
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


async def _carry_out(
    prepared: Prepared, call: Invocation, kept: int, ends: Callable[[TrialResult], bool]
) -> Conclusion:
    """Run the plan; the first Ctrl-C stops it and keeps what is finished."""
    from ..run.pipeline import carry_out  # noqa: PLC0415 - a dry run ends before
    from ..terminal.progress import make_progress  # noqa: PLC0415

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    given, job = call.globals, prepared.job
    total = prepared.plan.head.trial_count - kept
    progress = make_progress(total, quiet=given.quiet or given.log_json, verbose=given.verbose, no_color=given.no_color)
    job = replace(job, stages={kind: partial(_opened, stage, progress.started) for kind, stage in job.stages.items()})

    def begun(run: RunInfo) -> None:
        if run.resumed:
            call.output.notice(f"resuming run {run.run_id}, which was interrupted (--fresh starts a new one)")

    def finished(result: TrialResult) -> None:
        progress.finished(result)
        if ends(result):
            loop.call_soon_threadsafe(stop.set)

    with stopped_by_signals(stop):
        try:
            with progress:
                return await carry_out(prepared.plan, job.watched(finished, begun, progress.step), stop)
        finally:
            await prepared.job.store.close()


def _opened(stage: OpenStage, told: Callable[[Trial], None], trial: Trial) -> AbstractAsyncContextManager[Stage]:
    """The stage of an attempt, which begins by being told of."""
    told(trial)
    return stage(trial)
