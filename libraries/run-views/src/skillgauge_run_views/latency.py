"""Times of a run as reports tell them."""

from __future__ import annotations

from skillgauge.api import Latency, counted, duration


def latency_text(latency: Latency) -> str:
    """Percentiles of times, those that the number of samples can tell from the largest of them."""
    known = ((0, "p50", latency.p50_s), (20, "p95", latency.p95_s), (100, "p99", latency.p99_s))
    told = [f"{name} {duration(value)}" for least, name, value in known if latency.samples >= least]
    few = "" if len(told) == len(known) else "; for more there are too few"
    return f"over {counted(latency.samples, 'trial')}, failures included: {', '.join(told)}{few}"
