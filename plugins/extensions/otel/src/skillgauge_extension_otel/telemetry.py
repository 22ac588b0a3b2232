"""The providers of one run, apart from any that the process has of its own, and the bounded way to end them."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Mapping
from threading import Thread

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from skillgauge.api import PlanHead, Trial, TrialResult, host_environment, without_secrets
from skillgauge.api.report import RunInfo, Summary

from .measures import Measures
from .scores import Scores
from .settings import Destination, OtelOptions, Signal
from .spans import RunSpan, TrialSpans

SCOPE = "skillgauge"
_SERVICE = "service.name"


class Telemetry:
    """The telemetry of a run, from its plan to its end.

    Args:
        plan: of the run.
        receivers: by signal; a signal without one is not made.
        options: of the extension.
    """

    def __init__(self, plan: PlanHead, receivers: Mapping[Signal, Destination], options: OtelOptions) -> None:
        self.receivers = dict(receivers)
        self._timeout_s = options.timeout_s
        self._failures = _Failures()
        self._failures.listen()
        resource = Resource.create(_resource())
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._loggers = LoggerProvider(resource=resource, shutdown_on_exit=False)
        readers = []
        if receiver := receivers.get(Signal.TRACES):
            spans = OTLPSpanExporter(receiver.url, headers=receiver.headers, timeout=options.timeout_s)
            self._tracers.add_span_processor(BatchSpanProcessor(spans))
        if receiver := receivers.get(Signal.LOGS):
            records = OTLPLogExporter(receiver.url, headers=receiver.headers, timeout=options.timeout_s)
            self._loggers.add_log_record_processor(BatchLogRecordProcessor(records))
        if receiver := receivers.get(Signal.METRICS):
            metrics = OTLPMetricExporter(receiver.url, headers=receiver.headers, timeout=options.timeout_s)
            readers.append(PeriodicExportingMetricReader(metrics))
        self._meters = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
        tracer = self._tracers.get_tracer(SCOPE)
        self._run = RunSpan(tracer, plan, host_environment())
        scores = Scores(self._loggers.get_logger(SCOPE) if Signal.LOGS in receivers else None, content=options.content)
        self._spans = TrialSpans(tracer, self._run.context, scores, content=options.content)
        self._measures = Measures(self._meters.get_meter(SCOPE))

    def trial(self, result: TrialResult, trial: Trial | None, began: float) -> None:
        """Record a trial.

        Args:
            result: of it.
            trial: as it was planned, if its start was reported.
            began: when it did, in seconds since the epoch.
        """
        self._spans.record(result, trial, began, time.time())
        self._measures.record(result)

    def end(self, run: RunInfo, summary: Summary) -> str:
        """End the trace of the run and deliver what is left.

        Returns:
            Why not all was delivered; empty if it was.
        """
        self._run.end(run, summary)
        self._measures.summarize(summary)
        is_late = not _within(self._timeout_s, self._tracers.shutdown, self._loggers.shutdown, self._meters.shutdown)
        reason = self._failures.first()
        if not reason and is_late:
            return f"no answer within {self._timeout_s:g} s"
        return reason


def _resource() -> dict[str, str]:
    """Return what tells this process from others; names that the user gives in the standard variables go first."""
    attributes = host_environment().get("OTEL_RESOURCE_ATTRIBUTES", "")
    own = {"service.instance.id": str(uuid.uuid4())}
    if "OTEL_SERVICE_NAME" not in host_environment() and f"{_SERVICE}=" not in attributes:
        own[_SERVICE] = SCOPE
    return own


def _within(timeout_s: float, *calls: Callable[[], object]) -> bool:
    """Make calls side by side and wait for all of them, no longer than a time; tell whether they came back."""
    threads = [Thread(target=call, name="skillgauge-otel-flush", daemon=True) for call in calls]
    deadline = time.monotonic() + timeout_s
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


class _Failures(logging.Handler):
    """Keeps the words of OpenTelemetry's own logger, which would otherwise be printed for every batch."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._errors: list[str] = []
        self._warnings: list[str] = []

    def listen(self) -> None:
        """Take what is logged from now on."""
        logging.getLogger("opentelemetry").addHandler(self)

    def first(self) -> str:
        """Stop, and return the first error in one line; empty if there was none."""
        logging.getLogger("opentelemetry").removeHandler(self)
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        return next(iter(self._errors), "")

    def emit(self, record: logging.LogRecord) -> None:
        """Keep an error."""
        if record.levelno >= logging.ERROR:
            self._errors.append(without_secrets(" ".join(record.getMessage().split()))[:300])
