"""The numbers of eval-skills, by its published formulas."""

from __future__ import annotations

import math
from collections.abc import Mapping

from skillgauge.api import JsonObject
from skillgauge.api.report import Figure, GroupKey, GroupSummary, SuiteSummary
from skillgauge.stats import consistency
from skillgauge_documents.immutables import immutable

from .benchmarks import COMPLETION

DEFAULT_MAX_LATENCY_MS = 30_000
"""What p95 is measured against where neither the benchmark nor the run has a limit: the documented default."""


@immutable
class Metrics:
    """A group's numbers; `None` where nothing was run or measured."""

    completion_rate: float | None
    partial_score: float | None
    error_rate: float | None
    consistency_score: float | None
    composite_score: float | None
    p50_ms: int | None
    p95_ms: int | None
    p99_ms: int | None


def metrics(group: GroupSummary, parameters: JsonObject, timeout_s: float | None = None) -> Metrics:
    """Compute a group's numbers.

    All trials count, errors included, as eval-skills has it. Unlike there, latencies include those of failed calls,
    and a skill of which no latency is known earns nothing for being fast.

    Args:
        group: counts, values and latencies.
        parameters: `scoringMethod` and `maxLatencyMs` of the benchmark.
        timeout_s: time limit of the run, which p95 is measured against where the benchmark names no latency.
    """
    counts, latency = group.counts, group.latency
    total = counts.total - counts.skipped
    p50, p95, p99 = (_milliseconds(seconds) for seconds in (latency.p50_s, latency.p95_s, latency.p99_s))
    if total == 0:
        return Metrics(None, None, None, None, None, p50, p95, p99)
    completed = counts.passed / total
    errored = (counts.broken + counts.errors) / total
    limit = parameters.get("maxLatencyMs")
    allowed = timeout_s * 1000 if timeout_s else DEFAULT_MAX_LATENCY_MS
    slowest = limit if isinstance(limit, int | float) and limit > 0 else allowed
    speed = 0.0 if p95 is None else 1 - min(1.0, p95 / slowest)
    return Metrics(
        completion_rate=_rounded(completed),
        partial_score=_rounded(_partial(group, total, str(parameters.get("scoringMethod", "mean")))),
        error_rate=_rounded(errored),
        consistency_score=consistency(group.run_pass_rates),
        composite_score=_rounded(0.5 * completed + 0.2 * speed + 0.3 * (1 - errored)),
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
    )


def suite_figures(summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
    """Compute the numbers of each group of a suite."""
    suite = summary.suite
    return {group.key: figures(group, suite.parameters, suite.timeout_s) for group in summary.groups}


def figures(group: GroupSummary, parameters: JsonObject, timeout_s: float | None = None) -> tuple[Figure, ...]:
    """The numbers as every reporter can print them; the arguments are those of `metrics`."""
    measured = metrics(group, parameters, timeout_s)
    counts = group.counts
    ran = counts.total - counts.skipped
    steady = measured.consistency_score if len(group.run_pass_rates) > 1 else None  # one run agrees with itself
    return (
        Figure(
            name=COMPLETION,
            label="Completion rate",
            value=measured.completion_rate,
            unit="ratio",
            bounds=(counts.passed / ran, (counts.passed + counts.errors) / ran) if ran else None,
        ),
        Figure(name="partialScore", label=_partial_label(parameters), value=measured.partial_score, unit="score"),
        Figure(
            name="errorRate", label="Did not finish", value=measured.error_rate, unit="ratio", higher_is_better=False
        ),
        Figure(name="consistencyScore", label="Consistency", value=steady, unit="score"),
        Figure(name="compositeScore", label="Composite score", value=measured.composite_score, unit="score"),
        Figure(name="p50Ms", label="P50 latency", value=measured.p50_ms, unit="ms", higher_is_better=False),
        Figure(name="p95Ms", label="P95 latency", value=measured.p95_ms, unit="ms", higher_is_better=False),
        Figure(name="p99Ms", label="P99 latency", value=measured.p99_ms, unit="ms", higher_is_better=False),
    )


def _partial_label(parameters: JsonObject) -> str:
    return f"Partial score{', weighted' if parameters.get('scoringMethod') == 'weighted_mean' else ''}"


def _partial(group: GroupSummary, total: int, method: str) -> float:
    """Mean score of all trials; errors score 0, with the weight of their case."""
    if method == "pass_at_k":
        return group.counts.passed / total  # k is 1, and every task has the same number of trials
    if method == "weighted_mean":
        weight = group.graded_weight + group.error_weight
        return (group.weighted_value or 0.0) * group.graded_weight / weight if weight else 0.0
    return (group.mean_value or 0.0) * (total - group.counts.errors) / total


def _rounded(value: float) -> float:
    """Four decimals, halves up, as the documents of eval-skills have it."""
    return math.floor(value * 10_000 + 0.5) / 10_000


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else math.floor(seconds * 1000 + 0.5)
