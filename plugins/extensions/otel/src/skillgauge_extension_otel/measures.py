"""The metrics of a run: trials by verdict, tokens, cost and durations, and at its end rates and lifts."""

from __future__ import annotations

from collections.abc import Iterator

from opentelemetry.metrics import Meter

from skillgauge.api import TrialResult, Usage
from skillgauge.api.report import Summary
from skillgauge_run_views.session_times import tool_calls

from . import names
from .spans import usage_attributes

_TOKEN_BUCKETS = [4.0**power for power in range(14)]
_SECONDS_BUCKETS = [
    0.01,
    0.02,
    0.04,
    0.08,
    0.16,
    0.32,
    0.64,
    1.28,
    2.56,
    5.12,
    10.24,
    20.48,
    40.96,
    81.92,
    163.84,
    327.68,
]


class Measures:
    """The instruments of a run."""

    def __init__(self, meter: Meter) -> None:
        self._trials = meter.create_counter("skillgauge.trials", "{trial}", "Trials by verdict.")
        self._tokens = meter.create_counter("skillgauge.tokens", "{token}", "Tokens of sessions, judges and users.")
        self._cost = meter.create_counter("skillgauge.cost", "{USD}", "Cost as far as it is known.")
        self._duration = meter.create_histogram(
            "skillgauge.trial.duration",
            "s",
            "Time of the attempt that counts.",
            explicit_bucket_boundaries_advisory=_SECONDS_BUCKETS,
        )
        self._agent = meter.create_histogram(
            "gen_ai.invoke_agent.duration",
            "s",
            "Duration of sessions.",
            explicit_bucket_boundaries_advisory=_SECONDS_BUCKETS,
        )
        self._tool = meter.create_histogram(
            "gen_ai.execute_tool.duration",
            "s",
            "Duration of tool calls.",
            explicit_bucket_boundaries_advisory=_SECONDS_BUCKETS,
        )
        self._usage = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Tokens of a session.",
            explicit_bucket_boundaries_advisory=_TOKEN_BUCKETS,
        )
        self._rate = meter.create_gauge("skillgauge.pass_rate", "1", "Mean over cases of the share of passed repeats.")
        self._lift = meter.create_gauge(
            "skillgauge.lift", "1", "Pass rate of the candidate minus that of the baseline."
        )

    def record(self, result: TrialResult) -> None:
        """Count a trial."""
        group, execution = names.group_of(result), result.execution
        self._trials.add(1, {**group, names.VERDICT: result.verdict.value})
        for part, usage in _parts(result):
            self._tokens.add(usage.all_tokens, {**group, "skillgauge.part": part})
            self._cost.add(usage.cost_usd or 0.0, {**group, "skillgauge.part": part})
        if execution.replayed or execution.duration_s is None:
            return
        self._duration.record(execution.duration_s, group)
        if execution.trajectory is not None:
            self._record_session(result, execution.duration_s)

    def summarize(self, summary: Summary) -> None:
        """Give the rates of groups and the lifts of comparisons."""
        for group in summary.groups:
            if group.pass_rate.rate is not None:
                self._rate.set(
                    group.pass_rate.rate, _key(group.suite_id, group.target_id, group.arm, group.runner, group.model)
                )
        for pair in summary.pairs:
            if pair.lift is not None:
                key = pair.candidate
                attributes = _key(key.suite_id, key.target_id, key.arm, key.runner, key.model)
                self._lift.set(pair.lift, {**attributes, "skillgauge.baseline": pair.baseline.arm})

    def _record_session(self, result: TrialResult, duration_s: float) -> None:
        execution = result.execution
        model = result.model or (execution.trajectory.model if execution.trajectory else None)
        attributes = {
            names.OPERATION: names.INVOKE_AGENT,
            names.PROVIDER: names.provider_of(model, result.runner),
            names.AGENT: result.runner,
        }
        if model:
            attributes[names.REQUEST_MODEL] = model
        self._agent.record(duration_s, attributes)
        usage = usage_attributes(execution.usage)
        for kind, name in (("input", names.INPUT_TOKENS), ("output", names.OUTPUT_TOKENS)):
            count = usage.get(name)
            if count is not None:
                self._usage.record(count, {**attributes, names.TOKEN_TYPE: kind})
        for step in tool_calls(execution.trajectory.events if execution.trajectory else ()):
            self._tool.record(step.end_s - step.start_s, {names.TOOL: step.call.name or "tool"})


def _parts(result: TrialResult) -> Iterator[tuple[str, Usage]]:
    """Yield the known usage of everything that worked on a trial in this run."""
    execution = result.execution
    if execution.usage and not execution.replayed:
        yield "session", execution.usage
    if execution.user_usage and not execution.replayed:
        yield "user", execution.user_usage
    yield from (("given_up", usage) for attempt in result.given_up for usage in attempt.usages if usage)
    yield from (("judge", score.usage) for score in result.scores if score.usage)


def _key(suite: str, target: str | None, arm: str, runner: str, model: str | None) -> dict[str, str]:
    parts = {names.SUITE: suite, names.TARGET: target, names.ARM: arm, names.RUNNER: runner, names.REQUEST_MODEL: model}
    return {name: value for name, value in parts.items() if value}
