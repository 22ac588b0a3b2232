"""Times of a run as reports tell them."""

from __future__ import annotations

from skillgauge.api.report import counted, duration
from skillgauge.stats import Latency


def latency_text(latency: Latency) -> str:
    """Percentiles of times, those that the number of samples can tell from the largest of them."""
    percentiles = ((0, "p50", latency.p50_s), (20, "p95", latency.p95_s), (100, "p99", latency.p99_s))
    parts = [f"{name} {duration(value)}" for least, name, value in percentiles if latency.samples >= least]
    few = "" if len(parts) == len(percentiles) else "; for more there are too few"
    return f"over {counted(latency.samples, 'trial')}, failures included: {', '.join(parts)}{few}"
