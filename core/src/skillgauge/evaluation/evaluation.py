"""Evaluate something from a command line: from parsed options to a run and its reports.

What every command that evaluates shares: `eval`, `validate`, and commands of plugins, which reach it by
`skillgauge.api`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skillgauge_documents.immutables import immutable

from ..config.configuration import Source
from ..errors import ExitCode, PluginError, Problem, Severity, UsageError, errors_among
from ..plan.images import built_since
from ..plan.options import as_opened
from ..plan.preparing import Prepared
from ..types.results.trials import TrialResult
from .added_checks import Overlay, overlay_of
from .invocation import Invocation
from .options import Asked
from .planned.text import matrix_text, print_plan
from .preparation import prepare_run
from .process import require_descriptors
from .remarks import failures_of_extensions, used_up
from .reports import Reports, make_reporters, own_documents, report_path, with_agent_formats
from .selection import is_failure, require_cases

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from ..contract.reporters import Reporter
    from ..run.pipeline import Conclusion, Job
    from ..run.stage import OpenStage, Stage
    from ..types.plan import Plan
    from ..types.results.runs import RunInfo, RunView
    from ..types.trial import Trial
    from .beginning.noting import Noting
    from .beginning.viewing import Viewing


@immutable
class EndedRun:
    """What became of an evaluation that was carried out."""

    view: RunView
    complete: bool
    """False if the run was stopped before every trial had run."""
    already_done: int
    """Trials that an earlier, interrupted run had committed."""
    failures: tuple[Problem, ...] = ()
    """Extensions that failed once the run had begun."""
    stopped_at: TrialResult | None = None
    """The failure that ended the run, if the first one was to end it."""

    def exit_code(self, decided: ExitCode, reports: WrittenReports) -> ExitCode:
        """Return the exit code of a command: a run that lacks a report, or a named extension, does not end well."""
        if decided is ExitCode.OK and (reports.failed or errors_among(self.failures)):
            return ExitCode.USAGE
        return decided


@immutable
class WrittenReports:
    """The reports of a run."""

    paths: Mapping[str, Path]
    """Where each is, by reporter, as far as it wrote one."""
    failed: int = 0
    """How many were asked for and could not be made."""


@immutable
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
    async def prepare(cls, call: Invocation, request: Asked) -> Evaluation:
        """Find and check everything that a run needs; the listener hears of what does not stop it.

        Raises:
            SkillgaugeError: with every problem that was found; nothing has run.
        """
        options = request.options
        unwritable = request.reports.unwritable()
        if not options.how.dry_run:
            UsageError.raise_for(unwritable)
        require_cases(request.words, options, call.registry, after_format=not request.reports.optional)
        prepared = await prepare_run(call, options)
        reports = with_agent_formats(request.reports, prepared, call.config)
        reporters = make_reporters(call, reports, prepared, dry_run=options.how.dry_run)
        if options.how.dry_run:
            call.listener.problems(replace(one, severity=Severity.WARNING) for one in unwritable)
        call.listener.problems((*prepared.warnings, *prepared.suites.passed_over))
        return cls(call, prepared, reports, reporters, overlay_of(options.what.revise))

    def instead(self, plan: Plan, job: Job, *, kept: int = 0) -> Evaluation:
        """Return the same evaluation with another plan and job.

        Args:
            plan: what to run.
            job: who runs it.
            kept: trials of the plan that have their results already.
        """
        return replace(self, prepared=replace(self.prepared, plan=plan, make_job=lambda: job), kept=kept)

    def print_plan(self) -> ExitCode:
        """Print what would run."""
        output = self.call.output
        if output.as_json:
            from .planned.document import plan_document  # noqa: PLC0415 - with all evidence; few ask for a document

            output.document(plan_document(self.prepared))
        else:
            print_plan(self.prepared, output)
        if self.prepared.suites.passed_over:
            return ExitCode.USAGE
        return ExitCode.OK

    async def carry_out(
        self, *, fail_fast: bool = False, viewing: Viewing | None = None, noting: Noting | None = None
    ) -> EndedRun:
        """Run it; what is finished when the listener stops it is kept.

        Args:
            fail_fast: whether the first failure stops it, too: of an arm that is not a mere baseline, or an error.
            viewing: opens the page of the run.
            noting: keeps what the user says of it.
        """
        prepared, listener = self.prepared, self.call.listener
        if not prepared.job.recipe:  # else trials run elsewhere
            require_descriptors(min(prepared.job.concurrency, prepared.plan.head.trial_count))
        if matrix := matrix_text(prepared):
            listener.notice(matrix)
        failures: list[TrialResult] = []
        conclusion = await self._run(failures, viewing, noting, fail_fast=fail_fast)
        for image in await built_since(prepared.cast.images):
            listener.notice(image.removal)
        if conclusion.standing and prepared.job.budget.shared:
            listener.problems([used_up(prepared.job.budget.shared, conclusion.standing)])
        problems = failures_of_extensions(self.call.registry, prepared, self.call.names_extension)
        listener.problems(problems)
        stopped_at = next(iter(failures), None)
        return EndedRun(conclusion.view, conclusion.complete, conclusion.already_done, problems, stopped_at)

    async def _run(
        self, failures: list[TrialResult], viewing: Viewing | None, noting: Noting | None, *, fail_fast: bool
    ) -> Conclusion:
        """Run the plan; the failures that stopped it are added to a list."""
        from ..run.pipeline import carry_out  # noqa: PLC0415 - a dry run carries nothing out

        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        plan, job = self.prepared.plan, self.prepared.job
        heads = plan.head.suites_by_id
        total, at_most = plan.head.trial_count - self.kept, plan.head.until_decided
        with self.call.listener.watching(total, stop, at_most=at_most) as watcher:

            def finished(result: TrialResult) -> None:
                watcher.finished(result)
                if fail_fast and is_failure(result, heads[result.suite_id]):
                    failures.append(result)
                    loop.call_soon_threadsafe(stop.set)

            stages = {kind: partial(_opened, stage, watcher.started) for kind, stage in job.stages.items()}
            begun = partial(self._begun, viewing, noting)
            watched = replace(job, stages=stages).watched(finished, begun, watcher.step)
            try:
                return await carry_out(plan, watched, stop)
            finally:
                if noting:
                    await noting.ready()
                if viewing:
                    await viewing.ready()
                await job.store.close()

    def _begun(self, viewing: Viewing | None, noting: Noting | None, run: RunInfo) -> None:
        """Tell what should be known of a run that begins, and show it."""
        if run.resumed:
            notice = f"resuming run {run.run_id}, which was interrupted (--fresh starts a new one)"
            self.call.listener.notice(notice)
        if noting:
            noting.begin(run)
        if viewing:
            viewing.begin(run)
        elif self.prepared.job.store.durable:
            from .beginning.viewing import addresses  # noqa: PLC0415 - a dry run begins no run

            for address in addresses(self.call, run.run_id):
                self.call.listener.notice(f"look at this run: {address}")

    def write_reports(self, view: RunView) -> WrittenReports:
        """Write every report that was asked for; a reporter that fails costs its own report, and is told of."""
        from .reports import write_report  # noqa: PLC0415 - a dry run writes none

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
            except (PluginError, UsageError) as error:  # the run is over: it keeps its verdict
                failed += 1
                self.call.listener.problems(error.problems)
                continue
            if path:
                paths[name] = path
        return WrittenReports(paths, failed)

    def kept_as(self, view: RunView) -> tuple[str, ...]:
        """The name by which `report show` finds the run: its id in the store, else its record; else empty."""
        store = self.prepared.cast.store
        if store is None or not store.durable:
            record = self.reporters.get("record")
            if record is None:
                return ()
            return (as_opened(report_path(self.reports.folder, view, record.suffix), self.call.cwd),)
        place = self.call.config.find("store")
        if place and place.source is Source.FLAG:
            return (view.run.run_id, "--store", str(place.value))
        return (view.run.run_id,)


def _opened(stage: OpenStage, on_start: Callable[[Trial], None], trial: Trial) -> AbstractAsyncContextManager[Stage]:
    """The stage of an attempt, which begins by being told of."""
    on_start(trial)
    return stage(trial)
