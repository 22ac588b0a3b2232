"""The published arithmetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import EMPTY
from skillgauge.api.report import Counts, GroupSummary
from skillgauge.stats import Latency, RateInterval, nearest_rank
from skillgauge_format_eval_skills.figures import figures, metrics

DATA = Path(__file__).parent / "data"


def group(**changes: Any) -> GroupSummary:
    """A group of trials with the given numbers."""
    counts = Counts(**changes.pop("counts", {}))
    latency = Latency(**changes.pop("latency", {}))
    return GroupSummary(
        suite_id="s",
        target_id="t",
        arm="direct",
        runner="subprocess",
        model=None,
        counts=counts,
        pass_rate=RateInterval(rate=None, n=0),
        latency=latency,
        **changes,
    )


def test_original_calculator_run() -> None:
    """20 of 20 with a p95 of 421 ms gives the composite that the original printed."""
    found = metrics(
        group(
            counts={"total": 20, "passed": 20},
            latency={"samples": 20, "p50_s": 0.193, "p95_s": 0.421076, "p99_s": 0.476957},
            mean_value=1.0,
            run_pass_rates=(1.0,),
        ),
        {"maxLatencyMs": 30_000},
    )
    assert (found.completion_rate, found.partial_score, found.error_rate, found.consistency_score) == (1, 1, 0, 1)
    assert (found.composite_score, found.p50_ms, found.p95_ms, found.p99_ms) == (0.9972, 193, 421, 477)


def published(name: str) -> dict[str, Any]:
    """The first report of a document of the original."""
    reports = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    assert isinstance(reports[0], dict)
    return reports[0]


@pytest.mark.requirement("ES-METRIC-002")
@pytest.mark.parametrize(
    ("name", "partial"), [("calculator-coding-easy", 1), ("h1-unicode", 0.7833), ("h3-schema", 0.375)]
)
def test_partial_score_is_the_mean_of_task_scores(name: str, partial: float) -> None:
    """What the original printed over its own task scores, among them two thirds and errors."""
    report = published(name)
    scores = [task["score"] for task in report["taskResults"]]
    counts = {"total": len(scores), "passed": scores.count(1)}
    found = metrics(group(counts=counts, mean_value=sum(scores) / len(scores)), EMPTY)
    assert found.partial_score == report["summary"]["partialScore"] == partial


@pytest.mark.requirement("ES-METRIC-005")
@pytest.mark.parametrize(
    ("name", "percentiles"),
    [("calculator-coding-easy", (193, 421, 477)), ("h1-unicode", (280, 418, 460)), ("h3-schema", (282, 665, 665))],
)
def test_percentiles_are_of_the_sorted_latencies(name: str, percentiles: tuple[int, int, int]) -> None:
    """Nearest rank over the latencies that the original measured gives the percentiles that it printed."""
    report = published(name)
    seconds = [task["latencyMs"] / 1000 for task in report["taskResults"] if task["latencyMs"]]
    p50, p95, p99 = (nearest_rank(seconds, share) for share in (0.5, 0.95, 0.99))
    latency = {"samples": len(seconds), "p50_s": p50, "p95_s": p95, "p99_s": p99}
    found = metrics(group(counts={"total": len(seconds)}, latency=latency), EMPTY)
    assert (found.p50_ms, found.p95_ms, found.p99_ms) == tuple(report["latency"].values()) == percentiles


@pytest.mark.requirement("ES-METRIC-001", "ES-METRIC-003")
def test_errors_are_in_the_divisor() -> None:
    """Crashes and timeouts of the skill and our own errors all count as errors and as not completed."""
    counts = {"total": 10, "passed": 4, "failed": 4, "errors": 2, "broken": 3, "timeouts": 2}
    found = metrics(group(counts=counts, mean_value=0.75), EMPTY)
    assert (found.completion_rate, found.error_rate) == (0.4, 0.5)
    assert found.partial_score == 0.6  # 0.75 over the 8 graded ones


def test_skipped_trials_count_nowhere() -> None:
    """What a budget cut off was not evaluated."""
    assert metrics(group(counts={"total": 10, "passed": 2, "skipped": 6}, mean_value=1.0), EMPTY).completion_rate == 0.5


def test_scoring_methods() -> None:
    """Mean, weighted mean, and pass@1 for the score; an unknown value is 0."""
    some = group(counts={"total": 4, "passed": 1, "failed": 3}, mean_value=0.5, weighted_value=0.8, graded_weight=8.0)
    assert metrics(some, EMPTY).partial_score == 0.5
    assert metrics(some, {"scoringMethod": "mean"}).partial_score == 0.5
    assert metrics(some, {"scoringMethod": "weighted_mean"}).partial_score == 0.8
    assert metrics(some, {"scoringMethod": "pass_at_k"}).partial_score == 0.25
    errors = some.model_copy(update={"error_weight": 2.0})
    assert metrics(errors, {"scoringMethod": "weighted_mean"}).partial_score == 0.64
    assert metrics(group(counts={"total": 4, "errors": 4}), EMPTY).partial_score == 0


@pytest.mark.requirement("ES-METRIC-004")
def test_consistency_is_one_minus_population_deviation() -> None:
    """Over the runs' completion rates, not rounded."""
    found = metrics(group(counts={"total": 3, "passed": 1}, run_pass_rates=(1.0, 0.0, 0.0)), EMPTY)
    assert found.consistency_score == pytest.approx(0.5285954792)


