"""A run as a trace: the run, its trials, the session of each, and in it the calls of the model and of tools."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from skillgauge.api import (
    EventKind,
    PlanHead,
    TrajectoryEvent,
    Trial,
    TrialResult,
    Usage,
    Verdict,
    thaw,
    without_secrets,
)
from skillgauge.api.report import RunInfo, Summary
from skillgauge_run_views.session_times import ModelCall, ToolCall, model_calls, tool_calls

from . import names
from .scores import Scores

_CONTENT_CHARACTERS = 20_000


def nanoseconds(seconds: float) -> int:
    """Return seconds since the epoch as OpenTelemetry counts them."""
    return int(seconds * 1e9)


class RunSpan:
    """The root of the trace.

    Args:
        tracer: of the run.
        plan: of the run.
        environment: may name the trace that the run is a part of, as `TRACEPARENT`.
    """

    def __init__(self, tracer: Tracer, plan: PlanHead, environment: Mapping[str, str]) -> None:
        carrier = {name.lower(): environment[name] for name in ("TRACEPARENT", "TRACESTATE") if name in environment}
        parent = TraceContextTextMapPropagator().extract(carrier)
        self._span = tracer.start_span("skillgauge run", parent, start_time=nanoseconds(time.time()))
        self._span.set_attributes(
            {
                "skillgauge.plan.id": plan.plan_id,
                "skillgauge.plan.trials": plan.trial_count,
                names.SUITE: [suite.id for suite in plan.suites],
            }
        )
        self.context = set_span_in_context(self._span)

    def end(self, run: RunInfo, summary: Summary) -> None:
        """End it with the result of the run."""
        counts = summary.counts
        self._span.set_attributes(
            {
                "skillgauge.run.id": run.run_id,
                "skillgauge.run.state": run.state.value,
                "skillgauge.run.resumed": run.resumed,
                "skillgauge.trials.passed": counts.passed,
                "skillgauge.trials.failed": counts.failed,
                "skillgauge.trials.errors": counts.errors,
            }
        )
        if summary.spending is not None:
            self._span.set_attribute("skillgauge.cost.usd", summary.spending.cost_usd)
        self._span.end(nanoseconds(time.time()))


class TrialSpans:
    """Makes the spans of trials.

    Args:
        tracer: of the run.
        parent: context of the run's span.
        scores: sends what checks found.
        content: whether prompts, answers, arguments and results are sent.
    """

    def __init__(self, tracer: Tracer, parent: Context, scores: Scores, *, content: bool) -> None:
        self._tracer = tracer
        self._parent = parent
        self._scores = scores
        self._content = content

    def record(self, result: TrialResult, trial: Trial | None, began: float, ended: float) -> None:
        """Make the spans of a finished trial.

        A recording that was played back has no session here: its times and cost are those of another run.

        Args:
            result: of it.
            trial: as it was planned, if known.
            began: when it did, in seconds since the epoch.
            ended: when its result was there.
        """
        execution = result.execution
        session_end = result.started_at + (execution.duration_s or 0.0)
        ended = max(ended, session_end)
        span = self._span(f"trial {result.case_id}", self._parent, began, _trial_attributes(result))
        judged = span
        if execution.duration_s is not None and not execution.replayed:
            judged = self._session(result, trial, span, session_end)
        self._scores.record(result, judged, nanoseconds(session_end))
        if judged is not span:
            judged.end(nanoseconds(session_end))
        if result.verdict is Verdict.ERROR:
            _set_error(span, result)
        span.end(nanoseconds(ended))

    def _session(self, result: TrialResult, trial: Trial | None, parent: Span, end: float) -> Span:
        """Begin the span of a session or of a direct call, with all that is in it."""
        execution, trajectory = result.execution, result.execution.trajectory
        context = set_span_in_context(parent)
        if trajectory is None:
            span = self._span(f"call {result.runner}", context, result.started_at, {names.RUNNER: result.runner})
        else:
            attributes = _session_attributes(result)
            span = self._span(f"{names.INVOKE_AGENT} {result.runner}", context, result.started_at, attributes)
            if self._content:
                self._add_messages(span, result, trial)
            self._steps(result, trajectory.events, set_span_in_context(span), end)
        if execution.failure is not None:
            _set_error(span, result)
        return span

    def _steps(self, result: TrialResult, events: Sequence[TrajectoryEvent], context: Context, end: float) -> None:
        for call in model_calls(events):
            self._model_call(result, call, context, end)
        for step in tool_calls(events):
            self._tool_call(result, step, context, end)

    def _model_call(self, result: TrialResult, call: ModelCall, context: Context, end: float) -> None:
        model = _model_of(result)
        attributes = {
            names.OPERATION: names.CHAT,
            names.PROVIDER: names.provider_of(model, result.runner),
            **_models(result),
        }
        if self._content:
            attributes[names.OUTPUT_MESSAGES] = _messages("assistant", call.events)
        start = min(result.started_at + call.start_s, end)
        span = self._span(f"{names.CHAT} {model or ''}".strip(), context, start, attributes, SpanKind.CLIENT)
        span.end(nanoseconds(min(result.started_at + call.end_s, end)))

    def _tool_call(self, result: TrialResult, step: ToolCall, context: Context, end: float) -> None:
        name = step.call.name or "tool"
        attributes = {
            names.OPERATION: names.EXECUTE_TOOL,
            names.TOOL: name,
            names.TOOL_CALL: step.call.call_id or "",
        }
        if self._content:
            attributes[names.TOOL_ARGUMENTS] = _content(thaw(step.call.data))
            attributes[names.TOOL_RESULT] = _content(step.result.text or thaw(step.result.data))
        start = min(result.started_at + step.start_s, end)
        span = self._span(f"{names.EXECUTE_TOOL} {name}", context, start, attributes)
        if step.result.is_error:
            span.set_attribute(names.ERROR, "tool_error")
            span.set_status(Status(StatusCode.ERROR))
        span.end(nanoseconds(min(result.started_at + step.end_s, end)))

    def _add_messages(self, span: Span, result: TrialResult, trial: Trial | None) -> None:
        if trial is not None and trial.case.prompt:
            question = TrajectoryEvent(kind=EventKind.USER, text=trial.case.prompt)
            span.set_attribute(names.INPUT_MESSAGES, _messages("user", [question]))
        if result.execution.text:
            answer = TrajectoryEvent(kind=EventKind.MESSAGE, text=result.execution.text)
            span.set_attribute(names.OUTPUT_MESSAGES, _messages("assistant", [answer]))

    def _span(
        self,
        name: str,
        parent: Context,
        start: float,
        attributes: Mapping[str, str | int | float | bool],
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        return self._tracer.start_span(name, parent, kind, attributes, start_time=nanoseconds(start))


def _trial_attributes(result: TrialResult) -> dict[str, str | int | float | bool]:
    attributes: dict[str, str | int | float | bool] = {
        **names.group_of(result),
        names.CASE: result.case_id,
        names.STATUS: result.verdict.value,
        "skillgauge.trial.id": result.trial_id,
        "skillgauge.execution.id": result.execution_id,
        "skillgauge.repeat": result.repeat,
        "skillgauge.attempts": result.attempts,
        "skillgauge.replayed": result.execution.replayed,
    }
    if result.value is not None:
        attributes["skillgauge.value"] = result.value
    if result.execution.sandbox:
        attributes["skillgauge.sandbox"] = result.execution.sandbox
    return attributes


def _session_attributes(result: TrialResult) -> dict[str, str | int | float | bool]:
    trajectory, model = result.execution.trajectory, _model_of(result)
    attributes: dict[str, str | int | float | bool | None] = {
        names.OPERATION: names.INVOKE_AGENT,
        names.PROVIDER: names.provider_of(model, result.runner),
        names.AGENT: result.runner,
        **_models(result),
        names.AGENT_VERSION: trajectory.engine_version if trajectory else None,
        names.CONVERSATION: trajectory.session_id if trajectory else None,
        **usage_attributes(result.execution.usage),
    }
    return {name: value for name, value in attributes.items() if value is not None}


def usage_attributes(usage: Usage | None) -> dict[str, int | float | None]:
    """Return tokens and cost; what is unknown is `None`. Input tokens include those of the cache, as is convention."""
    if usage is None:
        return {}
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return {
        names.INPUT_TOKENS: None if usage.input_tokens is None else usage.input_tokens + cached,
        names.OUTPUT_TOKENS: usage.output_tokens,
        names.CACHE_READ: usage.cache_read_tokens,
        names.CACHE_WRITE: usage.cache_write_tokens,
        "skillgauge.cost.usd": usage.cost_usd,
    }


def _models(result: TrialResult) -> dict[str, str]:
    """Return the models that were asked for and that answered, as far as they are known."""
    trajectory = result.execution.trajectory
    models = {names.REQUEST_MODEL: result.model, names.RESPONSE_MODEL: trajectory.model if trajectory else None}
    return {name: model for name, model in models.items() if model}


def _model_of(result: TrialResult) -> str | None:
    trajectory = result.execution.trajectory
    return result.model or (trajectory.model if trajectory else None)


def _set_error(span: Span, result: TrialResult) -> None:
    """Mark an error by its class; its message may quote what the agent wrote and stays here."""
    failure = result.execution.failure
    span.set_attribute(names.ERROR, failure.failure_class.value if failure else "ungraded")
    span.set_status(Status(StatusCode.ERROR))


def _messages(role: str, events: Sequence[TrajectoryEvent]) -> str:
    """Return a message as the conventions have it, in JSON."""
    parts: list[dict[str, object]] = []
    for event in events:
        if event.kind is EventKind.TOOL_CALL:
            call = {"type": "tool_call", "id": event.call_id, "name": event.name, "arguments": thaw(event.data)}
            parts.append(call)
        else:
            kind = "reasoning" if event.kind is EventKind.REASONING else "text"
            parts.append({"type": kind, "content": event.text[:_CONTENT_CHARACTERS]})
    return _content([{"role": role, "parts": parts}])


def _content(value: object) -> str:
    clean = without_secrets(value)
    text = clean if isinstance(clean, str) else json.dumps(clean, ensure_ascii=False, default=str)
    return text[:_CONTENT_CHARACTERS]
