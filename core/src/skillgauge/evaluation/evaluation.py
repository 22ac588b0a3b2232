"""Evaluate something from a command line: from parsed options to a run and its reports.

What every command that evaluates shares: `eval`, `validate`, and commands of plugins, which reach it by
`skillgauge.api`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
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
from ..run.pipeline import Conclusion, carry_out
from ..types.result import TrialResult, Verdict
from .arguments import OWN_DOCUMENT, PAGE, Detect, paths_and_cases, seconds_of, words
from .cache_folder import cache_folder
from .descriptors import require_descriptors
from .format_options import FormatOptions
from .invocation import Invocation
from .named_cases import require_cases
from .plan_document import plan_document, print_plan
from .preparation import prepare_run
from .remarks import failures_of_extensions
from .reports import Reports, make_reporters, own_documents, with_agent_formats
from .selecting import choice

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from ..contract.reporters import Reporter
    from ..run.pipeline import Job
    from ..run.stage import OpenStage, Stage
    from ..types.plan import Plan
    from ..types.result import RunInfo, RunView
    from ..types.trial import SuiteHead, Trial


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


@dataclass(frozen=True)
class EndedRun(Conclusion):
    """What became of an evaluation that was carried out."""

    failures: tuple[Problem, ...] = ()
    """Extensions that failed once the run had begun."""
    stopped_at: TrialResult | None = None
    """The failure that ended the run, if the first one was to end it."""

    def exit_code(self, decided: ExitCode, reports: WrittenReports) -> ExitCode:
        """Return the exit code of a command: a run that lacks a report, or a named extension, does not end well."""
        lacks_extension = any(problem.severity is Severity.ERROR for problem in self.failures)
        if decided is ExitCode.OK and (lacks_extension or reports.failed):
            return ExitCode.USAGE
        return decided


@dataclass(frozen=True)
class WrittenReports:
    """The reports of a run."""

    paths: Mapping[str, Path]
    """Where each is, by reporter, as far as it wrote one."""
    failed: int = 0
    """How many were asked for and could not be made."""


@dataclass(frozen=True)
class Evaluation:
    """An evaluation that was checked completely and may run."""

    call: Invocation
    prepared: Prepared
    reports: Reports
    """Which are written, and where."""
    reporters: Mapping[str, Reporter]
    overlay: Overlay
    """The checks that the user adds to cases."""
    kept: int = 0
    """Trials of the plan that have their results already."""

    @classmethod
    async def prepare(cls, call: Invocation, asked: Asked) -> Evaluation:
        """Find and check everything that a run needs; the listener hears of what does not stop it.

        Raises:
            SkillgaugeError: with every problem that was found; nothing has run.
        """
        options = asked.options
        require_cases(asked.words, options, call.registry, after_format=not asked.reports.optional)
        prepared = await prepare_run(call, options)
        reports = with_agent_formats(asked.reports, prepared, call.config)
        reporters = make_reporters(call, reports, prepared, dry_run=options.how.dry_run)
        revise = options.what.revise
        overlay = revise if isinstance(revise, Overlay) else Overlay()
        call.listener.problems((*prepared.warnings, *prepared.suites.passed_over))
        return cls(call, prepared, reports, reporters, overlay)

    def instead(self, plan: Plan, job: Job, *, kept: int = 0) -> Evaluation:
        """Return the same evaluation with another plan and job.

        Args:
            plan: what to run.
            job: who runs it.
            kept: trials of the plan that have their results already.
        """
        return replace(self, prepared=replace(self.prepared, plan=plan, job=job), kept=kept)

    def print_plan(self) -> ExitCode:
        """Print what would run."""
        output = self.call.output
        if output.as_json:
            output.document(plan_document(self.prepared))
        else:
            print_plan(self.prepared, output)
        return ExitCode.USAGE if self.prepared.suites.passed_over else ExitCode.OK

    async def carry_out(self, *, fail_fast: bool = False) -> EndedRun:
        """Run it; what is finished when the listener stops it is kept.

        Args:
            fail_fast: whether the first failure stops it, too: of an arm that is not a mere baseline, or an error.
        """
        prepared, listener = self.prepared, self.call.listener
        if not prepared.job.recipe:  # else trials run elsewhere
            require_descriptors(min(prepared.job.concurrency, prepared.plan.head.trial_count))
        failures: list[TrialResult] = []
        conclusion = await self._run(failures, fail_fast=fail_fast)
        for image in await built_since(prepared.cast.images):
            listener.notice(image.removal)
        problems = failures_of_extensions(self.call.registry, prepared, self.call.names_extension)
        listener.problems(problems)
        stopped_at = failures[0] if failures else None
        return EndedRun(conclusion.view, conclusion.complete, conclusion.already_done, problems, stopped_at)

    async def _run(self, failures: list[TrialResult], *, fail_fast: bool) -> Conclusion:
        """Run the plan; the failures that stopped it are added to a list."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        plan, job = self.prepared.plan, self.prepared.job
        heads = {suite.id: suite for suite in plan.head.suites}
        with self.call.listener.watching(plan.head.trial_count - self.kept, stop) as watcher:

            def finished(result: TrialResult) -> None:
                watcher.finished(result)
                if fail_fast and _is_failure(result, heads[result.suite_id]):
                    failures.append(result)
                    loop.call_soon_threadsafe(stop.set)

            stages = {kind: partial(_opened, stage, watcher.started) for kind, stage in job.stages.items()}
            watched = replace(job, stages=stages).watched(finished, self._begun, watcher.step)
            try:
                return await carry_out(plan, watched, stop)
            finally:
                await job.store.close()

    def _begun(self, run: RunInfo) -> None:
        if run.resumed:
            notice = f"resuming run {run.run_id}, which was interrupted (--fresh starts a new one)"
            self.call.listener.notice(notice)

    def write_reports(self, view: RunView) -> WrittenReports:
        """Write every report that was asked for; a reporter that fails costs its own report, and is told of."""
        from .writing import write_report  # noqa: PLC0415 - a dry run writes none

        reports: dict[str, Callable[[], Path | None]] = {
            name: partial(write_report, view, name, reporter, self.reports.folder)
            for name, reporter in self.reporters.items()
        }
        reports |= own_documents(view, self.call.registry, self.reports)
        paths: dict[str, Path] = {}
        failed = 0
        for name, write in reports.items():
            try:
                path = write()
            except PluginError as error:
                failed += 1
                self.call.listener.problems(error.problems)
                continue
            if path:
                paths[name] = path
        return WrittenReports(paths, failed)

    def kept_as(self, view: RunView, written: WrittenReports) -> tuple[str, ...]:
        """What `report show` finds the run by: its id in the store, else its record; empty if nothing keeps it."""
        store = self.prepared.cast.store
        if store is None or not store.durable:
            record = written.paths.get("record")
            return (str(record),) if record else ()
        place = self.call.config.find("store")
        named = ("--store", str(place.value)) if place and place.source is Source.FLAG else ()
        return (view.run.run_id, *named)


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


def _is_failure(result: TrialResult, suite: SuiteHead) -> bool:
    """Return whether a result is an error, or a failure of an arm that is not a mere baseline."""
    if result.verdict is Verdict.ERROR:
        return True
    return result.verdict is Verdict.FAIL and not suite.is_baseline(result.arm)


def _opened(stage: OpenStage, told: Callable[[Trial], None], trial: Trial) -> AbstractAsyncContextManager[Stage]:
    """The stage of an attempt, which begins by being told of."""
    told(trial)
    return stage(trial)