def test_figures_say_what_they_mean() -> None:
    """One run agrees with itself, which is no consistency; weights and failures are named (N-B3, N-B8, N-B11)."""
    once = {one.name: one for one in figures(group(counts={"total": 3, "passed": 1}, run_pass_rates=(1.0,)), EMPTY)}
    assert once["consistencyScore"].value is None
    assert (once["errorRate"].label, once["partialScore"].label) == ("Did not finish", "Partial score")
    twice = group(counts={"total": 4, "passed": 2}, run_pass_rates=(1.0, 0.0))
    found = {one.name: one for one in figures(twice, {"scoringMethod": "weighted_mean"})}
    assert found["consistencyScore"].value == 0.5
    assert found["partialScore"].label == "Partial score, weighted"


@pytest.mark.requirement("ES-METRIC-006")
@pytest.mark.parametrize(
    ("latency", "parameters", "composite"),
    [
        ({"samples": 1, "p95_s": 3.0}, {"maxLatencyMs": 30_000}, 0.5 * 0.5 + 0.2 * 0.9 + 0.3),
        ({"samples": 1, "p95_s": 3.0}, {}, 0.5 * 0.5 + 0.2 * 0.9 + 0.3),
        ({"samples": 1, "p95_s": 3.0}, {"maxLatencyMs": 6_000}, 0.5 * 0.5 + 0.2 * 0.5 + 0.3),
        ({"samples": 1, "p95_s": 99.0}, {}, 0.5 * 0.5 + 0.3),
        ({}, {}, 0.5 * 0.5 + 0.3),
    ],
    ids=["normal", "default limit", "own limit", "slower than the limit", "unknown latency earns nothing"],
)
def test_composite(latency: dict[str, float], parameters: dict[str, object], composite: float) -> None:
    """Half completion, a fifth speed, the rest freedom from errors."""
    some = group(counts={"total": 2, "passed": 1, "failed": 1}, latency=latency)
    assert metrics(some, parameters).composite_score == pytest.approx(composite)  # type: ignore[arg-type]  # JSON


def test_skill_that_never_answers_is_worth_nothing() -> None:
    """When nothing could even be started, no latency flatters the composite."""
    assert metrics(group(counts={"total": 3, "errors": 3}), EMPTY).composite_score == 0
    slow = group(counts={"total": 3, "failed": 3, "broken": 3}, latency={"samples": 3, "p95_s": 30.0})
    assert metrics(slow, EMPTY).composite_score == 0


def test_nothing_run_means_nothing_known() -> None:
    """Without trials every number is unknown, not 0."""
    assert {figure.value for figure in figures(group(), EMPTY)} == {None}


def test_figures_carry_what_a_report_needs() -> None:
    """Names are the document's, and lower is better for errors and latencies."""
    shown = figures(group(counts={"total": 1, "passed": 1}, mean_value=1.0), EMPTY)
    assert [figure.name for figure in shown] == [
        "completionRate",
        "partialScore",
        "errorRate",
        "consistencyScore",
        "compositeScore",
        "p50Ms",
        "p95Ms",
        "p99Ms",
    ]
    assert [figure.name for figure in shown if not figure.higher_is_better] == ["errorRate", "p50Ms", "p95Ms", "p99Ms"]


@given(
    passed=st.integers(0, 50),
    failed=st.integers(0, 50),
    errors=st.integers(0, 50),
    value=st.floats(0, 1),
    p95=st.floats(0, 1e6),
)
def test_numbers_stay_in_range(passed: int, failed: int, errors: int, value: float, p95: float) -> None:
    """Whatever happened, rates and scores lie between 0 and 1 with four decimals."""
    counts = {"total": passed + failed + errors, "passed": passed, "failed": failed, "errors": errors, "broken": failed}
    found = metrics(group(counts=counts, mean_value=value, latency={"samples": 1, "p95_s": p95}), EMPTY)
    for number in (found.completion_rate, found.partial_score, found.error_rate, found.composite_score):
        if number is not None:
            assert 0 <= number <= 1
            assert round(number, 4) == number
