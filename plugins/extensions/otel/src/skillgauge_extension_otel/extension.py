"""The listener of a run, which there is only if the user has named a receiver."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skillgauge.api import get_logger, hookimpl

from .settings import Destination, OtelOptions, SettingsError, Signal, destinations, names_receiver

if TYPE_CHECKING:  # nothing of results is imported in commands that come to none
    from skillgauge.api import PlanHead, Trial, TrialResult
    from skillgauge.api.report import RunInfo, Summary

    from .telemetry import Telemetry

log = get_logger(__name__)


class Deaf:
    """Listens to nothing, so that a run that sends nothing hands no event to another thread."""


def listener(options: OtelOptions) -> object:
    """Make what listens to a run."""
    return OtelExtension(options) if names_receiver(options) else Deaf()


class OtelExtension:
    """Turns the events of a run into telemetry. Nothing that fails here changes a result or an exit code."""

    def __init__(self, options: OtelOptions) -> None:
        self._options = options
        self._telemetry: Telemetry | None = None
        self._begun: dict[str, tuple[float, Trial]] = {}

    @hookimpl
    def skillgauge_plan_ready(self, plan: PlanHead) -> None:
        """Begin the trace of the run."""
        receivers = self._receivers()
        if not receivers:
            return
        from .telemetry import Telemetry  # noqa: PLC0415 - OpenTelemetry is slow to import

        self._telemetry = Telemetry(plan, receivers, self._options)

    @hookimpl
    def skillgauge_trial_started(self, trial: Trial) -> None:
        """Keep the moment, and the prompt for those who send content."""
        if self._telemetry is not None:
            self._begun[trial.trial_id] = (time.time(), trial)

    @hookimpl
    def skillgauge_trial_finished(self, result: TrialResult) -> None:
        """Send the trial."""
        if self._telemetry is None:
            return
        began, trial = self._begun.pop(result.trial_id, (result.started_at, None))
        self._telemetry.trial(result, trial, min(began, result.started_at))

    @hookimpl
    def skillgauge_run_finished(self, run: RunInfo, summary: Summary) -> None:
        """End the trace, and wait a bounded time until it is delivered."""
        telemetry, self._telemetry = self._telemetry, None
        if telemetry is None:
            return
        problem = telemetry.end(run, summary)
        if problem:
            self._tell_lost(problem, telemetry.receivers)

    def _receivers(self) -> dict[Signal, Destination]:
        try:
            return destinations(self._options)
        except SettingsError as error:
            log.warning("otel.nothing-sent", reason=str(error), hint="The run is unaffected.")
            return {}

    def _tell_lost(self, problem: str, receivers: dict[Signal, Destination]) -> None:
        addresses = ", ".join(dict.fromkeys(receiver.shown for receiver in receivers.values()))
        hint = "The results are unaffected. Start the collector, or leave the extension out: --no-plugin otel."
        log.warning("otel.not-delivered", address=addresses, reason=problem, hint=hint)
