"""Times of a run in words."""

from __future__ import annotations

import pytest

from skillgauge.stats import Latency
from skillgauge_run_views.latency import latency_text


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        (3, "over 3 trials, failures included: p50 200 ms; for more there are too few"),
        (20, "over 20 trials, failures included: p50 200 ms, p95 1.9 s; for more there are too few"),
        (100, "over 100 trials, failures included: p50 200 ms, p95 1.9 s, p99 2.0 s"),
    ],
)
def test_percentiles_need_enough_samples(samples: int, told: str) -> None:
    """Of a few times the 95th percentile is the largest, which is no news."""
    assert latency_text(Latency(samples=samples, p50_s=0.2, p95_s=1.9, p99_s=2.0)) == told
